import type { Authz } from '../authz/authz.wiring.ts';
import type { GuardedType } from '../guardrails/guardrail.ts';
import type { GuardrailChecks } from '../guardrails/guardrail-check.ts';
import { createReferences } from '../guardrails/guardrails.store.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createSimulationStore } from '../simulation/simulation.store.ts';
import { openSimulation } from '../simulation/simulation.ts';
import { impactRoutes } from './impact.routes.ts';
import { createImpact, type OpenSimulation } from './impact.ts';
import { rolePreviewRoutes } from './role-preview.routes.ts';
import { createRolePreview } from './role-preview.ts';
import { createTokenCreators } from './token-creators.store.ts';

/** What changes would do, before they are made. */
export function wireImpact(
  { db, quotas: { limits } }: Infrastructure,
  { callers: { personNamed } }: Identity,
  { graphs, names, model }: Authz,
  { guardrails, guardrailChecks: checks }: { guardrails: Guardrails; guardrailChecks: GuardrailChecks },
) {
  const store = createSimulationStore(db);
  const open: OpenSimulation = (...whose) => openSimulation({ graphs, store, model }, ...whose);
  // Neither names nor end dates make a difference to who holds what now.
  const openUnnamed: OpenSimulation = (...whose) => openSimulation({ graphs, model }, ...whose);
  const references = createReferences(db);
  const objectNamed = async (organizationId: bigint, type: string, name: string) => {
    const found = await references.objects(organizationId, type as GuardedType, name);
    return found.find((one) => one.name === name)?.id;
  };
  const impact = createImpact({
    open,
    names,
    limits,
    personNamed,
    objectNamed,
    readGuardrails: guardrails.read,
    tokenCreators: createTokenCreators(db),
    checks,
  });
  return {
    impact,
    mount(scope: Scope): void {
      impactRoutes(scope, impact);
      rolePreviewRoutes(scope, createRolePreview(openUnnamed, names));
    },
  };
}
