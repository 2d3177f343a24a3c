import { type EmailMessage, oneLine } from '../base/mail/email-message.ts';
import type { Mailer } from '../base/mail/mailer.ts';
import type { DisabledReason } from './webhook.ts';
import { withoutQuery } from './webhook-url.ts';

/** A webhook that the server has disabled, and who is to know. */
export interface DisabledWebhook {
  readonly url: string;
  readonly reason: DisabledReason;
  /** Null if it is of the deployment. */
  readonly organization: string | null;
  /** Confirmed addresses of the owners of the organization, or of the site administrators, who can sign in. */
  readonly addresses: readonly string[];
}

export interface WebhookNoticeStore {
  /** Each that was disabled is claimed once, on one replica. */
  claim(): Promise<DisabledWebhook[]>;
}

const WHY: Readonly<Record<DisabledReason, string>> = {
  failing: 'Its receiver did not accept an event for three days.',
  gone: 'Its receiver answered 410, which means that it does not want to get events any more.',
  creator: 'Who created it, or changed it last, is not there any more, and its events were what they may see.',
  restored: 'The deployment was restored from a backup.',
};

/** Emails about webhooks that the server has disabled, one to each owner. */
export function createWebhookNotices(store: WebhookNoticeStore, mailer: Mailer, baseUrl: () => string) {
  return { send };

  async function send(): Promise<void> {
    for (const webhook of await store.claim()) {
      for (const to of webhook.addresses) await mailer.send(messageFor(to, webhook));
    }
  }

  function messageFor(to: string, { url, reason, organization }: DisabledWebhook): EmailMessage {
    const host = oneLine(new URL(url).host);
    const whose = organization === null ? 'the deployment' : `the organization ${organization}`;
    const page = organization === null ? 'admin/webhooks' : `orgs/${organization}/webhooks`;
    const role = organization === null ? 'you administer the site' : `you own the organization ${organization}`;
    return {
      to,
      subject: `A webhook to ${host} was disabled`,
      body: [
        `A webhook of ${whose} was disabled, and events are not sent to it any more:`,
        { items: [oneLine(withoutQuery(url))] },
        WHY[reason],
        'Once the receiver works again, activate the webhook. Then you can send it what it has missed again.',
        { label: 'Open the webhooks', link: `${baseUrl()}/${page}` },
      ],
      reason: `This email was sent because ${role}, on ${baseUrl()}.`,
    };
  }
}
