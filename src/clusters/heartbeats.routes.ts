import Type from 'typebox';
import { actorOf, callerOf, holdsOn, ownerIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { NoBody, named, PathId, readId } from '../http/wire/schemas.ts';
import type { AccessReports } from './access-reports.ts';
import { PHASES } from './cluster.ts';
import type { Heartbeats } from './heartbeats.ts';

const MAX_NODES = 1_000_000;

const Beat = named(
  'Heartbeat',
  Type.Object({
    phase: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: [...PHASES] })),
    reason: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    nodeCount: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_NODES })),
    orchestratorVersion: Type.Optional(Type.String()),
    endpoint: Type.Optional(
      Type.String({ description: 'The https address of the API server. Needs can_review on the cluster.' }),
    ),
    caBundle: Type.Optional(Type.String({ description: 'Its PEM certificates. Needs can_review on the cluster.' })),
  }),
);

export function heartbeatRoutes(scope: Scope, heartbeats: Heartbeats, reports: AccessReports): void {
  scope.post(
    '/clusters/:id/heartbeat',
    {
      config: { access: holdsOn('edit:cluster', 'organization', { robots: 'of the owner' }) },
      // A heartbeat without a body is valid.
      preValidation: async (request) => {
        request.body ??= {};
      },
      schema: {
        summary: 'Report that a cluster is alive; a robot account of its owner may also call this',
        tags: ['clusters'],
        extension: true,
        optionalBody: true,
        params: Type.Object({ id: PathId }),
        body: Beat,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const id = readId(request.params.id, 'cluster ID');
      const { endpoint, caBundle, ...beat } = request.body;
      const { person } = callerOf(request);
      const about = { ownerId: ownerIn(request), id };
      await reports.take(person.id, about, { endpoint, caBundle }, actorOf(request));
      await heartbeats.take(about.ownerId, id, beat, new Date(), actorOf(request));
      return reply.code(204).send();
    },
  );
}
