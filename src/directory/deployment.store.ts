import { type Db, sql } from '../db/db.ts';
import type { DeploymentStore } from './deployment.ts';

const ANSWERS = sql('deployment.answers', 'select 1 as answers');

export function createDeploymentStore(db: Db): DeploymentStore {
  return {
    async answers() {
      await db.query(ANSWERS);
    },
  };
}
