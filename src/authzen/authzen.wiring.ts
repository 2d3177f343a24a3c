import type { Authz } from '../authz/authz.wiring.ts';
import { missingRelation } from '../base/errors.ts';
import { createSignedTexts } from '../base/signed-text.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { wireRequests } from '../requests/requests.wiring.ts';
import { createAskedThingStore } from './asked-things.store.ts';
import { type AuthzenCaller, createAskedThings } from './asked-things.ts';
import { authzenRoutes } from './authzen.routes.ts';
import { authzenDiscoveryRoutes } from './authzen-discovery.routes.ts';
import { createEntitySearch } from './entity-search.ts';
import { createEvaluations } from './evaluation.ts';
import { createPageTokens } from './page-tokens.ts';
import { requestTaskRoutes } from './request-tasks.routes.ts';
import { createRequestTasks } from './request-tasks.ts';
import { createSignedDenials } from './signed-denials.ts';
import { createVerdictView } from './verdict.view.ts';

type Requests = Pick<ReturnType<typeof wireRequests>, 'asking' | 'requests' | 'requestable' | 'mayBeAsked'>;

/** The Authorization API of AuthZEN, and its access request profile. */
export function wireAuthzen(
  { db, keys, revisions, baseUrl }: Infrastructure,
  { judge, graphs, explainAt, timeMachine, names, model, uses }: Authz,
  { asking, requests, requestable, mayBeAsked }: Requests,
) {
  const revision = () => revisions.latest;
  const robotNamed = names.robotNamed;
  const things = createAskedThings({ store: createAskedThingStore(db), judge, robotNamed, revision });
  const requireReader = ({ id, organization }: AuthzenCaller) =>
    timeMachine.requireReader({ personId: id, organizationId: organization.id, isAdmin: false });
  const evaluations = createEvaluations({
    ...{
      things,
      graphsAt: timeMachine.graphsAt,
      graphsNow: graphs.togetherNow,
      explainAt,
      requireReader,
      mayBeAsked,
      model,
      revision,
    },
    noteUse: uses.note,
  });
  const search = createEntitySearch({ things, evaluations, explainAt, requireMembers, requireReader });
  const denials = createSignedDenials(createSignedTexts(keys.derive('authzen denials')));
  const pages = createPageTokens(createSignedTexts(keys.derive('authzen pages')));
  const present = createVerdictView(denials, baseUrl);
  const tasks = createRequestTasks({ things, evaluations, denials, asking, requestable });
  return {
    things,
    evaluations,
    mount: (scope: Scope) => authzenRoutes(scope, { evaluations, search, pages, present, timeMachine }),
    mountRequests: (scope: Scope) => requestTaskRoutes(scope, { tasks, requests, baseUrl }),
    mountRoot: (scope: Scope) => authzenDiscoveryRoutes(scope, baseUrl),
  };

  async function requireMembers({ id, organization }: AuthzenCaller): Promise<void> {
    const object = { type: 'organization', id: organization.id } as const;
    if (!(await judge.holds(id, organization.id, 'can_view_members', object)))
      throw missingRelation('can_view_members');
  }
}
