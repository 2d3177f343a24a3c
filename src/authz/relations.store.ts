import { OWNED_TYPES, type OwnedType } from '../changes/object-kinds.ts';
import { type Db, sql } from '../db/db.ts';
import type { OwnerStore } from './relations.ts';
import type { ReachStore } from './token-reach.ts';

const TOKEN_OWNER = sql('relations.token', 'select account_id as owner_id from token where id = $1');
const OWNER_OF = new Map<OwnedType | 'token', typeof TOKEN_OWNER>([
  ...OWNED_TYPES.map(
    ({ type, table, ownerColumn }) =>
      [type, sql(`relations.${table}`, `select ${ownerColumn} as owner_id from ${table} where id = $1`)] as const,
  ),
  ['token', TOKEN_OWNER],
]);

export function createRelationStore(db: Db): OwnerStore & ReachStore {
  return { ownerOf };

  async function ownerOf(type: OwnedType | 'token', id: bigint): Promise<bigint | undefined> {
    const statement = OWNER_OF.get(type);
    if (statement === undefined) throw new Error(`objects of type ${type} have no owner`);
    const [row] = await db.query<{ owner_id: bigint }>(statement, [id]);
    return row?.owner_id;
  }
}
