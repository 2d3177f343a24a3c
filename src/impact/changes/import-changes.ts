import { idOf } from '../../authz/object-ref.ts';
import { invalidField } from '../../base/errors.ts';
import { createYielder } from '../../base/scheduling/slices.ts';
import {
  type GuardrailPlan,
  planGuardrails,
  rejectUnallowedGuardrails,
  requireRoomForGuardrails,
} from '../../guardrails/guardrail-file.ts';
import { type RoleDocument, readDocument } from '../../roles/role-document.ts';
import { readRoles, rejectEscalations, requireRelations, requireWithinLimits } from '../../roles/role-file.ts';
import { planFor } from '../../roles/role-plan.ts';
import { readYaml } from '../../roles/role-yaml.ts';
import { inField, inFieldSoon } from './change-errors.ts';
import { type Changing, requireOn } from './changing.ts';
import type { ChangeOf } from './planned-change.ts';
import { withPermissions, withRelations } from './role-changes.ts';

export async function importRoles(changing: Changing, change: ChangeOf<'roles.import'>): Promise<void> {
  const { simulation, noted, limits, organizationName, now } = changing;
  const { document: text, prunes } = change;
  requireOn(changing, 'can_view_roles', 'view_roles:org');
  const { document, wanted } = await inFieldSoon('document', async () => {
    const read = await readDocument(await readYaml(Buffer.from(text)));
    if (read.assignments) {
      throw invalidField(
        'assignments',
        'a preview does not show what assignments do: leave them out, or use a dry run',
      );
    }
    return { document: read, wanted: await readRoles(read, organizationName, now) };
  });
  const held = simulation.held();
  const rules = document.guardrails && (await planRules(changing, document.guardrails, prunes));
  const teams = [...simulation.teams.values()];
  const names = new Map(teams.map(({ id, name }) => [id, name]));
  const roles = [...simulation.roles.values()].map((role) => ({
    ...withPermissions(role),
    teamNames: role.teamIds.map((id) => names.get(id) ?? ''),
    teamEnds: new Map([...role.teamExpiries].map(([id, end]) => [names.get(id) ?? '', end])),
  }));
  const present = { roles, teams };
  const plan = inField('document', () => planFor(present, wanted, prunes));
  requireRelations(plan, held);
  noted('document', () => rejectEscalations(plan, held));
  noted('document', () => requireWithinLimits(plan, present, limits));
  const yieldIfDue = createYielder();
  for (const { id } of plan.deletes) simulation.removeRole(id);
  for (const draft of plan.creates) {
    simulation.putRole(withRelations(draft));
    await yieldIfDue();
  }
  for (const { current, next } of plan.updates) {
    simulation.putRole(withRelations(next), current.id);
    await yieldIfDue();
  }
  if (rules) await changing.inspect(rules);
}

/** What the import would change of the guardrails. */
async function planRules(
  { simulation, check, readGuardrails, noted, limits }: Changing,
  wanted: NonNullable<RoleDocument['guardrails']>,
  prunes: boolean,
): Promise<GuardrailPlan> {
  const callerId = idOf(simulation.caller);
  const inputs = await readGuardrails(simulation.organizationId, callerId, wanted);
  const present = (await check?.present()) ?? { guardrails: [], names: new Map() };
  const plan = inField('document', () => planGuardrails(present, inputs, prunes));
  rejectUnallowedGuardrails(plan, simulation.held());
  noted('document', () => requireRoomForGuardrails(plan, present, limits));
  return plan;
}
