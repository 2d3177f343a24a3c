import { type Db, sql } from '../db/db.ts';
import { ORGANIZATION, type OrganizationRow, toOrganization } from '../directory/profile.rows.ts';
import type { OrganizationReads } from './organizations.ts';

const WHERE = `o.kind = 'organization'`;
const ALL = sql(
  'administration.organizations',
  `select ${ORGANIZATION} from account o where ${WHERE} order by o.id offset $1 limit $2`,
);
const COUNT = sql(
  'administration.countOrganizations',
  `select count(*)::integer as total from account o where ${WHERE}`,
);
const SOME = sql(
  'administration.someOrganizations',
  `select ${ORGANIZATION} from account o where ${WHERE} and o.id = any($3::bigint[]) order by o.id offset $1 limit $2`,
);
const GET = sql('administration.organization', `select ${ORGANIZATION} from account o where ${WHERE} and o.id = $1`);

export function createOrganizationReads(db: Db): OrganizationReads {
  return {
    async list(among, { offset, limit }) {
      if (among !== 'all') {
        const rows = await db.query<OrganizationRow>(SOME, [offset, limit, among]);
        return { entries: rows.map(toOrganization), total: among.length };
      }
      const [counted] = await db.query<{ total: number }>(COUNT);
      const rows = await db.query<OrganizationRow>(ALL, [offset, limit]);
      return { entries: rows.map(toOrganization), total: counted?.total ?? 0 };
    },

    async get(id) {
      const [row] = await db.query<OrganizationRow>(GET, [id]);
      return row && toOrganization(row);
    },
  };
}
