import type { Authz } from '../authz/authz.wiring.ts';
import type { Trials } from '../guardrails/trial.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { impactRoutes } from './impact.routes.ts';
import { createImpactStore } from './impact.store.ts';
import { createImpact } from './impact.ts';

/** What changes would do, before they are made. */
export function wireImpact(
  { db, room }: Infrastructure,
  { callers }: Identity,
  { graphs, names }: Authz,
  trials: Trials,
) {
  const { personNamed } = callers;
  const store = createImpactStore(db);
  const impact = createImpact({ graphs, store, names, limits: room.limits, personNamed, trials });
  return { mount: (scope: Scope) => impactRoutes(scope, impact) };
}
