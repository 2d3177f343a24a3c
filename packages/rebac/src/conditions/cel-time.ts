import { CelError, Duration, isInt, MAX_INT, Timestamp } from './cel-values.ts';

const SECOND = 1_000_000_000n;
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1000n],
  ['\u00b5s', 1000n],
  ['\u03bcs', 1000n],
  ['ms', 1_000_000n],
  ['s', SECOND],
  ['m', 60n * SECOND],
  ['h', 3600n * SECOND],
]);
const TWO_63 = 2n ** 63n;

/** Reads Go's syntax, such as `1h30m` or `-1.5ms`. Returns `undefined` if it is malformed or out of range. */
export function parseDuration(text: string): Duration | undefined {
  const sign = /^[+-]/.exec(text)?.[0];
  const rest = sign === undefined ? text : text.slice(1);
  if (rest === '0') return new Duration(0n);
  if (!/^((\d+(?:\.\d*)?|\.\d+)[^\d.]+)+$/.test(rest)) return;
  let sum = 0n;
  for (const [, whole = '', fraction = '', name = ''] of rest.matchAll(/(\d*)\.?(\d*)([^\d.]+)/g)) {
    const unit = UNITS.get(name);
    if (unit === undefined || whole.length > 40) return;
    const part = BigInt(whole || 0);
    if (part > TWO_63 || part > TWO_63 / unit) return;
    const nanos = part * unit + fractionOf(fraction, unit);
    if (nanos > TWO_63) return;
    // Go adds in 64 bits, so that twice the largest part is nothing.
    sum = BigInt.asUintN(64, sum + nanos);
    if (sum > TWO_63) return;
  }
  if (sign === '-') return new Duration(-sum);
  return sum > MAX_INT ? undefined : new Duration(sum);
}

/** In floating point, as Go computes it. Digits that do not fit into 63 bits are dropped. */
function fractionOf(digits: string, unit: bigint): bigint {
  let kept = 0n;
  let scale = 1;
  for (const digit of digits) {
    if (kept > MAX_INT / 10n) break;
    const next = kept * 10n + BigInt(digit);
    if (next > TWO_63) break;
    kept = next;
    scale *= 10;
  }
  return kept === 0n ? 0n : BigInt(Math.trunc(Number(kept) * (Number(unit) / scale)));
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** Reads RFC 3339 as leniently as Go: an hour of one digit, a comma, and an offset of up to 24:60 pass. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [, , , , , , , fraction = '', sign, zoneHour = '0', zoneMinute = '0'] = match;
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return;
  if (Number(zoneHour) > 24 || Number(zoneMinute) > 60) return;
  // The constructor of Date reads a year below 100 as one of the twentieth century.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return;
  const offset = (sign === '-' ? -1 : 1) * (Number(zoneHour) * 3600 + Number(zoneMinute) * 60);
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset;
  return new Timestamp(BigInt(seconds) * SECOND + BigInt(fraction.slice(0, 9).padEnd(9, '0')), offset);
}

const FIRST_SECOND = -62_135_596_800n;
const LAST_SECOND = 253_402_300_799n;

export function secondsOf({ nanos }: Timestamp): bigint {
  return (nanos - nanosOf(nanos)) / SECOND;
}

function nanosOf(nanos: bigint): bigint {
  return ((nanos % SECOND) + SECOND) % SECOND;
}

/** The timestamp if it is in the years 1 to 9999, to which CEL limits what it computes. */
export function inRange(time: Timestamp): Timestamp | CelError {
  const seconds = secondsOf(time);
  return seconds < FIRST_SECOND || seconds > LAST_SECOND ? new CelError('timestamp overflow') : time;
}

export function addDuration(time: Timestamp, duration: Duration): Timestamp | CelError {
  return inRange(new Timestamp(time.nanos + duration.nanos, time.offset));
}

export function subtractDuration(time: Timestamp, duration: Duration): Timestamp | CelError {
  if (!isInt(-duration.nanos)) return new CelError('integer overflow');
  return addDuration(time, new Duration(-duration.nanos));
}

export function between(a: Timestamp, b: Timestamp): Duration | CelError {
  const seconds = (secondsOf(a) - secondsOf(b)) * SECOND;
  const nanos = a.nanos - b.nanos;
  return isInt(seconds) && isInt(nanos) ? new Duration(nanos) : new CelError('integer overflow');
}

/** The parts of a local date and time, numbered as in CEL. */
export function calendar(time: Timestamp, offset: number) {
  const seconds = Number(secondsOf(time)) + offset;
  const date = new Date(seconds * 1000);
  const newYear = new Date(0);
  newYear.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return {
    getFullYear: date.getUTCFullYear(),
    getMonth: date.getUTCMonth(),
    getDayOfYear: Math.floor((date.getTime() - newYear.getTime()) / 86_400_000),
    getDayOfMonth: date.getUTCDate() - 1,
    getDate: date.getUTCDate(),
    getDayOfWeek: date.getUTCDay(),
    getHours: date.getUTCHours(),
    getMinutes: date.getUTCMinutes(),
    getSeconds: date.getUTCSeconds(),
    getMilliseconds: Number(nanosOf(time.nanos) / 1_000_000n),
  };
}

/** Parts of a duration are rounded towards zero, after a division in floating point as in Go. */
export function durationPart(fn: string, { nanos }: Duration): bigint | undefined {
  if (fn === 'getMilliseconds') return nanos / 1_000_000n;
  const unit = { getHours: 3600n * SECOND, getMinutes: 60n * SECOND, getSeconds: SECOND }[fn];
  return unit && BigInt(Math.trunc(Number(nanos / unit) + Number(nanos % unit) / Number(unit)));
}

export function formatTimestamp(time: Timestamp): string {
  const at = calendar(time, time.offset);
  const two = (part: number): string => String(part).padStart(2, '0');
  const year = `${at.getFullYear < 0 ? '-' : ''}${String(Math.abs(at.getFullYear)).padStart(4, '0')}`;
  const fraction = String(nanosOf(time.nanos)).padStart(9, '0').replace(/0+$/, '');
  const minutes = Math.trunc(Math.abs(time.offset) / 60);
  const zone =
    time.offset === 0 ? 'Z' : `${time.offset < 0 ? '-' : '+'}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
  const clock = `${two(at.getHours)}:${two(at.getMinutes)}:${two(at.getSeconds)}`;
  return `${year}-${two(at.getMonth + 1)}-${two(at.getDate)}T${clock}${fraction && `.${fraction}`}${zone}`;
}

/** In seconds, as a plain decimal number. */
export function formatDuration({ nanos }: Duration): string {
  const seconds = Number(nanos / SECOND) + Number(nanos % SECOND) / 1e9;
  const [digits = '', exponent] = seconds.toString().split('e');
  if (exponent === undefined) return `${digits}s`;
  const sign = digits.startsWith('-') ? '-' : '';
  const plain = digits.replace(/[-.]/g, '');
  return `${sign}0.${'0'.repeat(-Number(exponent) - 1)}${plain}s`;
}
