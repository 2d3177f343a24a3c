import { type Db, sql } from '../db/db.ts';
import { TEAM, type TeamRow, toTeam } from '../directory/profile.rows.ts';
import { likeText } from './like-text.ts';
import type { TeamReads } from './teams.ts';

const WHERE = 't.organization_id = $1 and t.name_key like $2';
const LIST = sql(
  'administration.teams',
  `select ${TEAM} from team t join account o on o.id = t.organization_id where ${WHERE}
    order by t.permission <> 'owner', t.name_key collate "C", t.id offset $3 limit $4`,
);
const COUNT = sql('administration.countTeams', `select count(*)::integer as total from team t where ${WHERE}`);
const GET = sql(
  'administration.team',
  `select ${TEAM} from team t join account o on o.id = t.organization_id where t.id = $1`,
);

export function createTeamReads(db: Db): TeamReads {
  return {
    async list(organizationId, text, { offset, limit }) {
      const [counted] = await db.query<{ total: number }>(COUNT, [organizationId, likeText(text)]);
      const rows = await db.query<TeamRow>(LIST, [organizationId, likeText(text), offset, limit]);
      return { entries: rows.map(toTeam), total: counted?.total ?? 0 };
    },

    async get(id) {
      const [row] = await db.query<TeamRow>(GET, [id]);
      return row && toTeam(row);
    },
  };
}
