import type { Environment } from '@marcbachmann/cel-js';
import type { ParameterTypeJson } from '../syntax.ts';
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
  TYPE_NAME_ANY: 'dyn',
};

export function celTypeOf(type: ParameterTypeJson): string {
  const inner = type.generic_types?.[0];
  if (type.type_name === 'TYPE_NAME_LIST') return `list<${inner ? celTypeOf(inner) : 'dyn'}>`;
  if (type.type_name === 'TYPE_NAME_MAP') return `map<string, ${inner ? celTypeOf(inner) : 'dyn'}>`;
  return CEL_TYPES[type.type_name] ?? 'dyn';
}

/**
 * Converts a JSON value to a CEL value by OpenFGA's rules: a number may be a string, a time is RFC 3339, a duration
 * uses Go's syntax.
 */
export type Cast = (type: ParameterTypeJson, value: unknown) => unknown;

const RFC3339 = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d([.,]\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

export function createCast(env: Environment): Cast {
  env.registerVariable('given', 'dyn');
  // The library creates unsigned and duration values only from expressions.
  const toUint = env.parse('uint(given)');
  const toDuration = env.parse('duration(given)');

  const cast: Cast = (type, value) => {
    const inner = type.generic_types?.[0] ?? { type_name: 'TYPE_NAME_ANY' };
    switch (type.type_name) {
      case 'TYPE_NAME_BOOL':
        return expect(value, 'boolean');
      case 'TYPE_NAME_STRING':
        return expect(value, 'string');
      case 'TYPE_NAME_INT':
        return integer(value);
      case 'TYPE_NAME_UINT': {
        const whole = integer(value);
        if (whole < 0n) throw new Error(`expected a uint, but found ${whole}`);
        return toUint({ given: whole });
      }
      case 'TYPE_NAME_DOUBLE':
        return number(value);
      case 'TYPE_NAME_DURATION':
        return toDuration({ given: expect(value, 'string') });
      case 'TYPE_NAME_TIMESTAMP':
        return timestamp(expect(value, 'string') as string);
      case 'TYPE_NAME_IPADDRESS': {
        const address = parseIp(expect(value, 'string') as string);
        if (address === undefined) throw new Error(`expected a well-formed IP address, but found '${value}'`);
        return address;
      }
      case 'TYPE_NAME_LIST':
        if (!Array.isArray(value)) throw new Error(`expected a list, but found ${typeof value}`);
        return value.map((entry) => cast(inner, entry));
      case 'TYPE_NAME_MAP': {
        if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('expected a map');
        return new Map(Object.entries(value).map(([key, entry]) => [key, cast(inner, entry)]));
      }
      default:
        return value;
    }
  };
  return cast;
}

function expect(value: unknown, type: 'boolean' | 'string'): unknown {
  if (typeof value !== type) throw new Error(`expected a ${type}, but found ${typeof value}`);
  return value;
}

function number(value: unknown): number {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  if (typeof value === 'string' && DECIMAL.test(value)) return Number(value);
  throw new Error(`expected a number, but found ${JSON.stringify(value) ?? typeof value}`);
}

function integer(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'string' && /^[+-]?\d+$/.test(value)) return BigInt.asIntN(64, BigInt(value.replace('+', '')));
  const read = number(value);
  if (!Number.isInteger(read)) throw new Error(`expected an int, but found ${read}`);
  return BigInt(read);
}

function timestamp(text: string): Date {
  const time = new Date(text);
  if (!RFC3339.test(text) || Number.isNaN(time.getTime())) {
    throw new Error(`expected an RFC 3339 timestamp, but found '${text}'`);
  }
  return time;
}
