import type { ParameterTypeJson } from '../syntax.ts';
import { CelRejection } from './cel-syntax.ts';
import { parseDuration, parseTimestamp } from './cel-time.ts';
import { listOf, mapOf, readType, STRING, type Type } from './cel-types.ts';
import { CelMap, Uint, type Value } from './cel-values.ts';
import { parseDecimal, toDouble, toWhole } from './decimal.ts';
import { parseIp } from './ip-address.ts';

const CEL_TYPES: Readonly<Record<string, string>> = {
  TYPE_NAME_BOOL: 'bool',
  TYPE_NAME_STRING: 'string',
  TYPE_NAME_INT: 'int',
  TYPE_NAME_UINT: 'uint',
  TYPE_NAME_DOUBLE: 'double',
  TYPE_NAME_DURATION: 'google.protobuf.Duration',
  TYPE_NAME_TIMESTAMP: 'google.protobuf.Timestamp',
  TYPE_NAME_IPADDRESS: 'IPAddress',
  TYPE_NAME_ANY: 'any',
};

export function celTypeOf({ type_name, generic_types = [] }: ParameterTypeJson): Type {
  const [item, ...rest] = generic_types;
  const isGeneric = type_name === 'TYPE_NAME_LIST' || type_name === 'TYPE_NAME_MAP';
  if (rest.length > 0 || (item !== undefined) !== isGeneric) throw new CelRejection(`malformed type ${type_name}`);
  if (item !== undefined)
    return type_name === 'TYPE_NAME_LIST' ? listOf(celTypeOf(item)) : mapOf(STRING, celTypeOf(item));
  const name = Object.hasOwn(CEL_TYPES, type_name) ? CEL_TYPES[type_name] : undefined;
  if (name === undefined) throw new CelRejection(`unknown type ${type_name}`);
  return readType(name);
}

/** JSON that is nested deeper is rejected. */
const MAX_DEPTH = 100;

/**
 * Converts a JSON value to a CEL value by OpenFGA's rules: a number may be a string, a time is RFC 3339, a duration
 * uses Go's syntax. Throws an Error that says what was expected.
 */
export function cast(type: ParameterTypeJson, value: unknown): Value {
  const item = type.generic_types?.[0] as ParameterTypeJson;
  switch (type.type_name) {
    case 'TYPE_NAME_BOOL':
      if (typeof value === 'boolean') return value;
      throw unlike('a bool', value);
    case 'TYPE_NAME_STRING':
      return text(value, 'a string');
    case 'TYPE_NAME_INT':
      return whole(value);
    case 'TYPE_NAME_UINT': {
      const number = whole(value);
      if (number < 0n) throw unlike('a uint', value);
      return new Uint(number);
    }
    case 'TYPE_NAME_DOUBLE':
      return double(value);
    case 'TYPE_NAME_DURATION':
      return parseDuration(text(value, 'a duration')) ?? fail('a duration', value);
    case 'TYPE_NAME_TIMESTAMP':
      return parseTimestamp(text(value, 'a timestamp')) ?? fail('an RFC 3339 timestamp', value);
    case 'TYPE_NAME_IPADDRESS':
      return parseIp(text(value, 'an IP address')) ?? fail('a well-formed IP address', value);
    case 'TYPE_NAME_LIST':
      if (!Array.isArray(value)) throw unlike('a list', value);
      return value.map((entry) => cast(item, entry));
    case 'TYPE_NAME_MAP': {
      if (!isObject(value)) throw unlike('a map', value);
      return mapFrom(value, (entry) => cast(item, entry));
    }
    default:
      return fromJson(value, 0);
  }
}

/** A value of type `any`. Numbers are doubles. */
function fromJson(value: unknown, depth: number): Value {
  if (depth > MAX_DEPTH) throw new Error('nested too deeply');
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return finite(value);
  if (Array.isArray(value)) return value.map((entry) => fromJson(entry, depth + 1));
  if (isObject(value)) return mapFrom(value, (entry) => fromJson(entry, depth + 1));
  throw unlike('JSON', value);
}

function mapFrom(value: object, read: (entry: unknown) => Value): CelMap {
  const map = new CelMap();
  for (const [key, entry] of Object.entries(value)) map.set(key, read(entry));
  return map;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown, expected: string): string {
  if (typeof value === 'string') return value;
  throw unlike(expected, value);
}

function finite(value: number | bigint): number {
  const number = Number(value);
  if (!Number.isFinite(number)) throw unlike('a number', value);
  return number;
}

function double(value: unknown): number {
  if (typeof value === 'number' || typeof value === 'bigint') return finite(value);
  if (typeof value !== 'string') throw unlike('a number', value);
  const infinite = /^([+-]?)[iI]nf$/.exec(value);
  if (infinite !== null) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const decimal = parseDecimal(value);
  return (decimal && toDouble(decimal)) ?? fail('a number that a double can represent', value);
}

/** Beyond 64 bits it is the nearest int. A number of JSON is a double, so its last digits may be gone. */
function whole(value: unknown): bigint {
  if (typeof value === 'number' || typeof value === 'bigint') {
    const number = finite(value);
    if (!Number.isInteger(number)) throw unlike('an int', value);
    return toWhole({ mantissa: BigInt(number), exponent: 0 }) as bigint;
  }
  const decimal = parseDecimal(text(value, 'an int'));
  return (decimal && toWhole(decimal)) ?? fail('an int', value);
}

function fail(expected: string, value: unknown): never {
  throw unlike(expected, value);
}

function unlike(expected: string, value: unknown): Error {
  const told = typeof value === 'string' ? `'${value.slice(0, 100)}'` : typeof value;
  return new Error(`expected ${expected}, but found ${told}`);
}
