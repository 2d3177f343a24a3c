import type { PageTable } from './page-table.ts';
import type { ADMINISTRATION_PATHS } from './paths.ts';

/** The pages of site administrators. */
export const ADMINISTRATION_PAGES: PageTable<(typeof ADMINISTRATION_PATHS)[number]> = {
  '/admin': async () => (await import('../pages/admin/health.tsx')).HealthPage,
  '/admin/users': async () => (await import('../pages/admin/users.tsx')).AdminUsersPage,
  '/admin/users/:login': async () => (await import('../pages/admin/user.tsx')).AdminUserPage,
  '/admin/orgs': async () => (await import('../pages/admin/orgs.tsx')).AdminOrgsPage,
  '/admin/providers': async () => (await import('../pages/admin/providers.tsx')).ProvidersPage,
  '/admin/providers/:provider': async () => (await import('../pages/admin/provider.tsx')).ProviderPage,
  '/admin/webhooks': async () => (await import('../pages/webhooks/webhook-pages.ts')).WebhooksPage,
  '/admin/webhooks/:id': async () => (await import('../pages/webhooks/webhook-pages.ts')).WebhookPage,
  '/admin/audit': async () => (await import('../pages/admin/audit.tsx')).AdminAuditPage,
  '/admin/deliveries': async () => (await import('../pages/marketplace/deliveries.tsx')).DeliveriesPage,
  '/admin/deliveries/:id': async () => (await import('../pages/marketplace/delivery.tsx')).DeliveryPage,
  '/admin/subscriptions': async () => (await import('../pages/marketplace/subscriptions.tsx')).SubscriptionsPage,
  '/admin/subscriptions/:id': async () => (await import('../pages/marketplace/subscription.tsx')).SubscriptionPage,
  '/admin/installers': async () => (await import('../pages/marketplace/installers.tsx')).InstallersPage,
  '/admin/installers/:id': async () => (await import('../pages/marketplace/installer.tsx')).InstallerPage,
  '/admin/marketplace': async () => (await import('../pages/marketplace/marketplace.tsx')).MarketplacePage,
};
