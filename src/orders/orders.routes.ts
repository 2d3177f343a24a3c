import Type from 'typebox';
import { stringify } from 'yaml';
import { writeJson } from '../base/json.ts';
import { callerOf, signedIn } from '../http/access.ts';
import { createOnce } from '../http/create-once.ts';
import { maybe, media, timestamp } from '../http/schemas.ts';
import type { Scope } from '../http/server.ts';
import { type Manifest, manifestsOf } from './charts.ts';
import type { Order, OrderSpec, Orders } from './orders.ts';

const DnsName = Type.String({ minLength: 1, maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' });
const Step = Type.Object({
  op: Type.Enum(['add', 'remove', 'replace', 'move', 'copy', 'test']),
  path: Type.String(),
  from: maybe(Type.String()),
  value: Type.Optional(Type.Unknown()),
});
const Chart = Type.Object({
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
  values: maybe(Type.Object({})),
  valuesPatch: maybe(Type.Array(Step, { maxItems: 1000 })),
});
const NewOrder = Type.Object({
  spec: Type.Object({ items: maybe(Type.Array(Type.Object({ chart: Chart }))) }),
});
const OrderId = Type.Object({ id: Type.String() });
const YAML_TYPE = 'application/yaml; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

export function orderRoutes(scope: Scope, orders: Orders): void {
  const tags = ['user'];
  const config = { access: signedIn('user') };

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
        present,
      );
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
        response: { 200: media('application/yaml') },
      },
    },
    async (request, reply) => {
      const { charts } = await orders.get(callerOf(request).person.id, request.params.id);
      return reply.type(YAML_TYPE).send(charts.flatMap(manifestsOf).map(toYaml).join('---\n') as never);
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
        querystring: Type.Object({ format: Type.Optional(Type.String()), skipCRDs: Type.Optional(Type.String()) }),
        response: { 200: media('application/json', 'application/yaml') },
      },
    },
    async (request, reply) => {
      const { charts } = await orders.get(callerOf(request).person.id, request.params.id);
      const isYaml = request.query.format === 'yaml';
      const rendered = charts.map((chart) => ({
        chart: chart.name,
        releaseName: chart.releaseName,
        namespace: chart.namespace,
        crds: [],
        resources: manifestsOf(chart).map((manifest) => presentResource(manifest, isYaml)),
      }));
      if (isYaml) return reply.type(YAML_TYPE).send(toYaml(rendered) as never);
      return reply
        .type(JSON_TYPE)
        .serializer(writeJson)
        .send(rendered as never);
    },
  );
}

function present({ uid, name, spec, createdAt }: Order) {
  return {
    apiVersion: 'deploy.atrium.dev/v1',
    kind: 'Order',
    metadata: { uid, name, creationTimestamp: timestamp(createdAt) },
    spec,
    status: {},
  };
}

function presentResource(manifest: Manifest, isYaml: boolean) {
  const { namespace, name } = manifest.metadata;
  const filename = `${manifest.kind.toLowerCase()}-${name}.yaml`;
  return { filename, key: `${manifest.kind}/${namespace}/${name}`, data: isYaml ? toYaml(manifest) : manifest };
}

function toYaml(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
}
