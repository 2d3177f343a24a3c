/** A number of up to 64 significant bits: mantissa times a power of two. */
export interface BigFloat {
  readonly mantissa: bigint;
  readonly exponent: number;
}

const NUMBER = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:([eEpP])([+-]?\d+))?$/;
/** Longer texts are rejected: OpenFGA would read them, in more time than they are worth. */
const MAX_LENGTH = 1000;
const MAX_EXPONENT = 10_000;

/**
 * Reads a decimal number in the way of Go's big.ParseFloat with 64 bits, in which OpenFGA reads a number that is given
 * as text. `1p3` is 1 times 2 to the third. Returns `undefined` if it is malformed.
 */
export function parseDecimal(text: string): BigFloat | undefined {
  const match = text.length > MAX_LENGTH ? null : NUMBER.exec(text);
  if (match === null) return;
  const [, sign, whole = '', point = '', bare = '', base = '', power = '0'] = match;
  const fraction = point || bare;
  const mantissa = BigInt(`${whole}${fraction}`);
  const scale = Number(power);
  if (Math.abs(scale) > MAX_EXPONENT) return;
  if (mantissa === 0n) return { mantissa, exponent: 0 };
  const exponent = scale - fraction.length;
  const fives = (base.toLowerCase() === 'p' ? 0 : scale) - fraction.length;
  const { mantissa: size, exponent: shift } = scaleByFives(mantissa, fives);
  return { mantissa: sign === '-' ? -size : size, exponent: exponent + shift };
}

/** Times 5 to the given power. Up to the 55th the power is exact; from there on Go rounds it, and so do we. */
function scaleByFives(mantissa: bigint, power: number): BigFloat {
  if (power === 0) return round({ mantissa, exponent: 0 }, 64);
  const five = powerOfFive(Math.abs(power));
  if (power > 0) return round({ mantissa: mantissa * five.mantissa, exponent: five.exponent }, 64);
  const width = Math.max(0, bitLength(five.mantissa) - bitLength(mantissa)) + 66;
  const quotient = (mantissa << BigInt(width)) / five.mantissa;
  const isExact = quotient * five.mantissa === mantissa << BigInt(width);
  // One more bit stands for the remainder, so that a half is not taken for exactly a half.
  return round({ mantissa: (quotient << 1n) | (isExact ? 0n : 1n), exponent: -width - 1 - five.exponent }, 64);
}

function powerOfFive(power: number): BigFloat {
  if (power <= 27) return { mantissa: 5n ** BigInt(power), exponent: 0 };
  let product: BigFloat = { mantissa: 5n ** 27n, exponent: 0 };
  let square: BigFloat = { mantissa: 5n, exponent: 0 };
  for (let left = power - 27; left > 0; left = Math.trunc(left / 2)) {
    if (left % 2 === 1) product = round(times(product, square), 128);
    square = round(times(square, square), 192);
  }
  return product;
}

function times(a: BigFloat, b: BigFloat): BigFloat {
  return { mantissa: a.mantissa * b.mantissa, exponent: a.exponent + b.exponent };
}

/** To so many bits, and half to even. */
function round({ mantissa, exponent }: BigFloat, bits: number): BigFloat {
  const excess = bitLength(mantissa) - bits;
  if (excess <= 0) return { mantissa, exponent };
  const shift = BigInt(excess);
  const kept = mantissa >> shift;
  const rest = mantissa - (kept << shift);
  const half = 1n << (shift - 1n);
  const isUp = rest > half || (rest === half && (kept & 1n) === 1n);
  return { mantissa: isUp ? kept + 1n : kept, exponent: exponent + excess };
}

function bitLength(value: bigint): number {
  return value.toString(2).replace('-', '').length;
}

/** The whole number that it is, or the nearest one that fits into an int. `undefined` if it has a fraction. */
export function toWhole({ mantissa, exponent }: BigFloat): bigint | undefined {
  if (exponent >= 64) return mantissa === 0n ? 0n : saturate(mantissa << 64n);
  if (exponent >= 0) return saturate(mantissa << BigInt(exponent));
  if (exponent < -64) return mantissa === 0n ? 0n : undefined;
  const divisor = 1n << BigInt(-exponent);
  return mantissa % divisor === 0n ? saturate(mantissa / divisor) : undefined;
}

function saturate(value: bigint): bigint {
  if (value > 2n ** 63n - 1n) return 2n ** 63n - 1n;
  return value < -(2n ** 63n) ? -(2n ** 63n) : value;
}

/** The double that it is. `undefined` if no double is exactly this number. */
export function toDouble({ mantissa, exponent }: BigFloat): number | undefined {
  if (mantissa === 0n) return 0;
  let [size, shift] = [mantissa, exponent];
  while (size % 2n === 0n) {
    size /= 2n;
    shift++;
  }
  const bits = bitLength(size);
  if (bits > 53 || shift < -1074 || bits + shift > 1024) return;
  // In two steps, because 2 to the power may overflow where the product does not.
  const half = Math.trunc(shift / 2);
  return Number(size) * 2 ** half * 2 ** (shift - half);
}
