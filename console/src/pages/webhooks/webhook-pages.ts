/** One script for all pages of webhooks. */
export { WebhookPage } from './webhook.tsx';
export { WebhooksPage } from './webhooks.tsx';
