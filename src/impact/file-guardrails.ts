import type { Limits } from '../base/config/limits.ts';
import { planGuardrails, refuseUnallowedGuardrails, requireRoomForGuardrails } from '../guardrails/guardrail-file.ts';
import type { RoleDocument } from '../roles/role-document.ts';
import type { GuardrailReader } from '../roles/role-file.ts';
import { inField } from './change-faults.ts';
import type { Hypothesis } from './hypothesis.ts';
import type { Rehearsal } from './rehearsal.ts';

interface Parts {
  readonly world: Pick<Hypothesis, 'organizationId' | 'caller' | 'held'>;
  readonly rehearsal: Pick<Rehearsal, 'guardrails' | 'adopt'>;
  /** The guardrails of a file, as the caller may refer to what they name. */
  readonly readGuardrails: GuardrailReader['read'];
  readonly limits: Pick<Limits, 'guardrailsPerOrganization'>;
}

/** Changes guardrails as the import of a file would. Returns the check whether there is room for them. */
export async function adoptGuardrails(
  { world, rehearsal, readGuardrails, limits }: Parts,
  wanted: NonNullable<RoleDocument['guardrails']>,
  prunes: boolean,
): Promise<() => void> {
  const callerId = BigInt(world.caller.slice('user:'.length));
  const inputs = await readGuardrails(world.organizationId, callerId, wanted);
  const present = await rehearsal.guardrails();
  const plan = inField('document', () => planGuardrails(present, inputs, prunes));
  refuseUnallowedGuardrails(plan, world.held());
  rehearsal.adopt(plan);
  return () => requireRoomForGuardrails(plan, present, limits);
}
