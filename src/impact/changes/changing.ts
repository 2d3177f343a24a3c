import { type RoleGrant, rejectEscalation } from '../../authz/escalation.ts';
import { type LimitName, type Limits, limitReached } from '../../base/config/limits.ts';
import { AppError, missingRelation } from '../../base/errors.ts';
import { RELATION_OF } from '../../changes/derived-tuples.ts';
import type { GuardrailCheck } from '../../guardrails/guardrail-check.ts';
import type { Permission } from '../../identity/callers.ts';
import { unknown } from '../../organizations/members.ts';
import { noTeam } from '../../organizations/teams.ts';
import type { GuardrailReader } from '../../roles/role-file.ts';
import type { TeamState } from '../../simulation/organization-state.ts';
import type { Simulation } from '../../simulation/simulation.ts';
import { errorIn } from './change-errors.ts';

export interface ChangeParts {
  readonly organizationName: string;
  readonly limits: Limits;
  readonly check: GuardrailCheck | undefined;
  readonly readGuardrails: GuardrailReader['read'];
  readonly personNamed: (name: string) => Promise<{ readonly id: bigint } | undefined>;
  /** The ID of an object of the organization that is called exactly so. */
  readonly objectNamed: (organizationId: bigint, type: string, name: string) => Promise<bigint | undefined>;
}

/** What the rules of a change work with. */
export interface Changing extends ChangeParts {
  readonly simulation: Simulation;
  readonly now: Date;
  /** Notes what the call of the change would reject in a field, if the rule throws that. */
  noted(field: string, rule: () => void): void;
  /** Whether something was noted about this change. */
  isNoted(): boolean;
  /** Asks the guardrails about what was changed, after each call that a change stands for. */
  inspect(plan?: Parameters<GuardrailCheck['rejected']>[1]): Promise<void>;
}

export function requireOn({ simulation }: Changing, relation: string, named: string): void {
  if (!simulation.holds(relation)) throw missingRelation(named);
}

/** A team that the caller may not see does not exist for them. */
export function teamWith(
  { simulation }: Changing,
  id: bigint,
  relation: string,
  named: string,
  field = 'id',
): TeamState {
  const team = simulation.teams.get(id);
  if (team && simulation.holds(relation, `team:${id}`)) return team;
  if (!team || !simulation.holds('can_view', `team:${id}`)) throw errorIn(field, noTeam());
  throw missingRelation(named);
}

export async function userNamed({ personNamed }: Changing, username: string, field = 'username'): Promise<string> {
  const person = await personNamed(username);
  if (!person) throw errorIn(field, unknown(username));
  return `user:${person.id}`;
}

export function rejectGrant({ simulation }: Changing, permission: Permission, roles: readonly RoleGrant[]): void {
  if (permission !== 'none' && !simulation.holds(RELATION_OF[permission])) {
    const message = `you cannot grant what you do not hold yourself: permission "${permission}"`;
    throw new AppError('forbidden', message, { reason: 'escalation' });
  }
  rejectEscalation(roles, simulation.held());
}

export function requireFewer({ limits }: Changing, count: number, limit: LimitName): void {
  if (count >= limits[limit]) throw limitReached(limit, limits[limit]);
}
