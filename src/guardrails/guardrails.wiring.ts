import type { Authz } from '../authz/authz.wiring.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { checkRoutes } from './checks.routes.ts';
import { createCheckStore } from './checks.store.ts';
import { createChecks } from './checks.ts';
import { createForbidding } from './forbidding.ts';
import { createGuardrailChecks } from './guardrail-check.ts';
import { guardrailRoutes } from './guardrails.routes.ts';
import { createGuardrailStore } from './guardrails.store.ts';
import { createGuardrails } from './guardrails.ts';
import { createWriteGuardStore } from './write-guard.store.ts';
import { createWriteGuard } from './write-guard.ts';

/** Maximum memory for the graphs that writers check guardrails in. */
const GRAPH_BYTES = 64 * 1024 * 1024;

export function wireGuardrails(infrastructure: Infrastructure, { model, graphs, judge, names }: Authz) {
  const { db, revisions, writeGuards, quotas } = infrastructure;
  const guardStore = createWriteGuardStore();
  writeGuards.push(createWriteGuard(guardStore, model, GRAPH_BYTES));
  const store = createGuardrailStore(db, revisions.write, quotas);
  const guardrails = createGuardrails({ store, graphs, names, judge, model, limits: quotas.limits });
  const living = async (userIds: readonly bigint[]) => await guardStore.living(db.query, userIds);
  const guardrailChecks = createGuardrailChecks({ store, living, names, graphs, model });
  const forbidding = createForbidding(guardrails, graphs, judge);
  return { guardrails, guardrailChecks, forbidding, mount };

  function mount(scope: Scope): void {
    guardrailRoutes(scope, guardrails);
    checkRoutes(scope, createChecks(graphs, createCheckStore(db), judge, model));
  }
}
