import type { ComponentType } from 'preact';
import { lazy } from 'preact-iso';
import { untilLoaded } from './broken-page.ts';

export interface PageRoute {
  readonly path: string;
  /** A page with several addresses stays as it is from one of them to the other. */
  readonly key: string;
  readonly page: ComponentType;
}

type Load = () => Promise<ComponentType>;
const page = (path: string, load: Load): PageRoute => ({
  path,
  key: path,
  // Offline, or after an update of the server, the file of a page is not there.
  page: lazy(async () => ({ default: await load().catch(() => untilLoaded(load)) })) as ComponentType,
});

/** Opens a session, so it is outside of the shell. */
export const { page: WelcomePage } = page(
  '/welcome',
  async () => (await import('../pages/doors/welcome.tsx')).WelcomePage,
);

/** Asks somebody who may not be signed in yet. */
export const { page: LinkAccountPage } = page(
  '/signin/link',
  async () => (await import('../pages/doors/link-account.tsx')).LinkAccountPage,
);

/** For users who cannot sign in. */
export const { page: ForgotPasswordPage } = page(
  '/signin/forgot',
  async () => (await import('../pages/doors/forgot-password.tsx')).ForgotPasswordPage,
);
export const { page: ResetPasswordPage } = page(
  '/signin/reset',
  async () => (await import('../pages/doors/reset-password.tsx')).ResetPasswordPage,
);

/** Asks for an address first, and with the code of the email for the rest. */
export const { page: SignUpPage } = page(
  '/signin/signup',
  async () => (await import('../pages/doors/sign-up.tsx')).SignUpPage,
);

/** Whoever has the link of an invitation may not be signed in, or have no account. */
export const { page: InvitationPage } = page(
  '/invitations/:code',
  async () => (await import('../pages/doors/invitation.tsx')).InvitationPage,
);

/** In a window that was opened to sign in. */
export const { page: SignInDonePage } = page(
  '/signin/done',
  async () => (await import('../pages/doors/sign-in-done.tsx')).SignInDonePage,
);

const webhooks: Load = async () => (await import('../pages/webhooks/webhook-pages.ts')).WebhooksPage;
const webhook: Load = async () => (await import('../pages/webhooks/webhook-pages.ts')).WebhookPage;
const teams = page('/orgs/:org/teams', async () => (await import('../pages/teams/teams.tsx')).TeamsPage);

