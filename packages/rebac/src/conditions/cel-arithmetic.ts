import { noOverload } from './cel-compare.ts';
import { addDuration, between, subtractDuration } from './cel-time.ts';
import { Bytes, CelError, Duration, isInt, MAX_UINT, Timestamp, Uint, type Value } from './cel-values.ts';

type Operator = '+' | '-' | '*' | '/' | '%';

/** Integers that do not fit into 64 bits are an error. */
export function computeArithmetic(operator: Operator, a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return int(whole(operator, a, b));
  if (a instanceof Uint && b instanceof Uint) return uint(whole(operator, a.value, b.value));
  if (typeof a === 'number' && typeof b === 'number') return double(operator, a, b);
  if (operator === '+') return add(a, b);
  return operator === '-' ? subtract(a, b) : noOverload(operator);
}

export function negate(value: Value): Value {
  if (typeof value === 'bigint') return int(-value);
  if (typeof value === 'number') return -value;
  return value instanceof Duration ? duration(-value.nanos) : noOverload('-');
}

function add(a: Value, b: Value): Value {
  if (typeof a === 'string' && typeof b === 'string') return a + b;
  if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b];
  if (a instanceof Bytes && b instanceof Bytes) return new Bytes(Buffer.concat([a.octets, b.octets]));
  if (a instanceof Duration && b instanceof Duration) return duration(a.nanos + b.nanos);
  if (a instanceof Duration && b instanceof Timestamp) return addDuration(b, a);
  return a instanceof Timestamp && b instanceof Duration ? addDuration(a, b) : noOverload('+');
}

function subtract(a: Value, b: Value): Value {
  if (a instanceof Duration && b instanceof Duration) return duration(a.nanos - b.nanos);
  if (a instanceof Timestamp && b instanceof Duration) return subtractDuration(a, b);
  return a instanceof Timestamp && b instanceof Timestamp ? between(a, b) : noOverload('-');
}

function whole(operator: Operator, a: bigint, b: bigint): bigint | CelError {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b === 0n ? new CelError('division by zero') : a / b;
    case '%':
      if (b === 0n) return new CelError('modulus by zero');
      // The quotient overflows, and with it the remainder.
      return b === -1n && !isInt(-a) ? new CelError('integer overflow') : a % b;
  }
}

function double(operator: Operator, a: number, b: number): Value {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '%':
      return noOverload('%');
  }
}

export function int(value: bigint | CelError): Value {
  if (value instanceof CelError) return value;
  return isInt(value) ? value : new CelError('integer overflow');
}

export function uint(value: bigint | CelError): Value {
  if (value instanceof CelError) return value;
  return value >= 0n && value <= MAX_UINT ? new Uint(value) : new CelError('unsigned integer overflow');
}

function duration(nanos: bigint): Value {
  return isInt(nanos) ? new Duration(nanos) : new CelError('integer overflow');
}
