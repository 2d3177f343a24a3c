import { DEFAULT_LIMITS } from '../../src/base/config/limits.ts';
import type { Db } from '../../src/db/db.ts';
import { statement } from '../../test/support/server/statement.ts';

/** bob and `mass1` are in every custom team of the organization; each of these is in this many. */
const BUSY_USERS = 50;
const BUSY_TEAMS = 41;
const LARGE_TEAMS = 20;

/** The members whose closure is as large as it can be. Needs the teams and users of `fillRoles`. */
export async function fillCrowd(db: Db, id: bigint, bob: bigint): Promise<void> {
  const run = (text: string, values: readonly unknown[]) => db.query(statement(text), values);
  const first = await db.query<{ id: bigint }>(statement(`select id from account where name = 'mass1'`), []);
  await run(
    `insert into team_member (team_id, account_id)
     select t.id, a.id from team t cross join unnest($2::bigint[]) a (id)
      where t.organization_id = $1 and t.type = 'custom' on conflict do nothing`,
    [id, `{${[bob, ...first.map((one) => one.id)].join()}}`],
  );
  await run(
    `insert into team_member (team_id, account_id)
     select t.id, a.id from generate_series(2, $2::integer) n
       join account a on a.name = 'mass' || n
       cross join lateral (select id from team where organization_id = $1 and type = 'custom'
                            order by id limit $3 offset n * 17) t
         on conflict do nothing`,
    [id, BUSY_USERS + 1, BUSY_TEAMS],
  );
}

/**
 * Roles on single clusters, as many as there may be: `mass1` to `mass20` have one on each of a thousand clusters. Needs the
 * clusters, too.
 */
export async function fillSingleAssignments(db: Db, id: bigint): Promise<void> {
  const { assignmentsPerOrganization: most, assignmentsPerPrincipal: each } = DEFAULT_LIMITS;
  await db.query(
    statement(`insert into assignment (organization_id, role_id, user_id, on_cluster_id)
     select $1, r.id, a.id, c.id
       from generate_series(1, $2::integer) n
       join account a on a.name = 'mass' || n
       cross join lateral (select id from role where organization_id = $1 order by id offset n limit 1) r
       cross join lateral (select id from cluster where owner_id = $1 order by id desc offset n * 37 limit $3) c`),
    [id, most / each, each],
  );
}

/** Adds so many users, each of whom is in the same twenty teams. */
export async function fillLargeTeams(db: Db, id: bigint, members: number): Promise<void> {
  await db.query(
    statement(`with made as (
       insert into account (kind, name) select 'user', 'large' || n from generate_series(1, $2::integer) n returning id)
     insert into team_member (team_id, account_id)
     select t.id, made.id from made cross join (
       (select id from team where organization_id = $1 and name = 'Viewers')
       union all (select id from team where organization_id = $1 and type = 'custom' order by id limit $3)) t`),
    [id, members, LARGE_TEAMS - 1],
  );
}

/**
 * Guardrails about any cluster or team, written past the API. None is enforced, so none rejects a write. What the server
 * remembers must be void afterwards.
 */
export async function fillGuardrails(
  db: Db,
  id: bigint,
  count = DEFAULT_LIMITS.guardrailsPerOrganization - 5,
): Promise<void> {
  await db.query(
    statement(`insert into guardrail (organization_id, name, name_key, kind, user_ids, relation, object_type, count, enforce)
     select $1, 'guard ' || n, 'guard ' || n, case n % 2 when 0 then 'never' else 'at_most' end,
            case n % 2 when 0 then array(select a.id from account a where a.name in ('mass1', 'mass2', 'mass3'))
                       else '{}'::bigint[] end,
            (array['can_view', 'can_edit', 'can_view', 'can_edit', 'can_connect'])[n % 5 + 1],
            case n % 5 when 0 then 'team' when 1 then 'team' else 'cluster' end,
            case n % 2 when 0 then null else n end, false
       from generate_series(1, $2::integer) n`),
    [id, count],
  );
  await db.query(statement('update revision set guardrails = gen_random_uuid()'));
}
