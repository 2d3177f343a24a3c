import { AppError } from '../base/errors.ts';

/** Everything that a NATS server needs in order to trust what this deployment issues. None of it is secret. */
export interface ServerSetup {
  readonly operatorJwt: string;
  readonly systemAccount: string;
  readonly accounts: readonly { readonly name: string; readonly key: string; readonly jwt: string }[];
}

export interface ServerPlace {
  /** The addresses that clients use, so the server has to listen there. */
  readonly url: string;
  readonly wsUrl: string | undefined;
  /** Folder for accounts and streams, as the NATS server sees it. */
  readonly folder: string;
  /** If it is one of several: its number, and where each of them hears the others. */
  readonly cluster?: { readonly number: number; readonly routes: readonly string[] };
}

/** Which server of a cluster, and where its servers hear each other (`host:port`, in the order of BUS_URL). */
export interface Which {
  readonly number?: number | undefined;
  readonly routes?: readonly string[] | undefined;
}

interface Addresses {
  readonly urls: readonly string[];
  readonly wsUrls: readonly string[];
  readonly folder: string;
}

const ROUTE_PORT = 6222;
const ROUTE = /^[^\s"@/]+:\d{1,5}$/;

/** The place of one server, by its number. */
export function placeOf({ urls, wsUrls, folder }: Addresses, { number, routes }: Which): ServerPlace {
  const count = urls.length;
  if (number === undefined && count > 1) {
    throw new AppError('invalid', `BUS_URL names ${count} servers: choose one of them with --server 1 to ${count}`);
  }
  const url = urls[(number ?? 1) - 1];
  if (url === undefined) throw new AppError('invalid', `--server must be a number from 1 to ${count}, as in BUS_URL`);
  const wsUrl = wsUrls[(number ?? 1) - 1] ?? wsUrls[0];
  if (count === 1) return { url, wsUrl, folder };
  const all = routes ?? urls.map((one) => `${hostOf(one)}:${ROUTE_PORT}`);
  if (all.length !== count || new Set(all).size < count || !all.every((route) => ROUTE.test(route))) {
    const advice = `--routes must name host:port of each of the ${count} servers, in the order of BUS_URL`;
    throw new AppError(
      'invalid',
      routes === undefined ? `servers on one host need ports of their own: ${advice}` : advice,
    );
  }
  return { url, wsUrl, folder, cluster: { number: number ?? 1, routes: all } };
}

/** A user who can see many clusters sends them all in the first line of the connection; 4 KiB would hold about 30. */
const FIRST_LINE_BYTES = 1024 * 1024;

/**
 * The configuration file of a NATS server. The resolver is a full one: it keeps account updates on its own disk, so
 * what was revoked stays revoked if it restarts without us. The preloaded accounts never replace newer ones.
 */
export function serverConfig(setup: ServerSetup, place: ServerPlace): string {
  const preload = setup.accounts.map(({ name, key, jwt }) => `  # ${name}\n  ${key}: ${jwt}`);
  return `# Made by "atrium bus config". Start with: nats-server --config FILE
server_name: "atrium-bus${place.cluster ? `-${place.cluster.number}` : ''}"
listen: "${listenAddress(place.url, 4222)}"
max_control_line: ${FIRST_LINE_BYTES}
${tlsHint(place.url.startsWith('tls:'), '')}
operator: ${setup.operatorJwt}
system_account: ${setup.systemAccount}
resolver: {
  type: full
  dir: ${quote(`${place.folder}/accounts`)}
  allow_delete: false
  interval: "2m"
}
resolver_preload: {
${preload.join('\n')}
}

jetstream: {
  store_dir: ${quote(`${place.folder}/jetstream`)}
}
${cluster(place)}${websocket(place.wsUrl)}`;
}

function cluster({ url, cluster }: ServerPlace): string {
  if (cluster === undefined) return '';
  const { number, routes } = cluster;
  const others = routes.filter((_, index) => index !== number - 1);
  return `
# What clients are told about this server.
client_advertise: "${hostOf(url)}:${portOf(url, 4222)}"
cluster: {
  name: "atrium-bus"
  listen: "${listenAddress(`nats://${routes[number - 1]}`, ROUTE_PORT)}"
  # Whoever reaches this port becomes a part of the bus. Keep it private, or accept your own certificates only:
  # tls: { cert_file: "route.crt", key_file: "route.key", ca_file: "ca.crt", verify: true }
  routes: [
${others.map((route) => `    "nats://${route}"`).join('\n')}
  ]
}
`;
}

function websocket(url: string | undefined): string {
  if (url === undefined) return '\n# No websocket: set BUS_WS_URL, and print this file again.\n';
  const isSecure = url.startsWith('wss:');
  return `
websocket: {
  listen: "${listenAddress(url, isSecure ? 443 : 80)}"
${isSecure ? tlsHint(true, '  ') : '  no_tls: true'}
}
`;
}

function tlsHint(isSecure: boolean, indent: string): string {
  if (!isSecure) return '';
  return `${indent}# Its address promises TLS: put your certificate here.\n${indent}tls: { cert_file: "server.crt", key_file: "server.key" }`;
}

/** Listens on this machine only if the address that clients use is local, otherwise on every address. */
function listenAddress(url: string, usualPort: number): string {
  const hostname = hostOf(url);
  const isLocal = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
  const host = isLocal ? hostname.replace('localhost', '127.0.0.1') : '0.0.0.0';
  return `${host}:${portOf(url, usualPort)}`;
}

function hostOf(url: string): string {
  return new URL(url.replace(/^\w+:/, 'http:')).hostname;
}

/** To HTTP, port 80 is no port at all. */
function portOf(url: string, usualPort: number): number {
  return Number(new URL(url.replace(/^\w+:/, 'http:')).port) || (/:80$/.test(url) ? 80 : usualPort);
}

function quote(text: string): string {
  return JSON.stringify(text);
}
