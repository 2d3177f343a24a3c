import { createHash } from 'node:crypto';
import type { Actor } from '../changes/audit-entry.ts';
import { SERVER } from '../changes/audit-entry.ts';
import type { LogoutNotice, OidcClient } from './oidc.ts';
import type { Provider } from './provider.ts';
import type { Providers } from './providers.ts';
import { signInFault } from './sign-in-fault.ts';

/** The sign-in at a provider that a session was opened with. */
export interface ProviderSession {
  readonly accountId: bigint;
  readonly provider: string;
  readonly subject: string;
  readonly sealedIdToken: Buffer | null;
}

export interface ProviderLogoutStore {
  sessionOf(sessionId: bigint): Promise<ProviderSession | undefined>;
  /** Ends the sessions that a notice names. Returns how many, or undefined if the notice came before. */
  end(provider: Provider, notice: LogoutNotice, once: Once, actor: Actor): Promise<number | undefined>;
}

/** A notice counts once. */
interface Once {
  readonly spent: Buffer;
  readonly until: Date;
  readonly now: Date;
}

interface ProviderLogoutOptions {
  readonly store: ProviderLogoutStore;
  readonly providers: Pick<Providers, 'known'>;
  readonly client: Pick<OidcClient, 'endSessionUrl' | 'readLogoutToken'>;
  readonly openIdToken: (accountId: bigint, subject: string, sealed: Buffer) => Promise<string>;
  /** Where the browser comes back to. */
  readonly returnTo: () => string;
  readonly onFailure: (error: unknown) => void;
}

export type ProviderLogout = ReturnType<typeof createProviderLogout>;

/** A notice is not accepted when it is older than a few minutes, so it need not be remembered for longer. */
const REMEMBERED_MS = 3_600_000;

/** Signing out at the provider as well, and being signed out by it. */
export function createProviderLogout({
  store,
  providers,
  client,
  openIdToken,
  returnTo,
  onFailure,
}: ProviderLogoutOptions) {
  return { urlFor, receive };

  /**
   * Where a browser signs out at the provider, before its session here is ended. Undefined if the session was not
   * opened there. A provider that does not answer does not keep users from signing out here.
   */
  async function urlFor(sessionId: bigint): Promise<string | undefined> {
    const session = await store.sessionOf(sessionId);
    if (!session) return undefined;
    try {
      const { accountId, subject, sealedIdToken } = session;
      const known = await providers.known(session.provider);
      const idToken = sealedIdToken === null ? undefined : await openIdToken(accountId, subject, sealedIdToken);
      return await client.endSessionUrl(known, idToken, returnTo());
    } catch (error) {
      onFailure(error);
      return undefined;
    }
  }

  /** A logout token that a provider has sent. From the next request on, on every replica, the sessions are gone. */
  async function receive(name: string, token: string, requestId: string, now: Date): Promise<void> {
    const known = await providers.known(name);
    const { provider } = known;
    const notice = await client.readLogoutToken(known, token, now);
    const spent = createHash('sha256').update(`logout ${notice.issuer} ${notice.id}`).digest();
    const actor = { ...SERVER, name: `provider ${provider.name}`, requestId };
    const once = { spent, until: new Date(now.getTime() + REMEMBERED_MS), now };
    const ended = await store.end(provider, notice, once, actor);
    if (ended === undefined) throw signInFault('sign_in_rejected', 'the logout token was used before');
  }
}
