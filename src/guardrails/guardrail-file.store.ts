import { namesOf } from '../authz/explain/explain.store.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Work } from '../changes/write.ts';
import { type Query, sql } from '../db/db.ts';
import { GUARDRAIL_COLUMNS, type GuardrailRow, toGuardrail } from './guardrail.rows.ts';
import { type GuardrailPlan, type GuardrailsNow, namedInAll } from './guardrail-file.ts';
import {
  changeOf,
  deleteGuardrail,
  insertGuardrail,
  lockGuardrails,
  toState,
  updateGuardrail,
} from './guardrails.store.ts';

const ALL = sql(
  'guardrailFile.all',
  `select ${GUARDRAIL_COLUMNS} from guardrail g where g.organization_id = $1 order by g.name_key, g.id`,
);

/** With `isLocked`, no other transaction can change them until this one ends. */
export async function readGuardrails(query: Query, organizationId: bigint, isLocked: boolean): Promise<GuardrailsNow> {
  if (isLocked) await lockGuardrails(query, organizationId);
  const guardrails = (await query<GuardrailRow>(ALL, [organizationId])).map(toGuardrail);
  const names = guardrails.length === 0 ? new Map() : await namesOf(query, namedInAll(guardrails));
  return { guardrails, names };
}

type WorkParameters = Parameters<Work<void>>;

/** Writes what a plan says, as a part of a larger transaction. */
export async function applyGuardrails(
  [query, touch, record]: readonly [WorkParameters[0], WorkParameters[1], WorkParameters[2]],
  organizationId: bigint,
  { creates, updates, deletes }: GuardrailPlan,
  actor: Actor,
): Promise<void> {
  const about = { actor, organizationId, objectType: 'guardrail' };
  for (const one of deletes) {
    await deleteGuardrail(query, one.id);
    touch(changeOf(one));
    record({ ...about, action: 'guardrail.delete', objectId: one.id, before: toState(one) });
  }
  for (const { current, next } of updates) {
    const made = await updateGuardrail(query, current, next);
    touch(changeOf(made));
    const states = { before: toState(current), after: toState(made) };
    record({ ...about, action: 'guardrail.update', objectId: made.id, ...states });
  }
  for (const draft of creates) {
    const made = await insertGuardrail(query, organizationId, draft);
    touch(changeOf(made));
    record({ ...about, action: 'guardrail.create', objectId: made.id, after: toState(made) });
  }
}
