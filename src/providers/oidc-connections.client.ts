import { createRemoteJWKSet, customFetch as joseFetch } from 'jose';
import * as oidc from 'openid-client';
import type { GuardedFetch } from '../base/outbound/guarded-fetch.ts';
import type { KnownProvider } from './providers.ts';
import { signInFault } from './sign-in-fault.ts';

/** What a provider has said about itself, and its keys. */
export interface OidcConnection {
  readonly config: oidc.Configuration;
  readonly keys: ReturnType<typeof createRemoteJWKSet>;
  readonly until: number;
}

/** By how much the clock of the provider may differ from ours. */
export const CLOCK_TOLERANCE_S = 60;
const DISCOVERED_FOR_MS = 3_600_000;
const KEYS_FOR_MS = 300_000;
/** Any client can send a logout token with an unknown key, so the keys are not asked for each time. */
const KEYS_COOLDOWN_MS = 10_000;
const MAX_CONNECTIONS = 200;

export type OidcConnections = ReturnType<typeof createOidcConnections>;

export function createOidcConnections(fetch: GuardedFetch) {
  const connections = new Map<string, Promise<OidcConnection>>();
  return { connect, discover };

  /** Requests at the same moment share one discovery. A failed one is not remembered. */
  async function connect(known: KnownProvider): Promise<OidcConnection> {
    const { id, name, version } = known.provider;
    const key = `${id} ${version} ${name}`;
    const present = await connections.get(key);
    if (present && present.until > Date.now()) return present;
    const [oldest] = connections.size >= MAX_CONNECTIONS ? connections.keys() : [];
    if (oldest !== undefined) connections.delete(oldest);
    const connecting = discover(known);
    connections.set(key, connecting);
    connecting.catch(() => connections.delete(key));
    return await connecting;
  }

  async function discover({ provider, clientSecret }: KnownProvider): Promise<OidcConnection> {
    // Without TLS, the guarded fetch connects only to networks that the operator has allowed.
    const isPlain = provider.issuer.startsWith('http:');
    const execute = isPlain ? [oidc.allowInsecureRequests] : [];
    const found = await oidc.discovery(new URL(provider.issuer), provider.clientId, undefined, oidc.None(), {
      [oidc.customFetch]: fetch,
      execute,
    });
    const server = found.serverMetadata();
    if (server.jwks_uri === undefined) throw signInFault('sign_in_rejected', 'the provider publishes no keys');
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const auth = methods.includes('client_secret_basic') ? oidc.ClientSecretBasic : oidc.ClientSecretPost;
    const config = new oidc.Configuration(
      server,
      provider.clientId,
      { [oidc.clockTolerance]: CLOCK_TOLERANCE_S },
      clientSecret === undefined ? oidc.None() : auth(clientSecret),
    );
    config[oidc.customFetch] = fetch;
    for (const step of execute) step(config);
    const keys = createRemoteJWKSet(new URL(server.jwks_uri), {
      [joseFetch]: (url, init) => fetch(url, init),
      cacheMaxAge: KEYS_FOR_MS,
      cooldownDuration: KEYS_COOLDOWN_MS,
    });
    return { config, keys, until: Date.now() + DISCOVERED_FOR_MS };
  }
}
