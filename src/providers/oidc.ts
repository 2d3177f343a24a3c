import type { ProviderIdentity } from './provider-identity.ts';
import type { KnownProvider } from './providers.ts';

/** What ties the answer of a provider to the request that we sent. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/**
 * What the provider is to do besides signing the user in: ask again who it is, also if it knows; let them choose another
 * account; or ask nothing, and say no if it would have to.
 */
export type Asking = 'again' | 'another account' | 'silent';

export interface AuthorizationRequest extends SignInChecks {
  readonly asking: Asking | undefined;
}

/** What a provider gives along to be asked with later. */
export interface ProviderTokens {
  readonly refreshToken: string | undefined;
  /** After how long it expires if it is not used, if the provider says so. */
  readonly refreshMs: number | undefined;
}

/** Whether a provider still vouches for a user. Unknown: it cannot be asked, or does not let us. */
export type Asked =
  | ({ readonly kind: 'confirmed' } & ProviderTokens)
  | { readonly kind: 'rejected'; readonly why: string }
  | { readonly kind: 'unknown'; readonly why: string; readonly cause: unknown };

/** A logout token that has been checked. */
export interface LogoutNotice {
  readonly id: string;
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sid: string | undefined;
}

export interface OidcClient {
  authorizationUrl(known: KnownProvider, request: AuthorizationRequest): Promise<string>;
  /** `query` is what the browser brought back from the provider. */
  identify(known: KnownProvider, query: string, checks: SignInChecks): Promise<ProviderIdentity & ProviderTokens>;
  ask(known: KnownProvider, refreshToken: string, subject: string): Promise<Asked>;
  /** Undefined if people cannot sign out there. */
  endSessionUrl(known: KnownProvider, idToken: string | undefined, returnTo: string): Promise<string | undefined>;
  readLogoutToken(known: KnownProvider, text: string, now: Date): Promise<LogoutNotice>;
}
