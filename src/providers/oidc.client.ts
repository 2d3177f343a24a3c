import { createRemoteJWKSet, errors, type JWTPayload, customFetch as joseFetch, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { isStorable } from '../base/fields.ts';
import type { GuardedFetch } from '../base/outbound/guarded-fetch.ts';
import { type Claims, identityOf, isComplete, type ProviderIdentity } from './provider-identity.ts';
import { quoted, signInFault } from './provider-refusal.ts';
import type { AuthorizationRequest, OidcClient, SignInChecks } from './provider-sign-in.ts';
import type { KnownProvider } from './providers.ts';

interface Connection {
  readonly config: oidc.Configuration;
  readonly keys: ReturnType<typeof createRemoteJWKSet>;
  readonly until: number;
}

interface Options {
  readonly fetch: GuardedFetch;
  readonly redirectUri: (name: string) => string;
}

/** Keys that only we and the provider share are not accepted: everybody who knows the secret could sign. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** By how much the clock of the provider may differ from ours. */
const CLOCK_TOLERANCE_S = 60;
const DISCOVERED_FOR_MS = 3_600_000;
const KEYS_FOR_MS = 300_000;
/** Anybody can send a logout token with an unknown key, so the keys are not asked for each time. */
const KEYS_COOLDOWN_MS = 10_000;
const MAX_CONNECTIONS = 200;
const MAX_SUBJECT = 255;
/**
 * With a maximum age, the ID token must say when the provider last asked who it is (`auth_time`). Only that tells a proof
 * from a browser that the provider still knows. The age itself is as long as our longest sessions.
 */
const MAX_AGE_S = 31 * 86_400;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const MAX_LOGOUT_AGE_S = 300;

/** What is wrong with the answer of a provider, not with the way to it. */
const REJECTED = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
  'OAUTH_UNSUPPORTED_OPERATION',
]);

/** The keys themselves could not be had. */
const KEY_FAULTS = new Set<string>([errors.JOSEError.code, errors.JWKSTimeout.code, errors.JWKSInvalid.code]);

interface Coded {
  readonly code?: unknown;
}

