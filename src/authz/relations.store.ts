import { type Db, type Statement, sql } from '../db/db.ts';
import type { OwnedType, OwnerStore } from './relations.ts';

const OWNER_OF: Readonly<Record<OwnedType, Statement>> = {
  team: sql('relations.team', 'select organization_id as owner_id from team where id = $1'),
  cluster: sql('relations.cluster', 'select owner_id from cluster where id = $1'),
  contract: sql('relations.contract', 'select owner_id from contract where id = $1'),
  robot_ac: sql('relations.robot', 'select owner_id from robot where id = $1'),
};

export function createOwnerStore(db: Db): OwnerStore {
  return { ownerOf };

  async function ownerOf(type: OwnedType, id: bigint): Promise<bigint | undefined> {
    const [row] = await db.query<{ owner_id: bigint }>(OWNER_OF[type], [id]);
    return row?.owner_id;
  }
}
