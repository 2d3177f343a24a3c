import type { Authz } from '../authz/authz.wiring.ts';
import type { RoleGrant } from '../authz/escalation.ts';
import type { GuardrailChecks } from '../guardrails/guardrail-check.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createRemedies } from './remedies.ts';

/** Ways to get from no to yes, for explanations. */
export function wireRemedies(
  { quotas }: Infrastructure,
  { graphs, names, model, heldPlaces: held }: Authz,
  catalog: readonly RoleGrant[],
  checks: GuardrailChecks,
) {
  return createRemedies({ graphs, store: names, catalog, limits: quotas.limits, held, checks, model });
}
