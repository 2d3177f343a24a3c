import { errors, type JWTPayload, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { isStorable } from '../base/fields.ts';
import type { Asking, AuthorizationRequest, OidcClient, ProviderTokens, SignInChecks } from './oidc.ts';
import { CLOCK_TOLERANCE_S, type OidcConnection, type OidcConnections } from './oidc-connections.client.ts';
import { explainOidcFaults, oidcRejectionIn, quoteOidcError } from './oidc-fault.client.ts';
import { type Claims, identityOf, isComplete } from './provider-identity.ts';
import type { KnownProvider } from './providers.ts';
import { signInFault } from './sign-in-fault.ts';

interface OidcClientOptions {
  readonly connections: Pick<OidcConnections, 'connect'>;
  readonly redirectUri: (name: string) => string;
}

/** Keys that only we and the provider share are not accepted: every party that knows the secret could sign. */
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
const MAX_SUBJECT = 255;
/**
 * With a maximum age, the ID token must say when the provider last asked who it is (`auth_time`). Only that tells a proof
 * from a browser that the provider still knows. The age itself is as long as our longest sessions.
 */
const MAX_AGE_S = 31 * 86_400;
/** By these, a provider says that it does not vouch for the person any more, or not without asking them. */
const REJECTIONS = new Set([
  'invalid_grant',
  'interaction_required',
  'login_required',
  'consent_required',
  'access_denied',
]);
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const MAX_LOGOUT_AGE_S = 300;

/** OpenID Connect: everything that is said between us and a provider. */
export function createOidcClient({ connections: { connect }, redirectUri }: OidcClientOptions): OidcClient {
  return { authorizationUrl, identify, ask, endSessionUrl, readLogoutToken };

  async function authorizationUrl(known: KnownProvider, request: AuthorizationRequest): Promise<string> {
    const { provider } = known;
    return await explainOidcFaults(known, async () => {
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
        ...promptFor(request.asking, config.serverMetadata()),
      });
      return url.href;
    });
  }

  async function identify(known: KnownProvider, query: string, checks: SignInChecks) {
    const { provider } = known;
    return await explainOidcFaults(known, async () => {
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
      return { ...identityOf(provider, { ...more, ...claims }, idToken), ...refreshIn(tokens) };
    });
  }

  /** With a refresh token, and without a browser. */
  async function ask(known: KnownProvider, refreshToken: string, subject: string) {
    try {
      const connection = await connect(known);
      const tokens = await oidc.refreshTokenGrant(connection.config, refreshToken);
      const { id_token: idToken } = tokens;
      const claims = idToken === undefined ? undefined : await verifiedClaims(known, connection, idToken);
      if (claims && claims.sub !== subject) return { kind: 'rejected', why: 'it now names another person' } as const;
      return { kind: 'confirmed', ...refreshIn(tokens) } as const;
    } catch (error) {
      const rejection = await oidcRejectionIn(error);
      const why = rejection ? quoteOidcError(rejection.error, rejection.description) : 'it cannot be reached';
      const isRejected = rejection !== undefined && REJECTIONS.has(rejection.error);
      return isRejected ? ({ kind: 'rejected', why } as const) : ({ kind: 'unknown', why, cause: error } as const);
    }
  }

  /** The library leaves the signature to TLS. We check it as well: between us and the provider may be a proxy. */
  async function verifiedClaims({ provider }: KnownProvider, { config, keys }: OidcConnection, idToken: string) {
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
    return await explainOidcFaults(known, async () => {
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
}

function wrongToken(why: string): Error {
  return signInFault('sign_in_rejected', `the logout token is not accepted: ${why}`);
}

/** Providers that let people choose say so, except for two that do not. Other providers ask for the password again. */
const CHOOSING = new Set(['accounts.google.com', 'login.microsoftonline.com']);

function promptFor(asking: Asking | undefined, metadata: oidc.ServerMetadata) {
  if (asking === undefined) return {};
  if (asking === 'silent') return { prompt: 'none' };
  const offered = metadata.prompt_values_supported;
  const canChoose = Array.isArray(offered)
    ? offered.includes('select_account')
    : CHOOSING.has(new URL(metadata.issuer).hostname);
  return { prompt: asking === 'another account' && canChoose ? 'select_account' : 'login' };
}

/** Keycloak says after how long a refresh token expires that is not used. */
function refreshIn(tokens: oidc.TokenEndpointResponse): ProviderTokens {
  const { refresh_token: refreshToken, refresh_expires_in: seconds } = tokens;
  const isKnown = typeof seconds === 'number' && seconds > 0;
  return { refreshToken, refreshMs: isKnown ? seconds * 1000 : undefined };
}
