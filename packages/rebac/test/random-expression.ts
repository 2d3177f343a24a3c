import { VALUES } from './parameter-values.ts';

/** Deterministic, so that a seed repeats a run. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  below(limit: number): number {
    // xorshift32
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

/** The parameters of every random expression. */
export const PARAMETERS =
  'x: int, y: int, u: uint, d: double, s: string, r: string, b: bool, t: timestamp, g: duration, i: ipaddress, l: list<int>, k: list<string>, m: map<int>, a: any';

/** By type: what it can be made of. `#type` stands for an expression of that type. */
const FORMS: Readonly<Record<string, readonly string[]>> = {
  bool: [
    'b',
    'true',
    'false',
    '!#bool',
    '(#bool && #bool)',
    '(#bool || #bool)',
    '(#bool ? #bool : #bool)',
    '#bool == #bool',
    '(#int < #int)',
    '(#int >= #int)',
    '(#int == #int)',
    '(#int != #int)',
    '(#uint <= #uint)',
    '(#double > #double)',
    '(#double == #double)',
    '(#string == #string)',
    '(#string < #string)',
    '#string.contains(#string)',
    '#string.startsWith(#string)',
    '#string.endsWith(#string)',
    '#string.matches("^[a-z]*$")',
    '#string.matches("a|b.")',
    '(#time < #time)',
    '(#time == #time)',
    '(#span >= #span)',
    '(#span != #span)',
    '(#int in #ints)',
    '(#string in #strings)',
    '(#string in #map)',
    '#ints.all(n, n > #int)',
    '#ints.exists(n, n == #int)',
    '#ints.exists_one(n, n < #int)',
    '#strings.exists(v, v.size() > #int)',
    '(#ints == #ints)',
    '(#any == #any)',
    '(#any == #int)',
    '(#any < #int)',
    '(#any in #strings)',
    'has(m.k)',
    'has(a.k)',
    'dyn(#int) == #double',
    'i.in_cidr("10.0.0.0/8")',
    '(i == ipaddress(#string))',
    '(i == null)',
    'bool(#string)',
    '#map.exists(k, #int > 0)',
    '(type(#any) == string)',
    'a',
    '#int < #double',
    '#int',
  ],
  int: [
    'x',
    'y',
    '0',
    '1',
    '-1',
    '3',
    '9223372036854775807',
    '(#int + #int)',
    '(#int - #int)',
    '(#int * #int)',
    '(#int / #int)',
    '(#int % #int)',
    '-#int',
    'size(#string)',
    '#ints.size()',
    'size(m)',
    '#ints[#int]',
    'm.k',
    'm[#string]',
    'int(#string)',
    'int(#double)',
    'int(#uint)',
    'int(#span)',
    'int(#time)',
    '#time.getHours()',
    '#time.getFullYear()',
    '#time.getDayOfWeek("Europe/Berlin")',
    '#span.getSeconds()',
    '(#bool ? #int : #int)',
    'a',
    '#string',
  ],
  uint: [
    'u',
    '0u',
    '5u',
    '(#uint + #uint)',
    '(#uint - #uint)',
    '(#uint * #uint)',
    'uint(#int)',
    'uint(#double)',
    'uint(#string)',
    '(#uint / #uint)',
  ],
  double: [
    'd',
    '0.0',
    '1.5',
    '-2.5e3',
    '(#double + #double)',
    '(#double - #double)',
    '(#double / #double)',
    '(#double * #double)',
    '-#double',
    'double(#int)',
    'double(#string)',
    'double(#uint)',
  ],
  string: [
    's',
    'r',
    '""',
    '"a"',
    '"1"',
    '"abc"',
    '(#string + #string)',
    'string(#int)',
    'string(#double)',
    'string(#bool)',
    'string(#span)',
    'string(#time)',
    'string(#uint)',
    '#strings[#int]',
    '(#bool ? #string : #string)',
    'string(bytes(#string))',
    'a.k',
  ],
  time: [
    't',
    'timestamp("2024-01-01T00:00:00Z")',
    'timestamp(#int)',
    '(#time + #span)',
    '(#time - #span)',
    '(#span + #time)',
    'timestamp(#string)',
  ],
  span: [
    'g',
    'duration("1h")',
    'duration("-1ns")',
    '(#span + #span)',
    '(#span - #span)',
    '(#time - #time)',
    'duration(#string)',
  ],
  ints: [
    'l',
    '[]',
    '[1, 2]',
    '[#int, #int]',
    '(#ints + #ints)',
    '#ints.map(n, n * #int)',
    '#ints.filter(n, n > #int)',
    '#ints.map(n, n > 0, #int)',
    '#strings.map(v, size(v))',
  ],
  strings: [
    'k',
    '["a"]',
    '["a", "abc", "1"]',
    '[#string]',
    '#strings.filter(v, v != #string)',
    '(#strings + #strings)',
  ],
  map: ['m', '{"k": #int}', '{"k": 1}', '{#string: 1}'],
  any: ['a', 'a.k', 'a[0]', 'dyn(#int)', 'dyn(#string)', 'dyn(#double)', '[#int, #string][0]', 'null'],
};
/** How many of the first forms have no parts. */
const LEAVES: Readonly<Record<string, number>> = {
  bool: 3,
  int: 6,
  uint: 3,
  double: 4,
  string: 6,
  time: 2,
  span: 3,
  ints: 3,
  strings: 3,
  map: 3,
  any: 3,
};

/** An expression that is nested at most so deep. */
export function randomExpression(dice: Dice, type = 'bool', depth = 3): string {
  const forms = FORMS[type] ?? [];
  const form = depth === 0 ? forms[dice.below(LEAVES[type] ?? 1)] : dice.of(forms);
  return (form ?? '').replace(/#(\w+)/g, (_, part: string) => randomExpression(dice, part, Math.max(0, depth - 1)));
}

/** Mostly values that suit their type, so that an answer is more than an error. */
const SUITABLE: Readonly<Record<string, number>> = {
  bool: 2,
  int: 5,
  uint: 3,
  double: 6,
  string: 12,
  timestamp: 5,
  duration: 12,
  ipaddress: 12,
  'list<int>': 5,
  'list<string>': 4,
  'map<int>': 3,
};

export function randomContext(dice: Dice): Record<string, unknown> {
  return Object.fromEntries(
    PARAMETERS.split(', ').map((part) => {
      const [name = '', type = ''] = part.split(': ');
      const values = VALUES[type] ?? [];
      return [name, values[dice.below(dice.below(60) === 0 ? values.length : (SUITABLE[type] ?? values.length))]];
    }),
  );
}
