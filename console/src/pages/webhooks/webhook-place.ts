import { useRoute } from 'preact-iso';
import type { Answer, Input, Item } from '../../../../client/client.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg, type WhyNotQuestion } from '../../data/org.ts';
import { type List, type Resource, useList, useResource } from '../../data/resource.ts';

export type Webhook = Answer<'GET /orgs/{org}/webhooks/{id}'>;
export type Delivery = Item<'GET /orgs/{org}/webhooks/{id}/deliveries'>;
export type WebhookState = Delivery['state'];
type NewWebhook = Input<'POST /orgs/{org}/webhooks'>['body'];
type Changes = NonNullable<Input<'PATCH /orgs/{org}/webhooks/{id}'>['body']>;

/** Whose webhooks a page is about: those of the organization in the address, or of the deployment. */
export interface Place {
  /** Undefined for the deployment. */
  readonly org: string | undefined;
  readonly within: string;
  readonly path: (id?: bigint) => string;
  /** Why the caller may not see them. */
  readonly question: WhyNotQuestion | undefined;
  readonly whyNot: (task: string) => WhyNotQuestion | undefined;
}

export function usePlace(): Place {
  const { question, whyNot } = useOrg();
  const { org } = useRoute().params;
  const root = org === undefined ? '/admin/webhooks' : orgPath(org, '/webhooks');
  return {
    org,
    within: org ?? 'Administration',
    path: (id) => (id === undefined ? root : `${root}/${id}`),
    question: org === undefined ? undefined : question('can_edit', 'see the webhooks'),
    whyNot: (task) => (org === undefined ? undefined : whyNot('can_edit', task)),
  };
}

export function useWebhooks(org: string | undefined): List<Webhook> {
  const site = useList(org === undefined ? 'GET /admin/webhooks' : undefined);
  const own = useList(org === undefined ? undefined : 'GET /orgs/{org}/webhooks', { path: { org: org ?? '' } });
  return org === undefined ? site : own;
}

export function useWebhook(org: string | undefined, id: string): Resource<Webhook> {
  const site = useResource(org === undefined ? 'GET /admin/webhooks/{id}' : undefined, { path: { id } });
  const own = useResource(org === undefined ? undefined : 'GET /orgs/{org}/webhooks/{id}', {
    path: { org: org ?? '', id },
  });
  return org === undefined ? site : own;
}

export function useDeliveries(org: string | undefined, id: bigint, state: string): List<Delivery> {
  const query = { limit: 50, ...(state !== '' && { state: state as WebhookState }) };
  const site = useList(org === undefined ? 'GET /admin/webhooks/{id}/deliveries' : undefined, { path: { id }, query });
  const own = useList(org === undefined ? undefined : 'GET /orgs/{org}/webhooks/{id}/deliveries', {
    path: { org: org ?? '', id },
    query,
  });
  return org === undefined ? site : own;
}

export function createWebhook(org: string | undefined, body: NewWebhook): Promise<Webhook> {
  if (org === undefined) return api.call('POST /admin/webhooks', { body });
  return api.call('POST /orgs/{org}/webhooks', { path: { org }, body });
}

/** The calls about one webhook. */
export function callsOf(org: string | undefined, id: bigint) {
  if (org === undefined) {
    const path = { id };
    return {
      update: (body: Changes, ifMatch?: string) => api.call('PATCH /admin/webhooks/{id}', { path, body, ifMatch }),
      remove: () => api.call('DELETE /admin/webhooks/{id}', { path }),
      test: () => api.call('POST /admin/webhooks/{id}/test', { path }),
      redeliver: (delivery: string) =>
        api.call('POST /admin/webhooks/{id}/deliveries/{delivery}/redeliver', { path: { id, delivery } }),
      redeliverSince: (since: string) => api.call('POST /admin/webhooks/{id}/redeliver', { path, body: { since } }),
    };
  }
  const path = { org, id };
  return {
    update: (body: Changes, ifMatch?: string) => api.call('PATCH /orgs/{org}/webhooks/{id}', { path, body, ifMatch }),
    remove: () => api.call('DELETE /orgs/{org}/webhooks/{id}', { path }),
    test: () => api.call('POST /orgs/{org}/webhooks/{id}/test', { path }),
    redeliver: (delivery: string) =>
      api.call('POST /orgs/{org}/webhooks/{id}/deliveries/{delivery}/redeliver', { path: { org, id, delivery } }),
    redeliverSince: (since: string) => api.call('POST /orgs/{org}/webhooks/{id}/redeliver', { path, body: { since } }),
  };
}
