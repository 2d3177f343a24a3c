import Type from 'typebox';
import { writeJson } from '../base/json.ts';
import { callerOf, signedIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { maybe, media, NoBody, named, shownAs, Timestamp, timestamp } from '../http/wire/schemas.ts';
import type { Order, OrderCard, OrderSpec, Orders } from './orders.ts';
import { renderManifests, renderResources, renderResourcesAsYaml } from './rendering.ts';

const API_VERSION = 'deploy.atrium.dev/v1';
const DnsName = Type.String({ minLength: 1, maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' });
const Step = named(
  'PatchStep',
  Type.Object({
    op: Type.Enum(['add', 'remove', 'replace', 'move', 'copy', 'test']),
    path: Type.String(),
    from: maybe(Type.String()),
    value: Type.Optional(Type.Unknown()),
  }),
);
const Chart = named(
  'ChartSelection',
  Type.Object({
    name: Type.String({ minLength: 1, maxLength: 253 }),
    sourceRef: Type.Object({
      apiGroup: maybe(Type.String()),
      kind: maybe(Type.String()),
      namespace: maybe(Type.String()),
      name: DnsName,
      url: maybe(Type.String({ pattern: '^(https?|oci)://' })),
    }),
    version: Type.String({ minLength: 1, maxLength: 100 }),
    releaseName: DnsName,
    namespace: DnsName,
    values: maybe(Type.Object({}, { additionalProperties: true })),
    valuesPatch: maybe(Type.Array(Step, { maxItems: 1000 })),
  }),
);
const NewOrder = named(
  'NewOrder',
  Type.Object({
    spec: Type.Object({ items: maybe(Type.Array(Type.Object({ chart: Chart }))) }),
  }),
);
const OrderId = Type.Object({ id: shownAs(Type.String(), { type: 'string', format: 'uuid' }) });
const ListedOrder = named(
  'Order',
  Type.Object({
    apiVersion: Type.String({ enum: [API_VERSION] }),
    kind: Type.String({ enum: ['Order'] }),
    metadata: Type.Object({ uid: Type.String({ format: 'uuid' }), name: Type.String(), creationTimestamp: Timestamp }),
  }),
);
/** Whatever else is sent counts as JSON, as clients of this API family expect. */
const RenderQuery = Type.Object({
  format: Type.Optional(
    shownAs(Type.String({ description: 'By default, JSON.' }), { type: 'string', enum: ['json', 'yaml'] }),
  ),
  skipCRDs: Type.Optional(
    Type.String({ description: 'Accepted but ignored: an order has no custom resource definitions.' }),
  ),
});
const YAML_TYPE = 'application/yaml; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

export function orderRoutes(scope: Scope, orders: Orders, baseUrl: () => string): void {
  const tags = ['user'];
  const config = { access: signedIn('user', 'never') };

  scope.get(
    '/user/deploy/orders',
    {
      config,
      schema: {
        summary: 'List your orders, newest first, without their charts and values',
        tags,
        extension: true,
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(ListedOrder) },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const { items, total } = await orders.list(callerOf(request).person.id, page);
      showPage(request, reply, baseUrl(), page, total);
      return items.map(presentCard);
    },
  );

  scope.post(
    '/user/deploy/orders',
    {
      config: { ...config, creates: true },
      schema: { summary: 'Create an order to deploy charts', tags, body: NewOrder, response: { 200: Type.Unknown() } },
    },
    async (request, reply) => {
      const { spec } = request.body;
      const wanted = { ...spec, items: spec.items ?? [] } as OrderSpec;
      return await createOnce(
        request,
        reply.type(JSON_TYPE).serializer(writeJson),
        (once) => orders.create(callerOf(request).person.id, wanted, once),
        (order: Order) => ({ ...presentCard(order), spec: order.spec, status: {} }),
      );
    },
  );

  scope.delete(
    '/user/deploy/orders/:id',
    {
      config,
      schema: { summary: 'Delete an order', tags, extension: true, params: OrderId, response: { 204: NoBody } },
    },
    async (request, reply) => {
      await orders.remove(callerOf(request).person.id, request.params.id);
      return reply.code(204).send();
    },
  );

  scope.get(
    '/user/deploy/orders/:id/render/manifest',
    {
      config,
      schema: {
        summary: 'Render the Flux manifests of an order as YAML',
        tags,
        params: OrderId,
        errors: [422],
        response: { 200: media('application/yaml') },
      },
    },
    async (request, reply) => {
      const { charts } = await orders.get(callerOf(request).person.id, request.params.id);
      return reply.type(YAML_TYPE).send(renderManifests(charts) as never);
    },
  );

  scope.get(
    '/user/deploy/orders/:id/render/resources',
    {
      config,
      schema: {
        summary: 'Render the resources of an order, chart by chart',
        tags,
        params: OrderId,
        querystring: RenderQuery,
        errors: [422],
        response: { 200: media('application/json', 'application/yaml') },
      },
    },
    async (request, reply) => {
      const { charts } = await orders.get(callerOf(request).person.id, request.params.id);
      if (request.query.format === 'yaml') return reply.type(YAML_TYPE).send(renderResourcesAsYaml(charts) as never);
      return reply
        .type(JSON_TYPE)
        .serializer(writeJson)
        .send(renderResources(charts) as never);
    },
  );
}

function presentCard({ uid, name, createdAt }: OrderCard) {
  return {
    apiVersion: API_VERSION,
    kind: 'Order',
    metadata: { uid, name, creationTimestamp: timestamp(createdAt) },
  };
}
