import { type LookupAddress, type LookupOptions, lookup as resolve } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, Socket } from 'node:net';
import { ipBlockList } from '../ip.ts';
import { createResponseMeter, type ResponseLimits } from './response-meter.ts';

// Node calls it for every request of an agent; the type library does not declare it.
declare module 'node:http' {
  interface Agent {
    addRequest(request: http.ClientRequest, options: http.ClientRequestArgs): void;
  }
}

/** Thrown for a connection to an address that is neither on the public internet nor allowed by a setting. */
export class ForbiddenAddress extends Error {
  constructor() {
    super('the endpoint resolves to a private or reserved address');
    this.name = 'ForbiddenAddress';
  }
}

export interface Agents {
  readonly http: http.Agent;
  readonly https: https.Agent;
  /** Rejects with an UnacceptableResponse if a response is not accepted, and never resolves. */
  readonly failed: Promise<never>;
  /** Closes every connection immediately. */
  destroy(): void;
}

/**
 * Not the public internet: this network, private, shared, loopback, link-local, metadata, documentation, multicast,
 * reserved.
 */
const CLOSED_V4 = ipBlockList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // A cloud's own service for its machines, at a public address.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);
/**
 * The only part of IPv6 that is the public internet. Ranges that map, translate or tunnel IPv4 are outside it or closed
 * below.
 */
const PUBLIC_V6 = ipBlockList(['2000::/3']);
const CLOSED_V6 = ipBlockList(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);
const MAPPED_V4 = /^::ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/;

/** Without the public internet, only the given networks are allowed. */
export function createAddressGuard(allowedNetworks: readonly string[], isPublicAllowed = true) {
  const allowed = ipBlockList(allowedNetworks);
  return function isAllowed(text: string): boolean {
    const address = plain(text);
    const family = isIP(address);
    if (family === 0) return false;
    if (allowed.check(address, family === 4 ? 'ipv4' : 'ipv6')) return true;
    if (!isPublicAllowed) return false;
    if (family === 4) return !CLOSED_V4.check(address);
    return PUBLIC_V6.check(address, 'ipv6') && !CLOSED_V6.check(address, 'ipv6');
  };
}

/** A page of a thousand buckets has less than 0.7 MiB. */
const LIMITS: ResponseLimits = { maxBytes: 1024 * 1024, maxTotalBytes: 12 * 1024 * 1024 };
/** As JSON, with names only, it has less than 0.1 MiB, and is parsed in one piece. */
export const JSON_LIMITS: ResponseLimits = { ...LIMITS, maxBytes: 256 * 1024 };

type Guard = (address: string) => boolean;
type Meter = ReturnType<typeof createResponseMeter>;

/**
 * Agents that connect to allowed addresses only and accept responses of limited size only. The check is on the address
 * connected to, after every DNS lookup.
 */
export function createGuardedAgents(isAllowed: Guard, limits = LIMITS): Agents {
  const meter = createResponseMeter(limits);
  const agents = { http: new GuardedHttp(isAllowed, meter), https: new GuardedHttps(isAllowed, meter) };
  return {
    ...agents,
    failed: meter.failed,
    destroy() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

type Connect = http.Agent['createConnection'];

class GuardedHttp extends http.Agent {
  readonly #isAllowed: Guard;
  readonly #meter: Meter;
  constructor(isAllowed: Guard, meter: Meter) {
    super({ keepAlive: true });
    this.#isAllowed = isAllowed;
    this.#meter = meter;
  }
  override addRequest(...[request, options]: Parameters<http.Agent['addRequest']>): void {
    this.#meter.watchRequest(request);
    super.addRequest(request, options);
  }
  override createConnection(...[options, done]: Parameters<Connect>): ReturnType<Connect> {
    return guarded(this.#isAllowed, this.#meter, options, (safe) => super.createConnection(safe, done));
  }
}

class GuardedHttps extends https.Agent {
  readonly #isAllowed: Guard;
  readonly #meter: Meter;
  constructor(isAllowed: Guard, meter: Meter) {
    super({ keepAlive: true });
    this.#isAllowed = isAllowed;
    this.#meter = meter;
  }
  override addRequest(...[request, options]: Parameters<http.Agent['addRequest']>): void {
    this.#meter.watchRequest(request);
    super.addRequest(request, options);
  }
  override createConnection(...[options, done]: Parameters<Connect>): ReturnType<Connect> {
    return guarded(this.#isAllowed, this.#meter, options, (safe) => super.createConnection(safe, done));
  }
}

function guarded(
  isAllowed: Guard,
  meter: Meter,
  options: http.ClientRequestArgs,
  connect: (options: http.ClientRequestArgs) => ReturnType<Connect>,
): ReturnType<Connect> {
  const host = String(options.host ?? '').replace(/^\[|\]$/g, '');
  // A socket path is not an address, and a host that is an address is connected to without a lookup.
  if (options.socketPath || (isIP(host) !== 0 && !isAllowed(host))) return new Socket().destroy(new ForbiddenAddress());
  const lookup = guardedLookup(isAllowed) as NonNullable<http.ClientRequestArgs['lookup']>;
  const connection = connect({ ...options, lookup });
  if (connection) meter.watchConnection(connection);
  return connection;
}

type Found = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

function guardedLookup(isAllowed: (address: string) => boolean) {
  return (hostname: string, options: LookupOptions, done: Found) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, []);
      const open = addresses.filter(({ address }) => isAllowed(address));
      const [first] = open;
      if (!first) return done(new ForbiddenAddress(), []);
      return options.all ? done(null, open) : done(null, first.address, first.family);
    });
  };
}

/** Without a zone, in lower case, and with IPv4-mapped IPv6 addresses as IPv4. */
function plain(text: string): string {
  const address = (text.split('%', 1)[0] ?? '').toLowerCase();
  if (isIP(address) !== 6) return address;
  const compressed = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, dotted, high, low] = MAPPED_V4.exec(compressed) ?? [];
  if (dotted !== undefined) return dotted;
  if (high === undefined || low === undefined) return compressed;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16BE(Number.parseInt(high, 16));
  bytes.writeUInt16BE(Number.parseInt(low, 16), 2);
  return bytes.join('.');
}
