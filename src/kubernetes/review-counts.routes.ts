import Type from 'typebox';
import type { Judge } from '../authz/judge.ts';
import { principalOf, subjectOfPrincipal } from '../changes/principal.ts';
import { callerOf, holdsOn, ownerIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { Int64, named, PathId, plainId, readId, Timestamp, timestamp } from '../http/wire/schemas.ts';
import type { ReviewCounts } from './review-counts.ts';

const ClusterReviews = named(
  'ClusterReviews',
  Type.Object({
    since: Type.Unsafe<string>({ ...Timestamp, description: 'Since when this server has counted.' }),
    allowed: Type.Integer({ description: 'Requests that were allowed.' }),
    refused: Type.Integer({ description: 'Requests that were not.' }),
    people: Type.Array(
      named(
        'ReviewCount',
        Type.Object({
          user: named(
            'ReviewedUser',
            Type.Object({
              type: Type.String({ enum: ['user', 'robot_ac'], description: 'A user or a robot.' }),
              id: Int64,
              name: Type.String({ description: 'The login, or the name of the robot.' }),
            }),
          ),
          allowed: Type.Integer({ description: 'Requests that were allowed.' }),
          refused: Type.Integer({ description: 'Requests that were not.' }),
          last_at: Type.Unsafe<string>({ ...Timestamp, description: 'When the last one came.' }),
        }),
      ),
      { description: 'Whose requests, the latest first. Empty for callers who may not view the members.' },
    ),
  }),
);

interface Parts {
  readonly counts: ReviewCounts;
  readonly judge: Pick<Judge, 'holds'>;
  readonly names: (objects: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

export function reviewCountRoutes(scope: Scope, { counts, judge, names }: Parts): void {
  scope.get(
    '/clusters/:id/reviews',
    {
      config: { access: holdsOn('view:cluster', 'organization') },
      schema: {
        summary: 'Count the requests in a cluster that were allowed and refused lately, by user',
        tags: ['kubernetes'],
        extension: true,
        strictQuery: true,
        params: Type.Object({ id: PathId }),
        response: { 200: ClusterReviews },
      },
    },
    async (request) => {
      const [ownerId, { person }] = [ownerIn(request), callerOf(request)];
      const found = counts.of(readId(request.params.id, 'cluster ID'));
      const organization = { type: 'organization', id: ownerId } as const;
      const seesMembers = await judge.holds(person.id, ownerId, 'can_view_members', organization);
      const shown = seesMembers ? found.counts : [];
      const named = await names(shown.map(({ personId }) => subjectOfPrincipal(personId)));
      const sum = (part: 'allowed' | 'refused') => found.counts.reduce((total, one) => total + one[part], 0);
      return {
        since: timestamp(found.since),
        allowed: sum('allowed'),
        refused: sum('refused'),
        people: shown.map(({ personId, allowed, refused, lastAt }) => {
          const { type, id } = principalOf(personId);
          const name = named.get(subjectOfPrincipal(personId)) ?? '';
          return { user: { type, id: plainId(id), name }, allowed, refused, last_at: timestamp(lastAt) };
        }),
      };
    },
  );
}
