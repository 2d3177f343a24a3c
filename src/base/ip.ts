import { BlockList, isIP } from 'node:net';

const BRACKETED = /^\[([^\]]+)\](?::\d+)?$/;
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$/;

/** Removes what proxies add to an address: a port, and brackets around IPv6. */
export function bareAddress(source: string): string {
  return BRACKETED.exec(source)?.[1] ?? WITH_PORT.exec(source)?.[1] ?? source;
}

/** A list of addresses and CIDR ranges. They must be well-formed. */
export function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    list.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return list;
}
