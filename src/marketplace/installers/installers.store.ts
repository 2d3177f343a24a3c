import { PLATFORM, type Write } from '../../changes/write.ts';
import { type Query, sql } from '../../db/db.ts';
import { selectInstaller } from './installers.rows.ts';
import type { InstallerStore } from './installers.ts';
import { OPERATOR } from './operator-actor.ts';

const CREATE = sql(
  'installers.create',
  'insert into installer (id, marketplace, is_test, expires_at) values ($1, $2, $3, $4)',
);
const REVOKE = sql(
  'installers.revoke',
  `update installer set link_generation = link_generation + 1 where id = $1
   returning coalesce(organization_id, 0) as organization_id, link_generation`,
);

export function createInstallerStore(query: Query, write: Write): InstallerStore {
  return {
    async create({ id, marketplace, isTest, expiresAt }) {
      await write(async (ask, _touch, record) => {
        await ask(CREATE, [id, marketplace, isTest, expiresAt]);
        const after = { id: hint(id), marketplace, isTest, expiresAt };
        record({ ...OPERATOR, organizationId: PLATFORM, action: 'installer.create', after });
      });
    },
    get: (id) => selectInstaller(query, id),
    revokeLinks: (id) =>
      write(async (ask, _touch, record) => {
        const [row] = await ask<{ organization_id: bigint; link_generation: number }>(REVOKE, [id]);
        if (!row) return false;
        const after = { id: hint(id), linkGeneration: row.link_generation };
        record({ ...OPERATOR, organizationId: row.organization_id, action: 'installer.revoke', after });
        return true;
      }),
  };
}

/** Enough to find an installer again. The full ID is not recorded, because customers authenticate with it. */
function hint(id: string): string {
  return `${id.slice(0, 8)}…`;
}
