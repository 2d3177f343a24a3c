import { readFileSync } from 'node:fs';
import { type Model, readModelJson } from '../../packages/rebac/src/rebac.ts';
import { PLATFORM } from '../changes/write.ts';
import { changesSinceRoutes } from '../history/changes-since.routes.ts';
import type { RelationOf } from '../history/logged-change.ts';
import { createPastStore } from '../history/past.store.ts';
import { createPast } from '../history/past.ts';
import type { Scope } from '../http/server.ts';
import { readId } from '../http/wire/schemas.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { RoleGrant } from './escalation.ts';
import { explainRoutes } from './explain/explain.routes.ts';
import { createExplainStore } from './explain/explain.store.ts';
import { createExplain } from './explain/explain.ts';
import type { Advice } from './explain/remedy.ts';
import { whoCanRoutes } from './explain/who-can.routes.ts';
import { createGraphStore } from './graphs.store.ts';
import { createGraphs } from './graphs.ts';
import { createJudge } from './judge.ts';
import { matrixRoutes } from './matrix/matrix.routes.ts';
import { createMatrixStore } from './matrix/matrix.store.ts';
import { createMatrix } from './matrix/matrix.ts';
import { userAccessRoutes } from './matrix/user-access.routes.ts';
import { createUserAccess } from './matrix/user-access.ts';
import { objectRoutes } from './objects.routes.ts';
import { createObjects } from './objects.ts';
import { wireOpenFga } from './openfga/openfga.wiring.ts';
import { createGivers } from './places/givers.ts';
import { createHeldPlaceStore } from './places/held-places.store.ts';
import { createHeldPlaces } from './places/held-places.ts';
import { PLATFORM_MODEL } from './platform.gen.ts';
import { createRelationStore } from './relations.store.ts';
import { createRelations } from './relations.ts';
import { createShownObjects } from './shown-objects.ts';
import { createTimeMachine } from './time-machine.ts';
import { createTokenReach } from './token-reach.ts';
import { createAccessUseStore } from './uses/access-uses.store.ts';
import { createAccessUses } from './uses/access-uses.ts';
import { createNotingJudge } from './uses/noting-judge.ts';
import { createVisibleClusters } from './visible-clusters.ts';
import { warmUp } from './warm-up.ts';

/** Maximum memory for the graphs in use. */
const GRAPH_BYTES = 256 * 1024 * 1024;
/** Maximum memory for graphs of past moments, each of which is kept for a minute. */
const PAST_BYTES = 64 * 1024 * 1024;

let platform: Promise<{ model: Model; modelText: string }> | undefined;

export type Authz = Awaited<ReturnType<typeof wireAuthz>>;

/** Who may do what. The catalog, which is known further up, has the permissions that a role can contain. */
export async function wireAuthz(infrastructure: Infrastructure, catalog: readonly RoleGrant[], relationOf: RelationOf) {
  const { config, db, revisions, metrics, baseUrl } = infrastructure;
  platform ??= readPlatform();
  const { model, modelText } = await platform;
  const graphStore = createGraphStore(db);
  const graphs = createGraphs(graphStore, revisions, model, GRAPH_BYTES);
  metrics.gauge('atrium_graph_bytes', 'Memory of the graphs in use.', graphs.bytes);
  const loads = 'Graphs that were read from the database and built.';
  metrics.counter('atrium_graphs_loaded_total', loads, () => graphs.counts.loads);
  const drops = 'Graphs that were dropped because all of them need too much memory.';
  metrics.counter('atrium_graphs_dropped_total', drops, () => graphs.counts.drops);
  const { OPENFGA_URL: url } = config;
  const openFga = url === undefined ? undefined : wireOpenFga(infrastructure, url, model, graphs);
  const quietJudge = openFga?.judge ?? createJudge(graphs);
  const uses = createAccessUses(createAccessUseStore(db));
  const judge = createNotingJudge(quietJudge, uses.note);
  const names = createExplainStore(db);
  const owners = createRelationStore(db);
  const heldPlaceStore = createHeldPlaceStore(db);
  const past = createPast({ store: createPastStore(db), present: graphs, model, relationOf, maxBytes: PAST_BYTES });
  const explain = createExplain(graphs, names, judge);
  const timeMachine = createTimeMachine(past, graphs, judge);
  return {
    model,
    modelText,
    graphs,
    judge,
    explain,
    /** As of a past moment, or now. */
    explainAt,
    /** The same, for what no request of a user needs. Nothing that it is asked counts as used. */
    quietJudge,
    uses,
    openFga,
    names,
    past,
    timeMachine,
    warmUp: () => warmUp(() => graphStore.load(PLATFORM), model, catalog),
    owners,
    relations: createRelations(judge, owners, readId, uses.note),
    visibleClusters: createVisibleClusters(judge),
    shownObjects: createShownObjects(judge),
    heldPlaces: createHeldPlaces(judge, graphs, heldPlaceStore, model),
    givers: createGivers(graphs, heldPlaceStore, model),
    mount(scope: Scope, advice: Advice): void {
      objectRoutes(scope, createObjects(judge), uses.note);
      const reachOf = createTokenReach(owners);
      explainRoutes(scope, { explainAt, timeMachine, ...advice, reachOf, noteUse: uses.note });
      whoCanRoutes(scope, { explainAt, timeMachine, reachOf, baseUrl });
      changesSinceRoutes(scope, past);
      userAccessRoutes(scope, createUserAccess(graphs, names, judge), past, timeMachine, baseUrl);
      matrixRoutes(scope, createMatrix(graphs, createMatrixStore(db, names), model), past, timeMachine);
    },
  };

  function explainAt(at: Date | undefined) {
    if (at === undefined) return explain;
    const then = past.graphsAt(at);
    return createExplain(then, names, judge, then);
  }
}

/** Takes longer than the rest of the wiring, so servers in one process share the model. Nothing changes it. */
async function readPlatform(): Promise<{ model: Model; modelText: string }> {
  const modelText = readFileSync(new URL('./platform.fga', import.meta.url), 'utf8');
  return { model: await readModelJson(PLATFORM_MODEL), modelText };
}
