import { AppError } from '../base/errors.ts';
import { safeText } from '../base/log.ts';
import { createGuardedFetch } from '../base/outbound/guarded-fetch.ts';
import { createSealedTexts } from '../base/sealed-text.ts';
import { PLATFORM } from '../changes/write.ts';
import type { Cookies } from '../http/cookies.ts';
import { createAllowance } from '../http/limits/allowance.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { SessionTerms } from '../identity/sessions/session-policy.ts';
import { useOnce } from '../identity/single-use.store.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { SignIn } from '../users/sign-in.ts';
import type { Users } from '../users/users.ts';
import { adminProviderRoutes } from './admin-providers.routes.ts';
import { createBrowserCookies } from './browser-cookies.view.ts';
import { createProviderStateStore } from './checks/provider-state.store.ts';
import { createProviderStates } from './checks/provider-state.ts';
import { createProviderTester } from './checks/provider-test.client.ts';
import { createSessionCheckStore } from './checks/session-checks.store.ts';
import { createSessionChecks } from './checks/session-checks.ts';
import { createGroupPreview } from './groups/group-preview.ts';
import { createGroupSyncStore } from './groups/group-sync.store.ts';
import { createGroupSync } from './groups/group-sync.ts';
import { linkedAccountRoutes } from './linked-accounts.routes.ts';
import { createLinkedAccountStore } from './linked-accounts.store.ts';
import { createLinkedAccounts } from './linked-accounts.ts';
import { adminLinkedAccountRoutes } from './links/admin-linked-accounts.routes.ts';
import { createOidcClient } from './oidc.client.ts';
import { createOidcConnections } from './oidc-connections.client.ts';
import type { Provider } from './provider.ts';
import { createProviderAccountStore } from './provider-accounts.store.ts';
import { createProviderAccounts } from './provider-accounts.ts';
import { createProviderLogoutStore } from './provider-logout.store.ts';
import { createProviderLogout } from './provider-logout.ts';
import { readSettings } from './provider-settings.ts';
import { providerSignInRoutes } from './provider-sign-in.routes.ts';
import { createProviderSignIn, type SealToken } from './provider-sign-in.ts';
import { createProviderStore } from './providers.store.ts';
import { createProviders } from './providers.ts';
import { createSignInRejectionStore } from './sign-in-rejections.store.ts';
import { createSignInRejections } from './sign-in-rejections.ts';

/** Metadata, keys and tokens of providers have a few kilobytes. */
const MAX_BYTES = 256 * 1024;
const TIMEOUT_MS = 5000;
const WINDOW_MS = 5 * 60_000;
/** Many people may sit behind one network. */
const PEOPLE_A_NETWORK = 10;

interface Neighbors {
  readonly users: Pick<Users, 'idOf'>;
  readonly signIn: Pick<SignIn, 'openWithProvider' | 'close' | 'closeReplaced'>;
  readonly cookies: Cookies;
  readonly isDomainAllowed: (address: string) => boolean;
  /** Whether an invitation lets a new user with this address in. */
  readonly admitsInvited: (code: string, address: string) => Promise<boolean>;
}