/** Every page, by its address. The server serves the same document under all of their roots. */
export const PAGES: readonly PageRoute[] = [
  page('/', async () => (await import('../pages/home/home.tsx')).HomePage),
  page('/signin', async () => (await import('../pages/doors/signed-in.tsx')).SignedInPage),
  page('/me', async () => (await import('../pages/me/profile.tsx')).ProfilePage),
  page('/me/emails', async () => (await import('../pages/me/emails.tsx')).EmailsPage),
  page('/me/password', async () => (await import('../pages/me/password.tsx')).PasswordPage),
  page('/me/security', async () => (await import('../pages/me/security.tsx')).SecurityPage),
  page('/me/sessions', async () => (await import('../pages/me/sessions.tsx')).SessionsPage),
  page('/me/device', async () => (await import('../pages/me/device.tsx')).DevicePage),
  page('/me/linked-accounts', async () => (await import('../pages/me/linked-accounts.tsx')).LinkedAccountsPage),
  page('/me/tokens', async () => (await import('../pages/me/tokens.tsx')).TokensPage),
  page('/me/following', async () => (await import('../pages/me/following.tsx')).FollowingPage),
  page('/me/clusters', async () => (await import('../pages/me/clusters.tsx')).MyClustersPage),
  page('/me/credentials', async () => (await import('../pages/me/credentials.tsx')).CredentialsPage),
  page('/me/credentials/:name', async () => (await import('../pages/me/credential.tsx')).CredentialPage),
  page('/me/bus', async () => (await import('../pages/me/bus.tsx')).BusPage),
  page('/me/audit', async () => (await import('../pages/me/activity.tsx')).ActivityPage),
  page('/me/orders', async () => (await import('../pages/me/orders.tsx')).OrdersPage),
  page('/me/requests', async () => (await import('../pages/requests/inbox.tsx')).InboxPage),
  page('/orgs', async () => (await import('../pages/orgs/orgs.tsx')).OrgsPage),
  // Before the page of an organization, which it would otherwise be.
  page('/orgs/new', async () => (await import('../pages/orgs/new-org.tsx')).NewOrgPage),
  page('/orgs/:org', async () => (await import('../pages/orgs/overview.tsx')).OverviewPage),
  page('/orgs/:org/members', async () => (await import('../pages/members/members.tsx')).MembersPage),
  page('/orgs/:org/members/:login', async () => (await import('../pages/members/member.tsx')).MemberPage),
  page('/orgs/:org/invitations', async () => (await import('../pages/invitations/invitations.tsx')).InvitationsPage),
  page('/orgs/:org/clusters', async () => (await import('../pages/clusters/clusters.tsx')).ClustersPage),
  page(
    '/orgs/:org/clusters/import',
    async () => (await import('../pages/clusters/import-cluster.tsx')).ImportClusterPage,
  ),
  page('/orgs/:org/clusters/:id', async () => (await import('../pages/clusters/cluster.tsx')).ClusterPage),
  page('/orgs/:org/roles', async () => (await import('../pages/roles/roles.tsx')).RolesPage),
  page('/orgs/:org/roles/new', async () => (await import('../pages/roles/role.tsx')).NewRolePage),
  page('/orgs/:org/roles/code', async () => (await import('../pages/roles/role-code.tsx')).RoleCodePage),
  page('/orgs/:org/roles/:id', async () => (await import('../pages/roles/role.tsx')).RolePage),
  page('/orgs/:org/guardrails', async () => (await import('../pages/guardrails/guardrails.tsx')).GuardrailsPage),
  page('/orgs/:org/settings', async () => (await import('../pages/orgs/org-settings.tsx')).OrgSettingsPage),
  teams,
  { ...teams, path: '/orgs/:org/teams/new' },
  page('/orgs/:org/teams/:id', async () => (await import('../pages/teams/team.tsx')).TeamPage),
  page('/orgs/:org/contracts', async () => (await import('../pages/contracts/contracts.tsx')).ContractsPage),
  page('/orgs/:org/contracts/:id', async () => (await import('../pages/contracts/contract.tsx')).ContractPage),
  page('/orgs/:org/robots', async () => (await import('../pages/robots/robots.tsx')).RobotsPage),
  page('/orgs/:org/robots/:id', async () => (await import('../pages/robots/robot.tsx')).RobotPage),
  page('/orgs/:org/access/why', async () => (await import('../pages/access/why.tsx')).WhyPage),
  page('/orgs/:org/access/who', async () => (await import('../pages/access/who.tsx')).WhoPage),
  page('/orgs/:org/access/matrix', async () => (await import('../pages/access/matrix.tsx')).MatrixPage),
  page('/orgs/:org/requests', async () => (await import('../pages/requests/requests.tsx')).RequestsPage),
  page('/orgs/:org/requests/new', async () => (await import('../pages/requests/new-request.tsx')).NewRequestPage),
  page('/orgs/:org/requests/rules', async () => (await import('../pages/requests/request-rules.tsx')).RequestRulesPage),
  page('/orgs/:org/requests/:id', async () => (await import('../pages/requests/request.tsx')).RequestPage),
  page('/orgs/:org/reviews', async () => (await import('../pages/reviews/reviews.tsx')).ReviewsPage),
  page('/orgs/:org/reviews/:id', async () => (await import('../pages/reviews/review.tsx')).ReviewPage),
  page('/orgs/:org/webhooks', webhooks),
  page('/orgs/:org/webhooks/:id', webhook),
  page('/orgs/:org/audit', async () => (await import('../pages/audit/org-audit.tsx')).OrgAuditPage),
  page('/admin', async () => (await import('../pages/admin/health.tsx')).HealthPage),
  page('/admin/users', async () => (await import('../pages/admin/users.tsx')).AdminUsersPage),
  page('/admin/users/:login', async () => (await import('../pages/admin/user.tsx')).AdminUserPage),
  page('/admin/orgs', async () => (await import('../pages/admin/orgs.tsx')).AdminOrgsPage),
  page('/admin/providers', async () => (await import('../pages/admin/providers.tsx')).ProvidersPage),
  page('/admin/providers/:provider', async () => (await import('../pages/admin/provider.tsx')).ProviderPage),
  page('/admin/webhooks', webhooks),
  page('/admin/webhooks/:id', webhook),
  page('/admin/audit', async () => (await import('../pages/admin/audit.tsx')).AdminAuditPage),
  page('/admin/deliveries', async () => (await import('../pages/marketplace/deliveries.tsx')).DeliveriesPage),
  page('/admin/deliveries/:id', async () => (await import('../pages/marketplace/delivery.tsx')).DeliveryPage),
  page('/admin/subscriptions', async () => (await import('../pages/marketplace/subscriptions.tsx')).SubscriptionsPage),
  page(
    '/admin/subscriptions/:id',
    async () => (await import('../pages/marketplace/subscription.tsx')).SubscriptionPage,
  ),
  page('/admin/installers', async () => (await import('../pages/marketplace/installers.tsx')).InstallersPage),
  page('/admin/installers/:id', async () => (await import('../pages/marketplace/installer.tsx')).InstallerPage),
  page('/admin/marketplace', async () => (await import('../pages/marketplace/marketplace.tsx')).MarketplacePage),
  page('/model', async () => (await import('../pages/model/model.tsx')).ModelPage),
  page('*', async () => (await import('../pages/home/nothing-here.tsx')).NothingHerePage),
];
