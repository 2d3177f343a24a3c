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
server_name: "atrium-bus"
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
${websocket(place.wsUrl)}`;
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
  const { hostname, port } = new URL(url.replace(/^\w+:/, 'http:'));
  const isLocal = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
  const host = isLocal ? hostname.replace('localhost', '127.0.0.1') : '0.0.0.0';
  return `${host}:${port || defaultPort(url, usualPort)}`;
}

function defaultPort(url: string, usualPort: number): number {
  return /:80$/.test(url) ? 80 : usualPort;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
