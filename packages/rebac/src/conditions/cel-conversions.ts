import { isUtf8 } from 'node:buffer';
import { int, uint } from './cel-arithmetic.ts';
import { noOverload } from './cel-compare.ts';
import { formatDuration, formatTimestamp, inRange, parseDuration, parseTimestamp, secondsOf } from './cel-time.ts';
import { Bytes, CelError, CelMap, Duration, Timestamp, TypeName, Uint, type Value } from './cel-values.ts';

type Convert = (value: Value) => Value;

/** By the name of the function, which is that of the type. */
export const CONVERSIONS: ReadonlyMap<string, Convert> = new Map<string, Convert>([
  ['bool', toBool],
  ['bytes', toBytes],
  ['double', toDouble],
  ['duration', toDuration],
  ['dyn', (value) => value],
  ['int', toInt],
  ['string', toText],
  ['timestamp', toTimestamp],
  ['type', (value) => new TypeName(typeNameOf(value))],
  ['uint', toUint],
]);

function toBool(value: Value): Value {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return noOverload('bool');
  if (/^(1|t|T|true|TRUE|True)$/.test(value)) return true;
  return /^(0|f|F|false|FALSE|False)$/.test(value) ? false : malformed(value, 'bool');
}

function toBytes(value: Value): Value {
  if (typeof value === 'string') return new Bytes(Buffer.from(value));
  return value instanceof Bytes ? value : noOverload('bytes');
}

function toDouble(value: Value): Value {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  return typeof value === 'string' ? readDouble(value) : noOverload('double');
}

/** Without the hexadecimal numbers and the underscores that Go also reads. */
function readDouble(text: string): Value {
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special !== null) {
    const size = special[2]?.toLowerCase() === 'nan' ? Number.NaN : Number.POSITIVE_INFINITY;
    if (Number.isNaN(size) && special[1] !== '') return malformed(text, 'double');
    return special[1] === '-' ? -size : size;
  }
  if (!/^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(text)) return malformed(text, 'double');
  const double = Number(text);
  return Number.isFinite(double) ? double : malformed(text, 'double');
}

function toInt(value: Value): Value {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') {
    return value > -(2 ** 63) && value < 2 ** 63 ? BigInt(Math.trunc(value)) : new CelError('integer overflow');
  }
  if (value instanceof Uint) return int(value.value);
  if (value instanceof Timestamp) return secondsOf(value);
  if (value instanceof Duration) return value.nanos;
  if (typeof value !== 'string') return noOverload('int');
  return /^[+-]?\d{1,100}$/.test(value) ? int(BigInt(value.replace('+', ''))) : malformed(value, 'int');
}

function toUint(value: Value): Value {
  if (value instanceof Uint) return value;
  if (typeof value === 'bigint') return uint(value);
  if (typeof value === 'number') {
    return value >= 0 && value < 2 ** 64
      ? new Uint(BigInt(Math.trunc(value)))
      : new CelError('unsigned integer overflow');
  }
  if (typeof value !== 'string') return noOverload('uint');
  return /^\d{1,100}$/.test(value) ? uint(BigInt(value)) : malformed(value, 'uint');
}

function toDuration(value: Value): Value {
  if (typeof value === 'string') return parseDuration(value) ?? malformed(value, 'duration');
  return value instanceof Duration ? value : noOverload('duration');
}

function toTimestamp(value: Value): Value {
  if (value instanceof Timestamp) return value;
  if (typeof value === 'bigint') return inRange(new Timestamp(value * 1_000_000_000n));
  if (typeof value !== 'string') return noOverload('timestamp');
  const time = parseTimestamp(value);
  return time === undefined ? malformed(value, 'timestamp') : inRange(time);
}

function toText(value: Value): Value {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return formatDouble(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (!(value instanceof Bytes)) return noOverload('string');
  return isUtf8(value.octets) ? Buffer.from(value.octets).toString() : new CelError('invalid UTF-8 in bytes');
}

/** The shortest digits; with an exponent of at least two digits below 0.0001 and from a million on. */
function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return value.toString();
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

function typeNameOf(value: Value): string {
  if (value === null) return 'null_type';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'double';
  if (typeof value === 'string') return 'string';
  if (Array.isArray(value)) return 'list';
  if (value instanceof CelMap) return 'map';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Bytes) return 'bytes';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  return value instanceof TypeName ? 'type' : 'IPAddress';
}

function malformed(text: string, type: string): CelError {
  return new CelError(`'${text.slice(0, 100)}' is no ${type}`);
}
