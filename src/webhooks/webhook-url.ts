import { isIP } from 'node:net';
import { createAddressGuard } from '../base/outbound/guarded-agents.ts';

const MAX_URL = 2000;
/** Of a host that becomes a name. */
const MAX_HOST = 90;
/** Names that only a private network knows. */
const PRIVATE_NAME = /(?:^|\.)(?:local|localhost|internal|intranet|private|corp|home|lan|arpa|test|invalid)$/i;

export type WebhookAddresses = ReturnType<typeof createWebhookAddresses>;

/**
 * Where webhooks may be. The address that a name resolves to is checked at every connection; here is only what a URL
 * itself says.
 */
export function createWebhookAddresses(allowedNetworks: readonly string[]) {
  const isAllowed = createAddressGuard(allowedNetworks);
  const isOwn = createAddressGuard(allowedNetworks, false);
  return { faultIn, isPublic };

  /** What is wrong with a URL; undefined if nothing is. */
  function faultIn(text: string): string | undefined {
    if (text.length > MAX_URL) return `url must have at most ${MAX_URL} characters`;
    const url = URL.parse(text);
    if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'url must be an https URL';
    if (url.username !== '' || url.password !== '') return 'url must not contain a user or a password';
    if (url.hash !== '' || text.includes('#')) return 'url must not have a fragment';
    const host = hostOf(url);
    const isAddress = isIP(host) !== 0;
    if (url.protocol === 'http:') {
      if (allowedNetworks.length === 0 || (isAddress && !isOwn(host))) return 'url must be an https URL';
    }
    if (isAddress && !isAllowed(host)) return 'url must not be a private or reserved address';
    return undefined;
  }

  /** Whether details of a failed connection say nothing about a private network. */
  function isPublic(text: string): boolean {
    const host = hostOf(new URL(text));
    if (isIP(host) !== 0) return createAddressGuard([])(host);
    // A public name can lead into a network that is allowed.
    return allowedNetworks.length === 0 && host.includes('.') && !PRIVATE_NAME.test(host);
  }
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** What a webhook is called that was given no name. It leaves room for a number. */
export function nameFor(text: string): string {
  const url = URL.parse(text);
  const name = url ? hostOf(url).replace(/[^-.0-9A-Za-z]+/g, '-') : '';
  return name.slice(0, MAX_HOST).replace(/^[-.]+|[-.]+$/g, '') || 'webhook';
}

/** For the audit log: people put tokens into the query. */
export function withoutQuery(text: string): string {
  return text.split('?', 1)[0] ?? text;
}
