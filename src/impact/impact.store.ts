import { type Db, sql } from '../db/db.ts';
import type { ImpactStore } from './impact.ts';

const TEAMS = sql('impact.teams', 'select id, name from team where organization_id = $1');
const ROLES = sql('impact.roles', 'select id, name, description from role where organization_id = $1');

export function createImpactStore(db: Db): ImpactStore {
  return {
    async names(organizationId) {
      const teams = await db.query<{ id: bigint; name: string }>(TEAMS, [organizationId]);
      const roles = await db.query<{ id: bigint; name: string; description: string }>(ROLES, [organizationId]);
      return { teams, roles };
    },
  };
}
