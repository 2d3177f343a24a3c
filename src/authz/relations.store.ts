import { OWNED_TYPES, type OwnedType } from '../changes/object-kinds.ts';
import { type Db, sql } from '../db/db.ts';
import type { OwnerStore } from './relations.ts';

const OWNER_OF = new Map(
  OWNED_TYPES.map(({ type, table, ownerColumn }) => [
    type,
    sql(`relations.${table}`, `select ${ownerColumn} as owner_id from ${table} where id = $1`),
  ]),
);

export function createOwnerStore(db: Db): OwnerStore {
  return { ownerOf };

  async function ownerOf(type: OwnedType, id: bigint): Promise<bigint | undefined> {
    const statement = OWNER_OF.get(type);
    if (statement === undefined) throw new Error(`objects of type ${type} have no owner`);
    const [row] = await db.query<{ owner_id: bigint }>(statement, [id]);
    return row?.owner_id;
  }
}
