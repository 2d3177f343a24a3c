import type { Authz } from '../authz/authz.wiring.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';
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
  { guardrails, trials }: { readonly guardrails: Guardrails; readonly trials: Trials },
) {
  const { personNamed } = callers;
  const store = createImpactStore(db);
  const limits = room.limits;
  const { read: readGuardrails } = guardrails;
  const impact = createImpact({ graphs, store, names, limits, personNamed, readGuardrails, trials });
  return { mount: (scope: Scope) => impactRoutes(scope, impact) };
}
