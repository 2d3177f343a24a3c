/** An address as a family and a number, so that a network test is a shift and a comparison. */
export class IpAddress {
  readonly bits: 32 | 128;
  readonly value: bigint;

  constructor(bits: 32 | 128, value: bigint) {
    this.bits = bits;
    this.value = value;
  }

  equals(other: IpAddress): boolean {
    return this.bits === other.bits && this.value === other.value;
  }
}

export function parseIp(text: string): IpAddress | undefined {
  if (text.includes(':')) {
    const value = parseV6(text.split('%', 1)[0] as string);
    return value === undefined ? undefined : new IpAddress(128, value);
  }
  const value = parseV4(text);
  return value === undefined ? undefined : new IpAddress(32, value);
}

/** Returns `undefined` if the network is malformed. An address of the other family is in no network. */
export function inCidr(address: IpAddress, cidr: string): boolean | undefined {
  const [base, length, ...rest] = cidr.split('/');
  if (base === undefined || length === undefined || rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(length)) return;
  const network = base.includes('%') ? undefined : parseIp(base);
  if (network === undefined || Number(length) > network.bits) return;
  if (network.bits !== address.bits) return false;
  const host = BigInt(network.bits - Number(length));
  return address.value >> host === network.value >> host;
}

function parseV4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return;
  let value = 0n;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function parseV6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return;
  const head = groups(halves[0] as string);
  const tail = halves.length === 2 ? groups(halves[1] as string) : [];
  if (head === undefined || tail === undefined) return;
  const gap = 8 - head.length - tail.length;
  if (halves.length === 2 ? gap < 1 : gap !== 0) return;
  return [...head, ...Array<bigint>(gap).fill(0n), ...tail].reduce((value, group) => (value << 16n) | group, 0n);
}

/** Sixteen-bit groups. The last may be a dotted IPv4 address, which counts as two groups. */
function groups(text: string): bigint[] | undefined {
  if (text === '') return [];
  const found: bigint[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (part.includes('.') && index === parts.length - 1) {
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
