import { type Db, only, sql } from '../../db/db.ts';
import type { DeploymentStore } from './deployment.ts';

const FIND = sql(
  'deployment.find',
  `select count(*)::integer as administrators, (count(*) filter (where not has_factor))::integer as without,
          (select at from last_backup) as backup
     from account where is_admin and kind = 'user' and active and not prohibit_login`,
);

interface Row {
  administrators: number;
  without: number;
  backup: Date | null;
}

export function createDeploymentStore(db: Db): DeploymentStore {
  return {
    async find() {
      const { administrators, without, backup } = only(await db.query<Row>(FIND));
      return { administrators, administratorsWithoutFactor: without, lastBackupAt: backup };
    },
  };
}
