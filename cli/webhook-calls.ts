import type { NewWebhookInput } from '../client/api.gen.ts';
import type { Session } from './session.ts';

type Changes = Partial<NewWebhookInput>;
export type WebhookCalls = ReturnType<typeof webhookCalls>;
type State = 'pending' | 'delivered' | 'failed' | 'withheld';

/** The calls about webhooks of an organization, or about those of the deployment. */
export function webhookCalls(session: Session, isSite: boolean) {
  const client = session.client();
  if (isSite) {
    return {
      list: () => client.call('GET /admin/webhooks'),
      create: (body: NewWebhookInput) => client.call('POST /admin/webhooks', { body }),
      update: (id: bigint, body: Changes) => client.call('PATCH /admin/webhooks/{id}', { path: { id }, body }),
      remove: (id: bigint) => client.call('DELETE /admin/webhooks/{id}', { path: { id } }),
      test: (id: bigint) => client.call('POST /admin/webhooks/{id}/test', { path: { id } }),
      deliveries: (id: bigint, state: string | undefined) =>
        client.call('GET /admin/webhooks/{id}/deliveries', {
          path: { id },
          query: { limit: 50, state: state as State },
        }),
      redeliver: (id: bigint, delivery: string) =>
        client.call('POST /admin/webhooks/{id}/deliveries/{delivery}/redeliver', { path: { id, delivery } }),
      redeliverSince: (id: bigint, since: string) =>
        client.call('POST /admin/webhooks/{id}/redeliver', { path: { id }, body: { since } }),
    };
  }
  const org = session.org();
  return {
    list: () => client.call('GET /orgs/{org}/webhooks', { path: { org } }),
    create: (body: NewWebhookInput) => client.call('POST /orgs/{org}/webhooks', { path: { org }, body }),
    update: (id: bigint, body: Changes) => client.call('PATCH /orgs/{org}/webhooks/{id}', { path: { org, id }, body }),
    remove: (id: bigint) => client.call('DELETE /orgs/{org}/webhooks/{id}', { path: { org, id } }),
    test: (id: bigint) => client.call('POST /orgs/{org}/webhooks/{id}/test', { path: { org, id } }),
    deliveries: (id: bigint, state: string | undefined) =>
      client.call('GET /orgs/{org}/webhooks/{id}/deliveries', {
        path: { org, id },
        query: { limit: 50, state: state as State },
      }),
    redeliver: (id: bigint, delivery: string) =>
      client.call('POST /orgs/{org}/webhooks/{id}/deliveries/{delivery}/redeliver', { path: { org, id, delivery } }),
    redeliverSince: (id: bigint, since: string) =>
      client.call('POST /orgs/{org}/webhooks/{id}/redeliver', { path: { org, id }, body: { since } }),
  };
}