/** Signing in with OpenID Connect. */
export function wireProviders(infrastructure: Infrastructure, { callers, liveness }: Identity, neighbors: Neighbors) {
  const { config, keys, vault, db, revisions, quotas, log, share, baseUrl } = infrastructure;
  const { users, signIn: sessions, cookies, isDomainAllowed, admitsInvited } = neighbors;
  const { write } = revisions;
  const at = (name: string) => `${baseUrl()}/api/v1/user/signin/${name}`;
  const addresses = {
    redirectUri: (name: string) => `${at(name)}/callback`,
    logoutUri: (name: string) => `${at(name)}/backchannel_logout`,
    returnTo: () => `${baseUrl()}/signin`,
  };
  const clientSecrets = {
    seal: (name: string, secret: string) => vault.seal(PLATFORM, `provider ${name}`, secret),
    open: async (name: string, text: Buffer) => (await vault.open(PLATFORM, `provider ${name}`, text)).toString('utf8'),
  };
  const fromSettings = readSettings(config.OIDC_PROVIDERS);
  const hasPasswords = config.PASSWORDS === 'on';
  const providers = createProviders(createProviderStore(db, write, quotas), fromSettings, clientSecrets, hasPasswords);
  const fetch = createGuardedFetch({
    allowedNetworks: config.OIDC_ALLOWED_NETWORKS,
    maxBytes: MAX_BYTES,
    timeoutMs: TIMEOUT_MS,
    service: 'provider',
  });
  const connections = createOidcConnections(fetch);
  const client = createOidcClient({ connections, redirectUri: addresses.redirectUri });
  const termsOf = ({ sessionHours, sessionIdleMinutes, recheckMinutes, allowRemember }: Provider): SessionTerms => ({
    hours: sessionHours,
    idleMinutes: sessionIdleMinutes,
    mayRemember: allowRemember,
    recheckMs: (recheckMinutes ?? config.PROVIDER_RECHECK_MINUTES) * 60_000,
    graceMs: config.PROVIDER_GRACE_MINUTES * 60_000,
  });
  const sealToken: SealToken = (accountId, kind, subject, text) => vault.seal(accountId, `${kind} ${subject}`, text);
  const openToken = async (accountId: bigint, name: string, text: Buffer) =>
    (await vault.open(accountId, name, text)).toString('utf8');
  const sealed = createSealedTexts(keys.derive('pending sign-in'));
  const accountStore = createProviderAccountStore(db, write, quotas);
  const groupStore = createGroupSyncStore(db, write, quotas);
  const signIn = createProviderSignIn({
    providers,
    client,
    accounts: createProviderAccounts(accountStore, isDomainAllowed, admitsInvited),
    syncGroups: createGroupSync(groupStore),
    useOnce: (hash, expiresAt) => useOnce(db.query, { hash, expiresAt }),
    sealed,
    sealToken,
    termsOf,
    openSession: sessions.openWithProvider,
  });
  const logout = createProviderLogout({
    store: createProviderLogoutStore(db, write),
    providers,
    client,
    openIdToken: (accountId, subject, text) => openToken(accountId, `id token ${subject}`, text),
    returnTo: addresses.returnTo,
    onFailure: (error) => log.warn({ err: error }, 'users cannot sign out at the provider'),
  });
  const states = createProviderStates(createProviderStateStore(db));
  const tester = createProviderTester({ fetch, connections, redirectUri: addresses.redirectUri });
  const checks = createSessionChecks({
    store: createSessionCheckStore(db, write),
    providerOf: (name) => providers.known(name).catch(withoutUnknown),
    termsOf,
    client,
    sealToken,
    openRefreshToken: (accountId, subject, text) => openToken(accountId, `refresh token ${subject}`, text),
    async onUnknown(provider, why, cause) {
      log.warn({ err: cause, provider, why: safeText(why) }, 'a provider could not be asked about a session');
      await states.noteFault(provider, `a session could not be checked: ${why}`, new Date());
    },
  });
  liveness.checkWith(checks.check);
  const linkedAccounts = createLinkedAccounts({
    store: createLinkedAccountStore(db, write),
    accounts: accountStore,
    providers,
    sealed,
    passwordsCount: hasPasswords,
  });
  const preview = createGroupPreview({ providers, store: groupStore, users });
  return { providers, mount };

  function mount(scope: Scope): void {
    const browserCookies = createBrowserCookies(() => baseUrl().startsWith('https:'));
    const failures = share('provider failures', createAllowance(config.AUTH_FAILURES * PEOPLE_A_NETWORK, WINDOW_MS));
    const rejections = createSignInRejections(createSignInRejectionStore(write));
    providerSignInRoutes(scope, {
      ...{ providers, signIn, logout, rejections, states, callers, cookies, browserCookies, failures },
      closeReplaced: sessions.closeReplaced,
    });
    const closeSession = sessions.close;
    const { displayNames } = providers;
    linkedAccountRoutes(scope, {
      ...{ linkedAccounts, signIn, displayNames, logout, closeSession, cookies, browserCookies },
    });
    adminLinkedAccountRoutes(scope, { linkedAccounts, users, displayNames });
    const { resolve } = groupStore;
    adminProviderRoutes(scope, { providers, states, test: tester.test, preview, resolve, addresses });
  }
}

/** A provider that does not exist, or is disabled. */
function withoutUnknown(error: unknown): undefined {
  if (error instanceof AppError && error.kind === 'notFound') return undefined;
  throw error;
}
