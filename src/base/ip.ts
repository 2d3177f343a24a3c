import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

const BRACKETED = /^\[([^\]]+)\](?::\d+)?$/;
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$/;

/** Removes what proxies add to an address: a port, and brackets around IPv6. */
export function bareAddress(source: string): string {
  return BRACKETED.exec(source)?.[1] ?? WITH_PORT.exec(source)?.[1] ?? source;
}

/** Groups of 16 bits that name the line of a subscriber, and the site that it belongs to. */
const LINE_GROUPS = 4;
const SITE_GROUPS = 3;
const DOTTED_TAIL = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/;

/**
 * The network that is counted as one client: an IPv4 address in any of its spellings, or the /64 of an IPv6 address,
 * because a client that has one address of it has them all. Whatever is not an address is counted together.
 */
export function networkOf(source: string | undefined): string {
  if (source === undefined) return NOWHERE;
  // Nearly every request takes this way.
  if (isIPv4(source)) return source;
  const groups = groupsOf(source);
  return typeof groups === 'string' ? groups : prefix(groups, LINE_GROUPS);
}

/** The /48 that an IPv6 address belongs to, which an ordinary site has for itself. Undefined for IPv4. */
export function siteOf(source: string | undefined): string | undefined {
  if (source === undefined || isIPv4(source)) return undefined;
  const groups = groupsOf(source);
  return typeof groups === 'string' ? undefined : prefix(groups, SITE_GROUPS);
}

const NOWHERE = 'no address';

/** The eight groups of an IPv6 address; the address itself if it is IPv4, also as IPv6 maps it: `::ffff:192.0.2.1`. */
function groupsOf(source: string): readonly number[] | string {
  const [address = ''] = bareAddress(source.trim()).split('%', 1);
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return NOWHERE;
  const hex = address.replace(DOTTED_TAIL, (_all, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [head = [], tail] = hex.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const gap = tail === undefined ? [] : Array.from({ length: 8 - head.length - tail.length }, () => '0');
  const groups = [...head, ...gap, ...(tail ?? [])].map((group) => Number.parseInt(group, 16));
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  return isMapped ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : groups;
}

function prefix(groups: readonly number[], length: number): string {
  const text = groups.slice(0, length).map((group) => group.toString(16));
  return `${text.join(':')}::/${length * 16}`;
}

/** A list of addresses and CIDR ranges. They must be well-formed. */
export function ipBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    list.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return list;
}
