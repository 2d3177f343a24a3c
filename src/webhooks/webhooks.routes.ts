import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { PLATFORM } from '../changes/write.ts';
import { type Access, actorOf, anyone, callerOf, holdsIn, siteAdmin } from '../http/admission/access.ts';
import type { Allowance } from '../http/limits/allowance.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsentExcept } from '../http/wire/absent-fields.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { showEtag, unchanged } from '../http/wire/etag.ts';
import { choice, PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { NoBody, PathId, readId, readMoment } from '../http/wire/schemas.ts';
import { DELIVERY_STATES } from './webhook.ts';
import {
  DeliveryInfo,
  EditWebhookBody,
  KeysInfo,
  NewWebhookBody,
  presentAuditKey,
  presentDelivery,
  presentKey,
  presentTest,
  presentWebhook,
  QueuedInfo,
  SinceBody,
  TestInfo,
  WebhookInfo,
} from './webhook.view.ts';
import type { WebhookDeliveries } from './webhook-deliveries.ts';
import type { PublicKey, WebhookKeys } from './webhook-keys.ts';
import type { WebhookAddresses } from './webhook-url.ts';
import type { ShownWebhook, WebhookCaller, WebhookInput, Webhooks } from './webhooks.ts';

interface Parts {
  readonly webhooks: Webhooks;
  readonly deliveries: WebhookDeliveries;
  readonly addresses: WebhookAddresses;
  readonly tests: Allowance;
  readonly baseUrl: () => string;
}

/** The same calls for an organization and for the deployment. */
interface Place {
  readonly path: '/orgs/:org/webhooks' | '/admin/webhooks';
  readonly whose: string;
  readonly reading: Access;
  readonly changing: Access;
  readonly params: Readonly<Record<string, ReturnType<typeof Type.String>>>;
}

const PLACES: readonly Place[] = [
  {
    path: '/orgs/:org/webhooks',
    whose: 'of an organization',
    reading: holdsIn('edit:org', 'organization'),
    changing: holdsIn('edit:org', 'organization', { proven: true }),
    params: { org: Type.String() },
  },
  {
    path: '/admin/webhooks',
    whose: 'of the deployment',
    reading: siteAdmin('admin'),
    changing: siteAdmin('admin', { proven: true }),
    params: {},
  },
];
const TAGS = ['webhooks'];

type IdRequest = FastifyRequest<{ Params: { id: string } }>;

export function webhookRoutes(scope: Scope, parts: Parts): void {
  for (const place of PLACES) {
    listAndCreate(scope, place, parts);
    oneWebhook(scope, place, parts);
    deliveriesOfOne(scope, place, parts);
  }
}

function listAndCreate(scope: Scope, { path, whose, reading, changing, params }: Place, { webhooks }: Parts): void {
  scope.get(
    path,
    {
      config: { access: reading },
      schema: {
        ...{ tags: TAGS, extension: true, strictQuery: true, params: Type.Object(params) },
        summary: `List the webhooks ${whose}`,
        response: { 200: Type.Array(WebhookInfo) },
      },
    },
    async (request) => {
      const found = await webhooks.list(callerFor(request).ownerId);
      return found.map((webhook) => presentWebhook({ webhook }));
    },
  );

  scope.post(
    path,
    {
      config: { access: changing, creates: true },
      preValidation: dropAbsentExcept(['secret']),
      schema: {
        ...{ tags: TAGS, extension: true, strictQuery: true, params: Type.Object(params) },
        summary: `Create a webhook ${whose}`,
        body: NewWebhookBody,
        etag: true,
        response: { 201: WebhookInfo },
      },
    },
    async (request, reply) => {
      const caller = callerFor(request);
      const input = { ...inputOf(request.body), url: request.body.url };
      await createOnce(
        request,
        reply.code(201),
        (once) => webhooks.create(caller, input, once),
        (shown: ShownWebhook) => show(reply, shown),
      );
    },
  );
}

function oneWebhook(scope: Scope, { path, whose, reading, changing, params }: Place, { webhooks }: Parts): void {
  const common = { tags: TAGS, extension: true, strictQuery: true, params: Type.Object({ ...params, id: PathId }) };

  scope.get(
    `${path}/:id`,
    {
      config: { access: reading },
      schema: { ...common, summary: `Get a webhook ${whose}`, etag: true, response: { 200: WebhookInfo } },
    },
    async (request, reply) => {
      const webhook = await webhooks.get(callerFor(request).ownerId, idOf(request as IdRequest));
      return show(reply, { webhook });
    },
  );

  scope.patch(
    `${path}/:id`,
    {
      config: { access: changing },
      preValidation: dropAbsentExcept(['secret']),
      schema: {
        ...common,
        summary: `Change a webhook ${whose}; omitted fields stay unchanged`,
        body: EditWebhookBody,
        optionalBody: true,
        etag: true,
        ifMatch: true,
        response: { 200: WebhookInfo },
      },
    },
    async (request, reply) => {
      const caller = callerFor(request);
      const input = inputOf(request.body);
      return show(reply, await webhooks.update(caller, idOf(request as IdRequest), input, unchanged(request)));
    },
  );

  scope.delete(
    `${path}/:id`,
    {
      config: { access: changing },
      schema: { ...common, summary: `Delete a webhook ${whose}`, ifMatch: true, response: { 204: NoBody } },
    },
    async (request, reply) => {
      await webhooks.remove(callerFor(request), idOf(request as IdRequest), unchanged(request));
      return reply.code(204).send();
    },
  );
}

function deliveriesOfOne(scope: Scope, place: Place, { webhooks, deliveries, addresses, tests, baseUrl }: Parts): void {
  const { path, whose, reading, changing, params } = place;
  const common = { tags: TAGS, extension: true, strictQuery: true, params: Type.Object({ ...params, id: PathId }) };
  const webhookOf = (request: FastifyRequest) => webhooks.get(callerFor(request).ownerId, idOf(request as IdRequest));

  scope.post(
    `${path}/:id/test`,
    {
      config: { access: changing },
      schema: {
        ...common,
        summary: `Send a test message to a webhook ${whose} now, also if it is not active`,
        errors: [429],
        response: { 200: TestInfo },
      },
    },
    async (request) => {
      const webhook = await webhookOf(request);
      const [key, now] = [String(webhook.id), performance.now()];
      if (!tests.take(key, now)) {
        const message = 'a webhook can be tested ten times a minute';
        throw new AppError('limited', message, { retryAfter: tests.wait(key, now) });
      }
      const answer = await deliveries.test(webhook, callerOf(request).organization);
      return presentTest(answer, addresses.isPublic(webhook.url));
    },
  );

  scope.get(
    `${path}/:id/deliveries`,
    {
      config: { access: reading },
      schema: {
        ...common,
        summary: `List what was sent to a webhook ${whose}, or will be; newest first, of the last 30 days`,
        querystring: Type.Object({
          ...PageQuery,
          state: choice(DELIVERY_STATES, 'Only deliveries in this state.'),
        }),
        response: { 200: Type.Array(DeliveryInfo) },
      },
    },
    async (request, reply) => {
      const webhook = await webhookOf(request);
      const query = request.query as { page?: unknown; limit?: unknown; state?: (typeof DELIVERY_STATES)[number] };
      const page = readPage(query);
      const list = await deliveries.list(webhook, callerFor(request).creator, query.state, page);
      showPage(request, reply, baseUrl(), page, list);
      const isPublic = addresses.isPublic(webhook.url);
      return list.items.map((delivery) => presentDelivery(delivery, isPublic));
    },
  );

  scope.post(
    `${path}/:id/deliveries/:delivery/redeliver`,
    {
      config: { access: changing },
      schema: {
        ...common,
        summary: `Send an event to a webhook ${whose} again`,
        params: Type.Object({
          ...{ ...params, id: PathId },
          delivery: Type.String({ description: 'ID of the delivery.' }),
        }),
        errors: [409],
        response: { 202: DeliveryInfo },
      },
    },
    async (request, reply) => {
      const webhook = await webhookOf(request);
      const { delivery } = request.params as { delivery: string };
      const viewer = callerFor(request).creator;
      const queued = await deliveries.redeliver(webhook, viewer, readId(delivery.replace(/^dlv_/, ''), 'delivery ID'));
      return reply.code(202).send(presentDelivery(queued, addresses.isPublic(webhook.url)));
    },
  );

  scope.post(
    `${path}/:id/redeliver`,
    {
      config: { access: changing },
      schema: {
        ...common,
        summary: `Send all events since a time to a webhook ${whose} again`,
        body: SinceBody,
        errors: [409],
        response: { 202: QueuedInfo },
      },
    },
    async (request, reply) => {
      const webhook = await webhookOf(request);
      const since = readMoment((request.body as { since: string }).since, 'since');
      return reply.code(202).send({ queued: await deliveries.redeliverSince(webhook, since, new Date()) });
    },
  );
}

/** Outside /api/v1: what receivers verify signatures with that they share no secret for. */
export function webhookKeyRoutes(scope: Scope, keys: WebhookKeys, auditKey: PublicKey): void {
  scope.get(
    '/.well-known/webhook-keys',
    {
      config: { access: anyone },
      schema: {
        summary: 'Get the public keys that messages of webhooks and archives of the audit log are signed with',
        tags: TAGS,
        extension: true,
        response: { 200: KeysInfo },
      },
    },
    async () => ({ keys: [...(await keys.published()).map(presentKey), presentAuditKey(auditKey)] }),
  );
}

/** What happens to a webhook goes as far as the credential that it was made with. */
function callerFor(request: FastifyRequest): WebhookCaller {
  const { organization, person, robot, scopes, limits } = callerOf(request);
  if (limits !== undefined) {
    const message = 'a token that is limited to organizations or objects cannot use webhooks';
    throw new AppError('forbidden', message, { reason: 'token_limited' });
  }
  const creator = { id: person.id, name: robot?.name ?? person.login, scopes };
  return { ownerId: organization?.id ?? PLATFORM, creator, actor: actorOf(request) };
}

function idOf(request: IdRequest): bigint {
  return readId(request.params.id, 'webhook ID');
}

function inputOf(body: {
  readonly name?: string | null;
  readonly url?: string | null;
  readonly types?: string[] | null;
  readonly format?: string | null;
  readonly active?: boolean | null;
  readonly secret?: string | null;
}): WebhookInput {
  const { name, url, types, format, active, secret } = body;
  return {
    name: name ?? undefined,
    url: url ?? undefined,
    types: types ?? undefined,
    format: format ?? undefined,
    active: active ?? undefined,
    secret,
  };
}

function show(reply: FastifyReply, shown: ShownWebhook) {
  showEtag(reply, shown.webhook);
  return presentWebhook(shown);
}
