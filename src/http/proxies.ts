import { isIP } from 'node:net';
import { bareAddress, blockList } from '../base/ip.ts';

/** Whose word about where a request comes from is believed. Of a socket that is gone the address is not known. */
export function createTrust(networks: readonly string[]): (address: string | undefined) => boolean {
  const list = blockList(networks);
  return (hop) => {
    const address = bareAddress(hop ?? '');
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
  };
}
