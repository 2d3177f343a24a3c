import { type Db, only, type Query, sql } from '../db/db.ts';
import type { AuditStore } from './audit.ts';
import { createAuditSearch } from './audit-search.store.ts';

const ACCOUNT = sql('audit.account', 'select id from account where name_key = lower($1)');
const ROBOT_IN = sql('audit.robotIn', 'select id from robot where owner_id = $1 and name = $2');
const ROBOT_ANYWHERE = sql(
  'audit.robotAnywhere',
  'select r.id from account o join robot r on r.owner_id = o.id where o.name_key = lower($1) and r.name = $2',
);
// Each action is a range of an index, of which at most so many entries are read: a busy log has millions.
const counting = (organization: string) =>
  `select k.action, c.total as count from unnest($1::text[]) as k (action) cross join lateral (
     select count(*)::integer as total from (
       select 1 from audit a where ${organization}a.action = k.action and a.at >= $2::timestamptz limit $3) counted) c
    where c.total > 0`;
const COUNT_IN = sql('audit.countIn', counting('a.organization_id = $4 and '));
const COUNT_ALL = sql('audit.countAll', counting(''));

const ARCHIVED_IN = sql(
  'audit.archivedIn',
  `select max(before_at) as before, (array_agg(last_hash order by last_id desc))[1] as hash
     from audit_segment where organization_id = $1`,
);
const ARCHIVED = sql('audit.archived', 'select max(before_at) as before, null::bytea as hash from audit_segment');

const ADMINISTRATOR = sql(
  'audit.administrator',
  `select id from account where name_key = lower($1) and kind = 'user' and is_admin and active and not prohibit_login`,
);

/** Undefined if there is no such site administrator. */
export async function administratorNamed(query: Query, name: string): Promise<bigint | undefined> {
  return (await query<{ id: bigint }>(ADMINISTRATOR, [name]))[0]?.id;
}

export function createAuditStore(db: Db): AuditStore {
  return {
    async accountNamed(name) {
      return (await db.query<{ id: bigint }>(ACCOUNT, [name]))[0]?.id;
    },
    async robotNamed(organizationId, name) {
      const isWhole = organizationId === undefined || name.includes('/');
      const rows = await (isWhole
        ? db.query<{ id: bigint }>(ROBOT_ANYWHERE, partsOf(name))
        : db.query<{ id: bigint }>(ROBOT_IN, [organizationId, name]));
      return rows[0]?.id;
    },
    async archived(organizationId) {
      const [statement, values] = organizationId === undefined ? [ARCHIVED, []] : [ARCHIVED_IN, [organizationId]];
      const { before, hash } = only(await db.query<{ before: Date | null; hash: Buffer | null }>(statement, values));
      return before === null ? undefined : { before, lastHash: hash ?? undefined };
    },
    ...createAuditSearch(db),
    async countActions(organizationId, since, actions, most) {
      if (organizationId === undefined) return await db.query(COUNT_ALL, [actions, since, most]);
      return await db.query(COUNT_IN, [actions, since, most, organizationId]);
    },
  };
}

/** Organization and name of `acme/deploy`. Neither has a slash. */
function partsOf(name: string): [organization: string, robot: string] {
  const [organization = '', robot = ''] = name.split('/', 2);
  return [organization, robot];
}
