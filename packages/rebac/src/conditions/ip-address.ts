/** An address as a family and a number, so that a network test is a shift and a comparison. */
export class IpAddress {
  readonly bits: 32 | 128;
  readonly value: bigint;
  /** What follows `%`. */
  readonly zone: string;

  constructor(bits: 32 | 128, value: bigint, zone = '') {
    this.bits = bits;
    this.value = value;
    this.zone = zone;
  }

  equals(other: IpAddress): boolean {
    return this.bits === other.bits && this.value === other.value && this.zone === other.zone;
  }
}

const MAPPED = 0xffffn;

/** An IPv4 address that is mapped into IPv6, such as `::ffff:10.0.0.1`, is the IPv4 address. */
export function parseIp(text: string): IpAddress | undefined {
  const address = parseAddress(text);
  if (address?.bits !== 128 || address.value >> 32n !== MAPPED) return address;
  return new IpAddress(32, address.value & 0xffff_ffffn);
}

/**
 * Returns `undefined` if the network is malformed. An address of the other family, or one with a zone, is in no
 * network.
 */
export function inCidr(address: IpAddress, cidr: string): boolean | undefined {
  const slash = cidr.lastIndexOf('/');
  const length = cidr.slice(slash + 1);
  if (slash === -1 || !/^(0|[1-9]\d{0,2})$/.test(length)) return;
  const base = parseAddress(cidr.slice(0, slash));
  if (base === undefined || base.zone !== '' || Number(length) > base.bits) return;
  const mapped = base.bits === 128 && Number(length) >= 96 && base.value >> 32n === MAPPED;
  const [bits, value, prefix] = mapped
    ? [32, base.value & 0xffff_ffffn, Number(length) - 96]
    : [base.bits, base.value, Number(length)];
  if (bits !== address.bits || address.zone !== '') return false;
  const host = BigInt(bits - prefix);
  return address.value >> host === value >> host;
}

function parseAddress(text: string): IpAddress | undefined {
  const mark = text.indexOf('%');
  const plain = mark === -1 ? text : text.slice(0, mark);
  if (!plain.includes(':')) {
    const value = mark === -1 ? parseV4(text) : undefined;
    return value === undefined ? undefined : new IpAddress(32, value);
  }
  const zone = mark === -1 ? '' : text.slice(mark + 1);
  if (mark !== -1 && zone === '') return;
  const value = plain.length > 45 ? undefined : parseV6(plain);
  return value === undefined ? undefined : new IpAddress(128, value, zone);
}

function parseV4(text: string): bigint | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return;
  let value = 0n;
  for (const part of match.slice(1)) {
    if ((part.length > 1 && part.startsWith('0')) || Number(part) > 255) return;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function parseV6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return;
  const head = groups(halves[0] as string, halves.length === 1);
  const tail = halves.length === 2 ? groups(halves[1] as string, true) : [];
  if (head === undefined || tail === undefined) return;
  const gap = 8 - head.length - tail.length;
  if (halves.length === 2 ? gap < 1 : gap !== 0) return;
  return [...head, ...Array<bigint>(gap).fill(0n), ...tail].reduce((value, group) => (value << 16n) | group, 0n);
}

/** Sixteen-bit groups. The last of the address may be a dotted IPv4 address, which counts as two groups. */
function groups(text: string, isLast: boolean): bigint[] | undefined {
  if (text === '') return [];
  const found: bigint[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (part.includes('.') && isLast && index === parts.length - 1) {
      const v4 = parseV4(part);
      if (v4 === undefined) return;
      found.push(v4 >> 16n, v4 & 0xffffn);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      found.push(BigInt(`0x${part}`));
    } else {
      return;
    }
  }
  return found;
}
