import { BlockList, isIP } from 'node:net';

const BRACKETED = /^\[([^\]]+)\](?::\d+)?$/;
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$/;

/** Proxies write addresses with ports, and IPv6 in brackets. */
export function bareAddress(source: string): string {
  return BRACKETED.exec(source)?.[1] ?? WITH_PORT.exec(source)?.[1] ?? source;
}

/** Of addresses and CIDR ranges that are known to be well-formed. */
export function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    list.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return list;
}
