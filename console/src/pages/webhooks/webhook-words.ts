import type { Tone } from '../../parts/bits.tsx';
import type { Delivery, Webhook, WebhookState } from './webhook-place.ts';

interface Words {
  readonly label: string;
  readonly tone: Tone;
}

const DISABLED: Readonly<Record<string, string>> = {
  failing: 'Its receiver did not accept an event for three days.',
  gone: 'Its receiver answered 410, which means that it does not want to get events any more.',
  creator: 'Its events were what its creator may see, and the creator is not there any more.',
  restored: 'The deployment was restored from a backup.',
};
/** Characters of an address in a list. */
const MAX_SHOWN = 60;
const ERRORS: Readonly<Record<string, string>> = {
  timeout: 'no answer in time',
  connection: 'no connection',
  tls: 'no trusted connection',
  dns: 'unknown host',
  address_not_allowed: 'the address is not allowed',
};

export const DELIVERY_STATES: Readonly<Record<WebhookState, Words>> = {
  pending: { label: 'pending', tone: 'info' },
  delivered: { label: 'delivered', tone: 'ok' },
  failed: { label: 'failed', tone: 'bad' },
  withheld: { label: 'withheld', tone: 'warn' },
};

export function stateOf({ active, disabled_reason: why }: Webhook): Words {
  if (active) return { label: 'active', tone: 'ok' };
  return why === null ? { label: 'paused', tone: 'quiet' } : { label: 'disabled', tone: 'bad' };
}

/** Why the server disabled it. */
export function disabledWhy(reason: string): string {
  return DISABLED[reason] ?? reason;
}

/** What a receiver answered, or why it did not. */
export function answerInWords({ status, error }: Pick<Delivery['attempts'][number], 'status' | 'error'>): string {
  if (status !== null) return `answered ${status}`;
  return error === null ? 'accepted' : (ERRORS[error] ?? error);
}

/** What tells receivers apart in a list. The query may have a token. */
export function receiverOf(url: string): string {
  const shown = URL.canParse(url) ? new URL(url).host + new URL(url).pathname : url;
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown;
}

/** As fields have them: separated by commas or spaces. */
export function typesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((type) => type !== '');
}
