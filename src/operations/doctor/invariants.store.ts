import { type Query, sql } from '../../db/db.ts';

/** What must hold in every deployment, although no constraint of the database says so. */
export interface Invariant {
  /** What is wrong with the rows that are found, after their number. */
  readonly wrong: string;
  readonly advice: string;
  /** Selects the `id` of each row that breaks it. */
  readonly text: string;
}

const RESTORE = 'This was changed outside the server: restore a backup, or undo the change.';
const kindOf = (table: string, column: string, kind: string) =>
  `select t.${column} as id from ${table} t join account a on a.id = t.${column} where a.kind <> '${kind}'`;

const INVARIANTS: readonly Invariant[] = [
  {
    wrong: 'organizations have no team of owners',
    advice: RESTORE,
    text: `select a.id from account a where a.kind = 'organization'
              and not exists (select 1 from team t where t.organization_id = a.id and t.permission = 'owner')`,
  },
  {
    wrong: 'teams belong to a user, not to an organization',
    advice: RESTORE,
    text: kindOf('team', 'organization_id', 'organization'),
  },
  {
    wrong: 'roles belong to a user, not to an organization',
    advice: RESTORE,
    text: kindOf('role', 'organization_id', 'organization'),
  },
  { wrong: 'members of teams are not users', advice: RESTORE, text: kindOf('team_member', 'account_id', 'user') },
  { wrong: 'sessions belong to an organization', advice: RESTORE, text: kindOf('session', 'account_id', 'user') },
  { wrong: 'addresses belong to an organization', advice: RESTORE, text: kindOf('email', 'account_id', 'user') },
  {
    wrong: 'roles are assigned to teams of other organizations',
    advice: RESTORE,
    text: `select r.id from assignment x join role r on r.id = x.role_id
             join team t on t.id in (x.team_id, x.to_team_id, x.on_team_id)
            where r.organization_id <> t.organization_id`,
  },
  {
    wrong: 'users have several primary addresses',
    advice: RESTORE,
    text: 'select account_id as id from email where is_primary group by account_id having count(*) > 1',
  },
  {
    wrong: 'of the last revisions have no changes: servers may trust outdated data',
    advice: 'Stop all servers. Restore a backup: only that moves the revisions ahead of what servers remember.',
    text: `select n.revision as id from revision r, generate_series(greatest(r.pruned, r.value - 1000) + 1, r.value) n (revision)
            where r.id = 1 and not exists (select 1 from change c where c.revision = n.revision)`,
  },
  {
    wrong: 'revisions have another stamp than was recorded: servers forget everything with each request',
    advice: 'Restart all servers after: update revision set value = value + 1, pruned = value + 1',
    text: `select r.value as id from revision r where r.id = 1
              and not exists (select 1 from revision_stamp s where s.revision = r.value and s.stamp = r.stamp)`,
  },
];

const SAMPLE = 5;

export interface Broken extends Pick<Invariant, 'wrong' | 'advice'> {
  readonly count: number;
  readonly ids: readonly bigint[];
}

/** How many there are, and a statement for each: one that cannot be read does not hide the others. */
export const INVARIANT_COUNT = INVARIANTS.length;

export async function brokenInvariants(query: Query): Promise<Broken[]> {
  const broken: Broken[] = [];
  for (const [at, { wrong, advice, text }] of INVARIANTS.entries()) {
    const statement = sql(
      `doctor.invariant${at}`,
      `select count(*)::int as count, (array_agg(id order by id))[1:${SAMPLE}]::text[] as ids from (${text}) found`,
    );
    const [row] = await query<{ count: number; ids: string[] | null }>(statement);
    if (row && row.count > 0) broken.push({ wrong, advice, count: row.count, ids: (row.ids ?? []).map(BigInt) });
  }
  return broken;
}
