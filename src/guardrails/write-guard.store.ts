import { namesOf } from '../authz/explain/explain.store.ts';
import { readPatch, readSources, readTuples } from '../authz/graphs.store.ts';
import type { Moment } from '../changes/revision.ts';
import { type Change, PLATFORM, type Query } from '../changes/write.ts';
import { sql } from '../db/db.ts';
import { fromViolations, GUARDRAIL_COLUMNS, type GuardrailRow, toGuardrail, toViolations } from './guardrail.rows.ts';
import type { WriteGuardStore } from './write-guard.ts';

/** No other request sees the copy of the guard, so it can change in slices: a team can have fifty thousand members. */
const MAX_TUPLES = 200_000;
/** Of more than these, `readSources` reads none. */
const MAX_SOURCES = 4_000;

const GUARDRAILS = sql(
  'writeGuard.guardrails',
  `select ${GUARDRAIL_COLUMNS} from guardrail g where g.organization_id = any ($1::bigint[]) order by g.id`,
);
const NAMING = sql(
  'writeGuard.naming',
  `select organization_id from guardrail where user_ids && $1::bigint[]
   union select g.organization_id from guardrail g
           join team_member m on m.team_id = g.team_id where m.account_id = any ($1::bigint[])`,
);
const CONTINUES = sql(
  'writeGuard.continues',
  'select 1 as found from revision_stamp where revision = $1 and stamp = $2',
);
const CHANGED = sql(
  'writeGuard.changed',
  `select distinct kind, id from change where organization_id in ($1, ${PLATFORM}) and revision > $2
    limit ${MAX_SOURCES + 1}`,
);
const VIOLATIONS = sql('writeGuard.violations', 'select violations from guardrail_state where organization_id = $1');
const KEEP = sql(
  'writeGuard.keep',
  `insert into guardrail_state (organization_id, violations) values ($1, $2)
   on conflict (organization_id) do update set violations = excluded.violations`,
);
const FORGET = sql('writeGuard.forget', 'delete from guardrail_state where organization_id = $1');
// A robot is the negative of its ID.
const LIVING = sql(
  'writeGuard.living',
  `select id from account where kind = 'user' and id = any ($1::bigint[])
   union all select -id from robot where id in (select -one from unnest($1::bigint[]) as one where one < 0)`,
);

type Changed = Pick<Change, 'kind' | 'id'> & Record<string, unknown>;
type Stored = Parameters<typeof toViolations>[0];

export function createWriteGuardStore(): WriteGuardStore {
  return {
    async guardrails(query, organizationIds) {
      return (await query<GuardrailRow>(GUARDRAILS, [organizationIds])).map(toGuardrail);
    },

    async organizationsNaming(query, userIds) {
      const rows = await query<{ organization_id: bigint }>(NAMING, [userIds]);
      return rows.map((row) => row.organization_id);
    },

    load: readTuples,
    continues,

    async patch(written, organizationId, since) {
      const { query, revision, touched } = written;
      // If no other transaction has written since, what changed is known, and only that is asked for.
      const isNext = since.revision === revision - 1n;
      const patch = isNext ? undefined : await readPatch(query, organizationId, since);
      if (patch && !patch.isUseless) return patch;
      if (!(await continues(query, since))) return { sources: [], tuples: [], isUseless: true };
      const isOfIt = (one: Change) => one.organizationId === organizationId || one.organizationId === PLATFORM;
      const changes = isNext ? touched.filter(isOfIt) : await query<Changed>(CHANGED, [organizationId, since.revision]);
      return await readSources(query, organizationId, changes, MAX_TUPLES);
    },

    async violations(query, organizationId) {
      const [row] = await query<{ violations: Stored }>(VIOLATIONS, [organizationId]);
      return toViolations(row?.violations);
    },

    async keepViolations(query, organizationId, violations) {
      if (violations.size === 0) await query(FORGET, [organizationId]);
      else await query(KEEP, [organizationId, JSON.stringify(fromViolations(violations))]);
    },

    async living(query, userIds) {
      return (await query<{ id: bigint }>(LIVING, [userIds])).map((row) => row.id);
    },

    names: namesOf,
  };

  async function continues(query: Query, { revision, stamp }: Moment): Promise<boolean> {
    return (await query(CONTINUES, [revision, stamp])).length > 0;
  }
}
