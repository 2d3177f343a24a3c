import { isIP } from 'node:net';
import { bareAddress, ipBlockList } from '../base/ip.ts';

/** Which proxies are trusted to say where a request comes from. */
export function createProxyTrust(networks: readonly string[]): (address: string | undefined) => boolean {
  const list = ipBlockList(networks);
  return (hop) => {
    const address = bareAddress(hop ?? '');
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
  };
}
