import { isIP } from 'node:net';

/** For whom passkeys are: browsers give them to no other site. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/**
 * From the public address of the server; undefined if browsers have no passkeys for it. They want HTTPS and a host name.
 * For trying out, they also accept localhost, so that is what a server on a loopback address is called.
 */
export function relyingPartyOf(baseUrl: string): RelyingParty | undefined {
  if (!URL.canParse(baseUrl)) return undefined;
  const { hostname, protocol, port, origin } = new URL(baseUrl);
  const isLoopback = hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
  if (hostname === 'localhost' || isLoopback) {
    return { id: 'localhost', origin: `${protocol}//localhost${port && `:${port}`}` };
  }
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  return isAddress || protocol !== 'https:' ? undefined : { id: hostname, origin };
}