/** OpenID Connect: everything that is said between us and a provider. */
export function createOidcClient({ fetch, redirectUri }: Options): OidcClient {
  const connections = new Map<string, Promise<Connection>>();
  return { authorizationUrl, identify, endSessionUrl, readLogoutToken };

  async function authorizationUrl(known: KnownProvider, request: AuthorizationRequest): Promise<string> {
    const { provider } = known;
    return await inWords(known, async () => {
      const { config } = await connect(known);
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri(provider.name),
        response_type: 'code',
        scope: provider.scopes.join(' '),
        state: request.state,
        nonce: request.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(request.codeVerifier),
        code_challenge_method: 'S256',
        max_age: String(MAX_AGE_S),
        ...(request.again && { prompt: 'login' }),
      });
      return url.href;
    });
  }

  async function identify(known: KnownProvider, query: string, checks: SignInChecks): Promise<ProviderIdentity> {
    const { provider } = known;
    return await inWords(known, async () => {
      const connection = await connect(known);
      const { config } = connection;
      const tokens = await oidc.authorizationCodeGrant(config, new URL(`${redirectUri(provider.name)}?${query}`), {
        expectedState: checks.state,
        expectedNonce: checks.nonce,
        pkceCodeVerifier: checks.codeVerifier,
        idTokenExpected: true,
      });
      const idToken = tokens.id_token ?? '';
      const claims: Claims = await verifiedClaims(known, connection, idToken);
      const subject = String(claims.sub);
      if (subject === '' || subject.length > MAX_SUBJECT)
        throw signInFault('sign_in_rejected', 'the subject is invalid');
      const more =
        isComplete(provider, claims) || config.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await oidc.fetchUserInfo(config, tokens.access_token, subject);
      return identityOf(provider, { ...more, ...claims }, idToken);
    });
  }

  /** The library leaves the signature to TLS. We check it as well: between us and the provider may be a proxy. */
  async function verifiedClaims({ provider }: KnownProvider, { config, keys }: Connection, idToken: string) {
    const options = {
      issuer: config.serverMetadata().issuer,
      audience: provider.clientId,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_S,
      requiredClaims: ['sub', 'exp', 'iat'],
    };
    try {
      return (await jwtVerify(idToken, keys, options)).payload;
    } catch (error) {
      const isUnknown =
        error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;
      if (!isUnknown) throw error;
      // The provider has just sent it, so it may have new keys. Some reuse the name of the old one.
      await keys.reload();
      return (await jwtVerify(idToken, keys, options)).payload;
    }
  }

  async function endSessionUrl(known: KnownProvider, idToken: string | undefined, returnTo: string) {
    const { config } = await connect(known);
    if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
    return oidc.buildEndSessionUrl(config, {
      post_logout_redirect_uri: returnTo,
      ...(idToken !== undefined && { id_token_hint: idToken }),
    }).href;
  }

  /** OpenID Connect Back-Channel Logout, section 2.6. */
  async function readLogoutToken(known: KnownProvider, text: string, now: Date) {
    return await inWords(known, async () => {
      const { config, keys } = await connect(known);
      const { payload, protectedHeader } = await jwtVerify(text, keys, {
        issuer: config.serverMetadata().issuer,
        audience: known.provider.clientId,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_S,
        maxTokenAge: MAX_LOGOUT_AGE_S,
        requiredClaims: ['iat', 'jti', 'events'],
        currentDate: now,
      });
      const { iss, sub, jti, sid, events, nonce } = payload as JWTPayload & Record<string, unknown>;
      const { typ = 'logout+jwt' } = protectedHeader;
      const event = (events as Record<string, unknown> | null)?.[LOGOUT_EVENT];
      const isText = (value: unknown) => typeof value === 'string' && value !== '';
      if (!/^(?:application\/)?(?:logout\+)?jwt$/i.test(typ)) throw wrongToken('its type is wrong');
      if (typeof event !== 'object' || event === null) throw wrongToken('it has no logout event');
      if (nonce !== undefined) throw wrongToken('it has a nonce, so it is an ID token');
      if (typeof jti !== 'string' || jti === '') throw wrongToken('it has no jti');
      if (!isText(sub) && !isText(sid)) throw wrongToken('it names neither a subject nor a session');
      const named = [sub, sid, jti].filter((one) => typeof one === 'string');
      if (!named.every(isStorable)) throw wrongToken('it contains NUL, or is not well-formed Unicode');
      return {
        issuer: String(iss),
        subject: isText(sub) ? String(sub) : undefined,
        sid: isText(sid) ? String(sid) : undefined,
        id: jti,
      };
    });
  }

  /** Requests at the same moment share one discovery. A failed one is not remembered. */
  async function connect(known: KnownProvider): Promise<Connection> {
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

  async function discover({ provider, clientSecret }: KnownProvider): Promise<Connection> {
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

function wrongToken(why: string): Error {
  return signInFault('sign_in_rejected', `the logout token is not accepted: ${why}`);
}

/** Says what is wrong to whoever tries to sign in. The cause is for the log. */
async function inWords<T>({ provider }: KnownProvider, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw wording(provider.displayName, error);
  }
}

function wording(name: string, error: unknown): unknown {
  if (!(error instanceof Error) || error.name === 'AppError') return error;
  if (error instanceof oidc.AuthorizationResponseError) {
    return signInFault('provider_refused', `${name} did not sign you in: it says ${quoted(error.error)}`, error);
  }
  const isRejected =
    error instanceof errors.JOSEError ? !KEY_FAULTS.has(error.code) : REJECTED.has(String((error as Coded).code));
  if (isRejected) {
    return signInFault('sign_in_rejected', `what ${name} answered is not accepted: ${plainly(error)}`, error);
  }
  return signInFault('provider_failed', `${name} cannot be reached, or its answer makes no sense`, error);
}

/** The sentence of the library, which names the claim that is wrong. */
function plainly(error: Error): string {
  return error.message.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200);
}
