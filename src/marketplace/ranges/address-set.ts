import { isIPv4, isIPv6 } from 'node:net';

/**
 * A set of address ranges that answers in one or two microseconds: sorted, merged, and searched by bisection. An IPv4
 * address is one number; an IPv6 address is four numbers of 32 bits each. BigInts are created only when a set is built,
 * never for a lookup.
 */
export interface AddressSet {
  readonly size: number;
  has(address: string): boolean;
}

interface Range {
  readonly first: bigint;
  readonly last: bigint;
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** Prefixes such as `203.0.113.0/24` or single addresses; throws on anything else. */
export function createAddressSet(prefixes: readonly string[]): AddressSet {
  const ranges = prefixes.map(readPrefix);
  const v4 = merge(ranges.filter(({ bits }) => bits === 32));
  const v6 = merge(ranges.filter(({ bits }) => bits === 128));
  const starts4 = Float64Array.from(v4, ({ first }) => Number(first));
  const ends4 = Float64Array.from(v4, ({ last }) => Number(last));
  const starts6 = Uint32Array.from(v6.flatMap(({ first }) => quarters(first)));
  const ends6 = Uint32Array.from(v6.flatMap(({ last }) => quarters(last)));

  return { size: v4.length + v6.length, has };

  function has(address: string): boolean {
    const text = address.startsWith('::') ? (MAPPED.exec(address)?.[1] ?? address) : address;
    if (isIPv4(text)) return has4(readIPv4(text));
    return isIPv6(text) && !text.includes('%') && has6(readIPv6(text));
  }

  function has4(value: number): boolean {
    let low = 0;
    let high = starts4.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (value < (starts4[middle] ?? 0)) high = middle - 1;
      else if (value > (ends4[middle] ?? 0)) low = middle + 1;
      else return true;
    }
    return false;
  }

  function has6(value: Uint32Array): boolean {
    let low = 0;
    let high = v6.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (compare(value, starts6, middle) < 0) high = middle - 1;
      else if (compare(value, ends6, middle) > 0) low = middle + 1;
      else return true;
    }
    return false;
  }
}

function compare(value: Uint32Array, list: Uint32Array, index: number): number {
  for (let part = 0; part < 4; part++) {
    const difference = (value[part] ?? 0) - (list[4 * index + part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function readPrefix(prefix: string): Range & { readonly bits: number } {
  const [address = '', length, ...rest] = prefix.split('/');
  const bits = isIPv4(address) ? 32 : isIPv6(address) && !address.includes('%') ? 128 : 0;
  const kept = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  if (bits === 0 || rest.length > 0 || !(kept >= 0 && kept <= bits)) throw new Error(`not a prefix: ${prefix}`);
  const value = bits === 32 ? BigInt(readIPv4(address)) : join(readIPv6(address));
  const free = BigInt(bits - kept);
  const first = (value >> free) << free;
  return { first, last: first + (1n << free) - 1n, bits };
}

/** Overlapping and touching ranges become one. */
function merge(ranges: readonly Range[]): Range[] {
  const merged: { first: bigint; last: bigint }[] = [];
  for (const { first, last } of [...ranges].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))) {
    const open = merged.at(-1);
    if (open && first <= open.last + 1n) open.last = last > open.last ? last : open.last;
    else merged.push({ first, last });
  }
  return merged;
}

function readIPv4(text: string): number {
  let value = 0;
  for (const part of text.split('.')) value = value * 256 + Number(part);
  return value;
}

const COLON = 58;
const DOT = 46;

/** The four parts of an address that is known to be well-formed. */
function readIPv6(text: string): Uint32Array {
  const groups = new Uint16Array(8);
  let count = 0;
  let gap = -1;
  let start = 0;
  let value = 0;
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? COLON : text.charCodeAt(at);
    if (code === DOT) {
      const tail = readIPv4(text.slice(start));
      groups[count++] = tail >>> 16;
      groups[count++] = tail & 0xffff;
      break;
    }
    if (code !== COLON) {
      value = value * 16 + hexDigit(code);
      continue;
    }
    if (at > start) groups[count++] = value;
    else if (at > 0 && at < text.length) gap = count;
    value = 0;
    start = at + 1;
  }
  // The groups after the gap move to the end; the gap itself is all zeros.
  if (gap >= 0) groups.copyWithin(8 - (count - gap), gap, count).fill(0, gap, 8 - (count - gap));
  const parts = new Uint32Array(4);
  for (let part = 0; part < 4; part++) parts[part] = (groups[2 * part] ?? 0) * 65536 + (groups[2 * part + 1] ?? 0);
  return parts;
}

function hexDigit(code: number): number {
  return code < COLON ? code - 48 : (code | 32) - 87;
}

function join(parts: Uint32Array): bigint {
  return parts.reduce((whole, part) => (whole << 32n) | BigInt(part), 0n);
}

function quarters(value: bigint): number[] {
  return [96n, 64n, 32n, 0n].map((shift) => Number((value >> shift) & 0xffff_ffffn));
}
