import Type from 'typebox';
import type { Judge } from '../authz/judge.ts';
import { missingRelation } from '../base/errors.ts';
import type { EditableCluster } from '../clusters/clusters.ts';
import { callerOf, holdsOn, ownerIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { media, PathId, readId } from '../http/wire/schemas.ts';
import { kubeconfigOf } from './kubeconfig.ts';

interface Parts {
  readonly clusters: { get(ownerId: bigint, id: bigint): Promise<EditableCluster> };
  readonly judge: Pick<Judge, 'holds'>;
}

export function kubeconfigRoutes(scope: Scope, { clusters, judge }: Parts): void {
  scope.get(
    '/clusters/:id/kubeconfig',
    {
      config: { access: holdsOn('view:cluster', 'organization') },
      schema: {
        summary: 'Get the kubeconfig of a cluster; it has no secret in it. Needs can_connect, or its configuration',
        tags: ['kubernetes'],
        extension: true,
        strictQuery: true,
        params: Type.Object({ id: PathId }),
        errors: [409],
        response: { 200: media('application/yaml') },
      },
    },
    async (request, reply) => {
      const id = readId(request.params.id, 'cluster ID');
      const [ownerId, { person }] = [ownerIn(request), callerOf(request)];
      const object = { type: 'cluster', id } as const;
      const holds = (relation: string) => judge.holds(person.id, ownerId, relation, object);
      const isAllowed =
        (await holds('can_connect')) ||
        (await holds('can_view_orchestratorconfig')) ||
        // Those who connect in some namespaces need the file, too.
        (await holds('connect_in_namespaces'));
      if (!isAllowed) throw missingRelation('connect:cluster', '', { ownerId, ...object });
      const text = await kubeconfigOf(await clusters.get(ownerId, id));
      return reply.type('application/yaml; charset=utf-8').send(text as never);
    },
  );
}
