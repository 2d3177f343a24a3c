import { createGuardedFetch } from '../base/outbound/guarded-fetch.ts';
import { createSealedTexts } from '../base/sealed-text.ts';
import { PLATFORM } from '../changes/write.ts';
import type { Cookies } from '../http/cookies.ts';
import { createAllowance } from '../http/limits/allowance.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { SignIn } from '../users/sign-in.ts';
import type { Users } from '../users/users.ts';
import { adminProviderRoutes } from './admin-providers.routes.ts';
import { createBrowserCookies } from './browser-cookies.view.ts';
import { createGroupPreview } from './group-preview.ts';
import { createGroupSyncStore } from './group-sync.store.ts';
import { createGroupSync } from './group-sync.ts';
import { linkedAccountRoutes } from './linked-accounts.routes.ts';
import { createLinkedAccountStore } from './linked-accounts.store.ts';
import { createLinkedAccounts } from './linked-accounts.ts';
import { createOidcClient } from './oidc.client.ts';
import { createProviderAccountStore } from './provider-accounts.store.ts';
import { createProviderAccounts } from './provider-accounts.ts';
import { createProviderLogoutStore } from './provider-logout.store.ts';
import { createProviderLogout } from './provider-logout.ts';
import { readSettings } from './provider-settings.ts';
import { providerSignInRoutes } from './provider-sign-in.routes.ts';
import { createProviderSignIn } from './provider-sign-in.ts';
import { createProviderStore } from './providers.store.ts';
import { createProviders } from './providers.ts';
import { createRefusalStore } from './sign-in-refusals.store.ts';
import { createSignInRefusals } from './sign-in-refusals.ts';
import { createSpentStore } from './spent-secrets.store.ts';

/** Metadata, keys and tokens of providers have a few kilobytes. */
const MAX_BYTES = 256 * 1024;
const TIMEOUT_MS = 5000;
const WINDOW_MS = 5 * 60_000;
/** Many people may sit behind one network. */
const PEOPLE_A_NETWORK = 10;

interface Neighbors {
  readonly users: Pick<Users, 'idOf'>;
  readonly signIn: Pick<SignIn, 'openWithProvider' | 'close'>;
  readonly cookies: Cookies;
  readonly isDomainAllowed: (address: string) => boolean;
}

/** Signing in with OpenID Connect. */
export function wireProviders(infrastructure: Infrastructure, { callers }: Identity, neighbors: Neighbors) {
  const { config, keys, vault, db, revisions, room, log, share, baseUrl } = infrastructure;
  const { users, signIn: sessions, cookies, isDomainAllowed } = neighbors;
  const { write } = revisions;
  const at = (name: string) => `${baseUrl()}/api/v1/user/signin/${name}`;
  const addresses = {
    redirectUri: (name: string) => `${at(name)}/callback`,
    logoutUri: (name: string) => `${at(name)}/backchannel_logout`,
    returnTo: () => `${baseUrl()}/signin`,
  };
  const providers = createProviders(createProviderStore(db, write, room), readSettings(config.OIDC_PROVIDERS), {
    seal: (name, secret) => vault.seal(PLATFORM, `provider ${name}`, secret),
    open: async (name, sealed) => (await vault.open(PLATFORM, `provider ${name}`, sealed)).toString('utf8'),
  });
  const fetch = createGuardedFetch({
    allowedNetworks: config.OIDC_ALLOWED_NETWORKS,
    maxBytes: MAX_BYTES,
    timeoutMs: TIMEOUT_MS,
    service: 'provider',
  });
  const client = createOidcClient({ fetch, redirectUri: addresses.redirectUri });
  const sealed = createSealedTexts(keys.derive('pending sign-in'));
  const accountStore = createProviderAccountStore(db, write, room);
  const groupStore = createGroupSyncStore(db, write, room);
  const signIn = createProviderSignIn({
    providers,
    client,
    accounts: createProviderAccounts(accountStore, isDomainAllowed),
    syncGroups: createGroupSync(groupStore),
    spent: createSpentStore(db),
    sealed,
    sealIdToken: (accountId, subject, idToken) => vault.seal(accountId, `id token ${subject}`, idToken),
    openSession: sessions.openWithProvider,
  });
  const logout = createProviderLogout({
    store: createProviderLogoutStore(db, write),
    providers,
    client,
    openIdToken: async (accountId, subject, text) =>
      (await vault.open(accountId, `id token ${subject}`, text)).toString('utf8'),
    returnTo: addresses.returnTo,
    onFailure: (error) => log.warn({ err: error }, 'nobody can sign out at the provider'),
  });
  const linkedAccounts = createLinkedAccounts({
    store: createLinkedAccountStore(db, write),
    accounts: accountStore,
    providers,
    sealed,
    passwordsCount: config.PASSWORDS === 'on',
  });
  const preview = createGroupPreview({ providers, store: groupStore, users });
  return { providers, mount };

  function mount(scope: Scope): void {
    const browserCookies = createBrowserCookies(() => baseUrl().startsWith('https:'));
    const failures = share('provider failures', createAllowance(config.AUTH_FAILURES * PEOPLE_A_NETWORK, WINDOW_MS));
    const refusals = createSignInRefusals(createRefusalStore(write));
    providerSignInRoutes(scope, {
      ...{ providers, signIn, logout, refusals, callers, cookies, browserCookies, failures },
    });
    const closeSession = sessions.close;
    linkedAccountRoutes(scope, { linkedAccounts, signIn, logout, closeSession, cookies, browserCookies });
    adminProviderRoutes(scope, { providers, preview, resolve: groupStore.resolve, addresses });
  }
}
