import type { PageTable } from './page-table.ts';
import type { ACCOUNT_PATHS } from './paths.ts';

/** The pages of one's own account. */
export const ACCOUNT_PAGES: PageTable<(typeof ACCOUNT_PATHS)[number]> = {
  '/me': async () => (await import('../pages/me/profile.tsx')).ProfilePage,
  '/me/emails': async () => (await import('../pages/me/emails.tsx')).EmailsPage,
  '/me/password': async () => (await import('../pages/me/password.tsx')).PasswordPage,
  '/me/security': async () => (await import('../pages/me/security.tsx')).SecurityPage,
  '/me/sessions': async () => (await import('../pages/me/sessions.tsx')).SessionsPage,
  '/me/device': async () => (await import('../pages/me/device.tsx')).DevicePage,
  '/me/linked-accounts': async () => (await import('../pages/me/linked-accounts.tsx')).LinkedAccountsPage,
  '/me/tokens': async () => (await import('../pages/me/tokens.tsx')).TokensPage,
  '/me/agents': async () => (await import('../pages/me/agents.tsx')).AgentsPage,
  '/me/following': async () => (await import('../pages/me/following.tsx')).FollowingPage,
  '/me/clusters': async () => (await import('../pages/me/clusters.tsx')).MyClustersPage,
  '/me/credentials': async () => (await import('../pages/me/credentials.tsx')).CredentialsPage,
  '/me/credentials/:name': async () => (await import('../pages/me/credential.tsx')).CredentialPage,
  '/me/bus': async () => (await import('../pages/me/bus.tsx')).BusPage,
  '/me/audit': async () => (await import('../pages/me/activity.tsx')).ActivityPage,
  '/me/orders': async () => (await import('../pages/me/orders.tsx')).OrdersPage,
  '/me/requests': async () => (await import('../pages/requests/inbox.tsx')).InboxPage,
};
