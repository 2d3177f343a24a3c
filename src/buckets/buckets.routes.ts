import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { callerOf, signedIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsent } from '../http/wire/absent-fields.ts';
import { documentedSchema, named } from '../http/wire/schemas.ts';
import type { Buckets } from './buckets.ts';
import { CLOUD_NAMES } from './storage-account.ts';

const text = (description: string) => Type.Optional(Type.String({ maxLength: 500, description }));
const Options = named(
  'BucketQuery',
  Type.Object({
    credential: text('Name of the cloud credential. Without it, secret_namespace and secret_name are required.'),
    cloudC_project: text('Project to list, for clouds whose buckets belong to projects.'),
    cluster_uid: text('UID of the cluster that the request is about. Required.'),
    secret_namespace: text('Namespace of the secret in the cluster.'),
    secret_name: text('Name of the secret in the cluster that contains the keys.'),
    provider: text('Accepted but ignored: the path names the cloud.'),
  }),
);
const Names = named('BucketNames', Type.Object({ names: Type.Array(Type.String()) }));
const Cloud = Type.Object({
  cloud: documentedSchema(
    Type.String({ description: 'The cloud of the buckets, in any letter case. Use s3 for S3-compatible services.' }),
    { enum: CLOUD_NAMES },
  ),
});

interface BucketRequest {
  readonly params: Static<typeof Cloud>;
  readonly query: Static<typeof Options>;
  readonly body: Static<typeof Options>;
}

export function bucketRoutes(scope: Scope, buckets: Buckets): void {
  const schema = {
    tags: ['credentials'],
    params: Cloud,
    querystring: Options,
    body: Options,
    optionalBody: true,
    errors: [502],
    response: { 200: Names },
  };
  // The options may be in the query alone, without a body or with nothing but nulls and empty strings in it.
  const preValidation = [
    async (request: FastifyRequest) => {
      request.body ??= {};
    },
    dropAbsent(...Object.keys(Options.properties)),
  ];

  scope.get(
    '/user/clouds/:cloud/buckets',
    {
      config: { access: signedIn('credential', 'never') },
      schema: { ...schema, summary: 'List the buckets that a credential can see' },
      // The framework does not support HEAD with a body.
      exposeHeadRoute: false,
      preValidation,
    },
    async (request, reply) => answer(request, reply),
  );

  scope.post(
    '/user/clouds/:cloud/buckets',
    {
      config: { access: signedIn('credential', 'never', { level: 'read' }) },
      schema: {
        ...schema,
        summary: 'List the buckets that a credential can see, for clients that cannot send a body with GET',
        extension: true,
      },
      preValidation,
    },
    async (request, reply) => answer(request, reply),
  );

  async function answer(request: FastifyRequest & BucketRequest, reply: FastifyReply) {
    const options = { ...request.query, ...request.body };
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const names = await buckets.list(
      callerOf(request).person.id,
      request.params.cloud,
      {
        credential: options.credential,
        project: options.cloudC_project,
        clusterUid: options.cluster_uid,
        secretNamespace: options.secret_namespace,
        secretName: options.secret_name,
      },
      gone.signal,
    );
    return { names };
  }
}
