import Type, { type Static } from 'typebox';
import { writeLongListInPieces } from '../base/json.ts';
import { callerIn, callerOf, holdsIn, signedIn } from '../http/admission/access.ts';
import { type Scope, sendPieces } from '../http/server.ts';
import { choice, Descending, flag, pageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { ATTENTION_PHASES, PHASES } from './cluster.ts';
import { ClusterDetails, ClusterInfo, presentCluster, presentClusterDetails } from './cluster.view.ts';
import type { ClusterList, ClusterSearch } from './cluster-list.ts';

const MAX_LIMIT = 200;

const Filters = {
  name: Type.Optional(Type.String({ description: 'Only the cluster with exactly this name.' })),
  q: Type.Optional(
    Type.String({ description: 'Part of the name or display name, or at least the first 8 characters of the UID.' }),
  ),
  phase: choice(PHASES, 'Only clusters in this phase, as status.response.phase shows it.'),
  attention: Type.Optional(flag('If true, only clusters that need attention: NotReady, NotConnected or Lost.')),
  provider: Type.Optional(Type.String({ description: 'Only clusters of this provider, in any letter case.' })),
  sort: choice(
    ['name', 'heartbeat', 'nodes', 'created'],
    'Sort by name, last heartbeat, number of nodes or time of creation. By default, by ID.',
  ),
  order: Descending,
  ...pageQuery(MAX_LIMIT),
};
const OrgQuery = Type.Object(Filters);
const UserQuery = Type.Object({
  all: Type.Optional(flag('If true, lists every cluster that the caller may view.')),
  ...Filters,
});

export function clusterListRoutes(scope: Scope, list: ClusterList, baseUrl: () => string): void {
  scope.get(
    '/user/clusters',
    {
      config: { access: signedIn('user', 'as users', { limited: 'filtered' }) },
      schema: {
        summary: 'List the clusters of the caller; in pages only if page or limit is given',
        tags: ['user'],
        querystring: UserQuery,
        response: { 200: Type.Array(ClusterInfo) },
      },
    },
    async (request, reply) => {
      const { person, limits, robot } = callerOf(request);
      const { all, page: number, limit } = request.query;
      const page = number === undefined && limit === undefined ? undefined : readPage(request.query, MAX_LIMIT);
      const search = readSearch(request.query);
      // A robot owns nothing.
      const found = await (all === 'true' || robot
        ? list.visibleTo(person, search, page, limits)
        : list.ofOwner(person.id, search, page, limits));
      if (page) showPage(request, reply, baseUrl(), page, found);
      else reply.header('X-Total-Count', String(found.total));
      return sendPieces(
        reply,
        await writeLongListInPieces(found.items, (cluster) => presentCluster(cluster, search.now)),
      );
    },
  );

  scope.get(
    '/orgs/:org/clusters',
    {
      config: { access: holdsIn('view_clusters:org', 'organization', { limited: 'filtered' }) },
      schema: {
        summary: 'List the clusters of an organization',
        tags: ['clusters'],
        extension: true,
        params: Type.Object({ org: Type.String() }),
        querystring: OrgQuery,
        response: { 200: Type.Array(ClusterDetails) },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query, MAX_LIMIT);
      const search = readSearch(request.query);
      const caller = callerIn(request);
      const { total, items } = await list.ofOrganization(caller, caller.organization.id, search, page);
      showPage(request, reply, baseUrl(), page, total);
      return items.map((cluster) => presentClusterDetails(cluster, search.now));
    },
  );
}

/** The phases of the response are those of the same moment as the filter. */
function readSearch({ q = '', name, phase, attention, provider, sort, order }: Static<typeof OrgQuery>): ClusterSearch {
  const sorting = { orderBy: sort ?? ('id' as const), isDescending: order === 'desc' };
  const wanted = phase === undefined ? undefined : [phase];
  const phases = attention === 'true' ? ATTENTION_PHASES.filter((one) => wanted?.includes(one) ?? true) : wanted;
  return { name, text: q.trim(), phases, provider, now: new Date(), ...sorting };
}
