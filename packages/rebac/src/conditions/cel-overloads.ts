import { readType, type Type } from './cel-types.ts';

/** How the cost of a call depends on its arguments. Without one it is 1. The names of cel-go's rules are in cel-cost.ts. */
export type CostRule = 'first' | 'list' | 'shorter' | 'both' | 'pattern' | 'product';

export interface Overload {
  /** Called as `a.f(b)`. The first of the types is that of a. */
  readonly member: boolean;
  readonly types: readonly Type[];
  readonly result: Type;
  readonly cost: CostRule | undefined;
  /** Compares numbers of two types. cel-go admits these only after a macro. */
  readonly mixed: boolean;
}

const T = 'google.protobuf.Timestamp';
const D = 'google.protobuf.Duration';

/** The order matters where the type of an argument is open, as in `-[][0]`: the first overload that fits decides it. */
const comparison = [
  'bool; bool -> bool',
  'int; int -> bool',
  'int; double -> bool | mixed',
  'int; uint -> bool | mixed',
  'uint; uint -> bool',
  'uint; double -> bool | mixed',
  'uint; int -> bool | mixed',
  'double; double -> bool',
  'double; int -> bool | mixed',
  'double; uint -> bool | mixed',
  'string; string -> bool | shorter',
  'bytes; bytes -> bool | shorter',
  `${T}; ${T} -> bool`,
  `${D}; ${D} -> bool`,
];
const arithmetic = ['double; double -> double', 'int; int -> int', 'uint; uint -> uint'];
const size = ['bytes', 'list(A)', 'map(A, B)', 'string'];
const calendar = [`.${T} -> int`, `.${T}; string -> int`];
const clock = [...calendar, `.${D} -> int`];

const TABLE: Readonly<Record<string, readonly string[]>> = {
  '_?_:_': ['bool; A; A -> A'],
  '_&&_': ['bool; bool -> bool'],
  '_||_': ['bool; bool -> bool'],
  '!_': ['bool -> bool'],
  '@not_strictly_false': ['bool -> bool'],
  '_==_': ['A; A -> bool | shorter'],
  '_!=_': ['A; A -> bool | shorter'],
  '_<_': comparison,
  '_<=_': comparison,
  '_>_': comparison,
  '_>=_': comparison,
  '_+_': [
    'bytes; bytes -> bytes | both',
    'double; double -> double',
    `${D}; ${D} -> ${D}`,
    `${D}; ${T} -> ${T}`,
    `${T}; ${D} -> ${T}`,
    'int; int -> int',
    'list(A); list(A) -> list(A)',
    'string; string -> string | both',
    'uint; uint -> uint',
  ],
  '_-_': [
    'double; double -> double',
    `${D}; ${D} -> ${D}`,
    'int; int -> int',
    `${T}; ${D} -> ${T}`,
    `${T}; ${T} -> ${D}`,
    'uint; uint -> uint',
  ],
  '_*_': arithmetic,
  '_/_': arithmetic,
  '_%_': ['int; int -> int', 'uint; uint -> uint'],
  '-_': ['double -> double', 'int -> int'],
  '_[_]': ['list(A); int -> A', 'map(A, B); A -> B'],
  '@in': ['A; list(A) -> bool | list', 'A; map(A, B) -> bool'],
  size: [...size.map((type) => `${type} -> int`), ...size.map((type) => `.${type} -> int`)],
  type: ['A -> type(A)'],
  dyn: ['A -> dyn'],
  bool: ['bool -> bool', 'string -> bool'],
  bytes: ['bytes -> bytes', 'string -> bytes | first'],
  double: ['double', 'int', 'string', 'uint'].map((type) => `${type} -> double`),
  duration: [`${D} -> ${D}`, `string -> ${D}`],
  int: ['int', 'double', D, 'string', T, 'uint'].map((type) => `${type} -> int`),
  string: [
    'string -> string',
    'bool -> string',
    'bytes -> string | first',
    ...['double', D, 'int', T, 'uint'].map((type) => `${type} -> string`),
  ],
  timestamp: [T, 'int', 'string'].map((type) => `${type} -> ${T}`),
  uint: ['uint', 'double', 'int', 'string'].map((type) => `${type} -> uint`),
  contains: ['.string; string -> bool | product'],
  endsWith: ['.string; string -> bool | first'],
  startsWith: ['.string; string -> bool | first'],
  // cel-go counts the call without a receiver as 1, whatever it matches. We are stricter.
  matches: ['string; string -> bool | pattern', '.string; string -> bool | pattern'],
  getFullYear: calendar,
  getMonth: calendar,
  getDayOfYear: calendar,
  getDayOfMonth: calendar,
  getDate: calendar,
  getDayOfWeek: calendar,
  getHours: clock,
  getMinutes: clock,
  getSeconds: clock,
  getMilliseconds: clock,
  ipaddress: ['string -> IPAddress'],
  in_cidr: ['.IPAddress; string -> bool'],
};

export const OVERLOADS: ReadonlyMap<string, readonly Overload[]> = new Map(
  Object.entries(TABLE).map(([fn, lines]) => [fn, lines.map(readOverload)]),
);

function readOverload(line: string): Overload {
  const [signature = '', note] = line.split(' | ');
  const [types = '', result = ''] = signature.split(' -> ');
  const member = types.startsWith('.');
  return {
    member,
    types: types
      .slice(member ? 1 : 0)
      .split('; ')
      .map(readType),
    result: readType(result),
    cost: note === 'mixed' ? undefined : (note as CostRule | undefined),
    mixed: note === 'mixed',
  };
}
