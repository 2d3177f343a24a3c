import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';
import { actorOf, callerIn, callerOf, holdsIn, holdsOn, ownerIn, signedIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { showEtag, unchanged } from '../http/wire/etag.ts';
import { Int64Input, NoBody, named, PathId, readId, readIdNumber } from '../http/wire/schemas.ts';
import { ClusterInfo, GovernedCluster, presentCluster, presentGoverned } from './cluster.view.ts';
import { FIELDS, type Field, mapFields } from './cluster-fields.ts';
import type { ClusterInput, Clusters, EditableCluster } from './clusters.ts';
import { KUBERNETES_AUTHS, KUBERNETES_USERNAMES, type KubernetesInput } from './kubernetes-access.ts';

const MAX_ITEMS = 100;
const INPUTS: Readonly<Record<Field['kind'], (field: Field) => TSchema>> = {
  line: ({ description }) => Type.String(description === undefined ? {} : { description }),
  endpoint: () => Type.String(),
  id: () => Int64Input,
  count: ({ max }) => Type.Integer({ minimum: 0, ...(max !== undefined && { maximum: max }) }),
  flag: () => Type.Boolean(),
  lines: () => Type.Array(Type.String(), { maxItems: MAX_ITEMS }),
};
const EditCluster = named(
  'EditCluster',
  Type.Object({
    name: Type.Optional(Type.String()),
    uid: Type.Optional(Type.String({ description: 'UUID of its kube-system namespace. Cannot be changed.' })),
    ...(Object.fromEntries(FIELDS.map((field) => [field.wireName, Type.Optional(INPUTS[field.kind](field))])) as Record<
      string,
      TSchema
    >),
    caBundle: Type.Optional(
      Type.String({ description: 'PEM certificates that its API server is verified with, at most 64 KiB.' }),
    ),
    kubernetes: Type.Optional(
      Type.Object(
        {
          auth: Type.Optional(
            Type.Enum([...KUBERNETES_AUTHS], { description: 'Whether its API server asks, or an agent governs it.' }),
          ),
          username: Type.Optional(Type.Enum([...KUBERNETES_USERNAMES], { description: 'What bindings call users.' })),
          prefix: Type.Optional(Type.String({ description: 'What bindings have before each name.' })),
        },
        { description: 'Who governs what can be done inside it. Needs can_administer. Omitted members stay.' },
      ),
    ),
  }),
);
const ImportCluster = named(
  'NewCluster',
  Type.Object({ ...EditCluster.properties, name: Type.String(), uid: Type.String() }),
);
const ClusterId = Type.Object({ id: PathId });
const OrgPath = Type.Object({ org: Type.String() });

export function clusterRoutes(scope: Scope, clusters: Clusters): void {
  const common = { tags: ['clusters'], extension: true };

  scope.post(
    '/orgs/:org/clusters',
    {
      config: { access: holdsIn('import_clusters:org', 'organization'), creates: true },
      schema: {
        ...common,
        summary: 'Import a cluster into an organization',
        params: OrgPath,
        body: ImportCluster,
        etag: true,
        response: { 201: GovernedCluster },
      },
    },
    async (request, reply) => {
      const { id } = callerIn(request).organization;
      return await createOnce(
        request,
        reply.code(201),
        (once) => clusters.create(id, readInput(request.body), actorOf(request), once),
        (cluster: EditableCluster) => show(reply, cluster),
      );
    },
  );

  scope.post(
    '/user/clusters',
    {
      // What stands beside it, the list of the caller's own clusters, asks for the same scope.
      config: { access: signedIn('user', 'never'), creates: true },
      schema: {
        ...common,
        summary: 'Import a cluster for the caller',
        body: ImportCluster,
        etag: true,
        response: { 201: ClusterInfo },
      },
    },
    async (request, reply) => {
      const { id } = callerOf(request).person;
      return await createOnce(
        request,
        reply.code(201),
        (once) => clusters.create(id, readInput(request.body), actorOf(request), once),
        (cluster: EditableCluster) => {
          showEtag(reply, cluster);
          return presentCluster(cluster, new Date());
        },
      );
    },
  );

  scope.get(
    '/clusters/:id',
    {
      config: { access: holdsOn('view:cluster', 'organization') },
      schema: {
        ...common,
        summary: 'Get a cluster',
        params: ClusterId,
        etag: true,
        response: { 200: GovernedCluster },
      },
    },
    async (request, reply) => show(reply, await clusters.get(ownerIn(request), idOf(request))),
  );

  scope.patch(
    '/clusters/:id',
    {
      config: { access: holdsOn('edit:cluster', 'organization') },
      schema: {
        ...common,
        summary: 'Update a cluster; omitted fields stay unchanged',
        params: ClusterId,
        body: EditCluster,
        etag: true,
        ifMatch: true,
        response: { 200: GovernedCluster },
      },
    },
    async (request, reply) => {
      const about = [ownerIn(request), idOf(request)] as const;
      const input = readInput(request.body);
      return show(reply, await clusters.update(...about, input, unchanged(request), actorOf(request)));
    },
  );

  scope.delete(
    '/clusters/:id',
    {
      config: { access: holdsOn('remove:cluster', 'organization') },
      schema: { ...common, summary: 'Remove a cluster', params: ClusterId, ifMatch: true, response: { 204: NoBody } },
    },
    async (request, reply) => {
      await clusters.remove(ownerIn(request), idOf(request), unchanged(request), actorOf(request));
      return reply.code(204).send();
    },
  );
}

function idOf(request: FastifyRequest<{ Params: Static<typeof ClusterId> }>): bigint {
  return readId(request.params.id, 'cluster ID');
}

/** Fields that are only shown (IDs, owner, status, age) can be sent back and are ignored. */
function readInput<Body extends KubernetesInput & { readonly name?: string; readonly uid?: string }>(body: Body) {
  const { name, uid, caBundle, kubernetes } = body;
  const sent = body as Readonly<Record<string, unknown>>;
  return { ...mapFields((field) => readValue(field, sent[field.wireName])), name, uid, caBundle, kubernetes } as Omit<
    ClusterInput,
    keyof Body
  > &
    Pick<Body, 'name' | 'uid'>;
}

/** Validated by the schema: an ID is any JSON number, and 0 means none. */
function readValue({ kind }: Field, value: unknown): unknown {
  if (kind !== 'id' || value === undefined) return value;
  return value === 0 ? 0n : readIdNumber(value as number | bigint, 'manager ID');
}

function show(reply: FastifyReply, cluster: EditableCluster) {
  showEtag(reply, cluster);
  return presentGoverned(cluster, new Date());
}
