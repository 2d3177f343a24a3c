import { computeArithmetic, negate } from './cel-arithmetic.ts';
import { compare, equal, noOverload } from './cel-compare.ts';
import { CONVERSIONS } from './cel-conversions.ts';
import { CelRejection } from './cel-syntax.ts';
import { calendar, durationPart } from './cel-time.ts';
import { Bytes, CelError, CelMap, Duration, lengthOf, Timestamp, type Value } from './cel-values.ts';
import { zoneOffset } from './cel-zone.ts';
import { IpAddress, inCidr, parseIp } from './ip-address.ts';
import { compilePattern, findPattern, type Pattern } from './pattern.ts';

/** A function of one or two values, none of which is an error. What it is given decides what it does. */
export type Call = (first: Value, second: Value) => Value;

/** The second argument of a function that is called with one. */
export const ABSENT: Value = new CelError('absent');

const GETTERS = [
  'getFullYear',
  'getMonth',
  'getDayOfYear',
  'getDayOfMonth',
  'getDate',
  'getDayOfWeek',
  'getHours',
  'getMinutes',
  'getSeconds',
  'getMilliseconds',
] as const;

export const FUNCTIONS: ReadonlyMap<string, Call> = new Map<string, Call>([
  ...CONVERSIONS,
  ['!_', (value) => (typeof value === 'boolean' ? !value : noOverload('!'))],
  ['-_', negate],
  ['_==_', equal],
  // What cannot be compared is different.
  ['_!=_', (a, b) => equal(a, b) !== true],
  ['_<_', ordered((order) => order < 0)],
  ['_<=_', ordered((order) => order <= 0)],
  ['_>_', ordered((order) => order > 0)],
  ['_>=_', ordered((order) => order >= 0)],
  ...(['+', '-', '*', '/', '%'] as const).map((sign): [string, Call] => [
    `_${sign}_`,
    (a, b) => computeArithmetic(sign, a, b),
  ]),
  ['@in', contains],
  ['size', sizeOf],
  ['contains', textual((text, part) => text.includes(part))],
  ['startsWith', textual((text, part) => text.startsWith(part))],
  ['endsWith', textual((text, part) => text.endsWith(part))],
  ['matches', textual((text, source) => occurs(findPattern(source), text))],
  ...GETTERS.map((getter): [string, Call] => [getter, (value, zone) => part(getter, value, zone)]),
  ['ipaddress', (text) => (typeof text === 'string' && parseIp(text)) || new CelError('malformed address')],
  ['in_cidr', isInNetwork],
]);

function ordered(holds: (order: number) => boolean): Call {
  return (a, b) => {
    const order = compare(a, b);
    return order instanceof CelError ? order : holds(order);
  };
}

function textual(use: (text: string, other: string) => Value): Call {
  return (a, b) => (typeof a === 'string' && typeof b === 'string' ? use(a, b) : noOverload('a function of strings'));
}

/** `matches` with a pattern that is part of the expression. Throws a CelRejection if it is malformed. */
export function matching(source: string): Call {
  const pattern = compilePattern(source);
  if (pattern === undefined) throw new CelRejection(`the pattern ${source.slice(0, 100)} is malformed or too large`);
  return textual((text) => occurs(pattern, text));
}

function occurs(pattern: Pattern | undefined, text: string): Value {
  if (pattern === undefined) return new CelError('the pattern is malformed or too large');
  return pattern.occursIn(text) ?? new CelError('the pattern takes too many steps on this text');
}

function contains(value: Value, all: Value): Value {
  if (Array.isArray(all)) return all.some((item) => equal(value, item) === true);
  return all instanceof CelMap ? all.find(value) !== undefined : noOverload('in');
}

function sizeOf(value: Value): Value {
  if (typeof value === 'string') return BigInt(lengthOf(value));
  if (Array.isArray(value)) return BigInt(value.length);
  if (value instanceof Bytes) return BigInt(value.octets.length);
  return value instanceof CelMap ? BigInt(value.size) : noOverload('size');
}

/** A part of a timestamp, in UTC or in the given zone, or of a duration. */
function part(getter: (typeof GETTERS)[number], value: Value, zone: Value): Value {
  if (value instanceof Duration) return durationPart(getter, value) ?? noOverload(getter);
  if (!(value instanceof Timestamp)) return noOverload(getter);
  const named = typeof zone === 'string' ? zoneOffset(zone, value) : undefined;
  const offset = zone === ABSENT ? 0 : named;
  return offset === undefined ? new CelError('unknown time zone') : BigInt(calendar(value, offset)[getter]);
}

function isInNetwork(address: Value, network: Value): Value {
  if (!(address instanceof IpAddress) || typeof network !== 'string') return noOverload('in_cidr');
  return inCidr(address, network) ?? new CelError(`'${network.slice(0, 100)}' is a malformed CIDR string`);
}
