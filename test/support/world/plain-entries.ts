import { chainHash } from '../../../src/changes/audit-chain.store.ts';
import { sql } from '../../../src/db/db.ts';
import type { TestServer } from '../server/server.ts';
import { statement } from '../server/statement.ts';

const LAST = sql('test.lastEntry', 'select hash from audit where organization_id = $1 order by id desc limit 1');
const INSERT = sql(
  'test.plainEntry',
  `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, before, after, request_id,
                      previous_hash, hash, on_behalf_id, on_behalf_name)
   values ($1, $2, $3, $4, $5, $6, $7, $8::json, $9::json, $10, $11, $12, $13, $14) returning id`,
);

export interface PlainEntry {
  readonly organizationId: bigint;
  readonly actor: { readonly id: bigint; readonly name: string };
  readonly onBehalfOf?: { readonly id: bigint; readonly name: string };
  readonly action: string;
  readonly object: readonly [type: string, id: bigint];
  readonly before?: object;
  readonly after?: object;
}

/** Entries as earlier releases wrote them: names in clear text, under the hash. */
export async function writePlainEntries(
  { instance: { db } }: Pick<TestServer, 'instance'>,
  entries: readonly PlainEntry[],
) {
  const ids: bigint[] = [];
  for (const { organizationId, actor, onBehalfOf, action, object, before, after } of entries) {
    const [last] = await db.query<{ hash: Buffer }>(LAST, [organizationId]);
    const entry = {
      ...{ at: new Date(), organization_id: organizationId, actor_id: actor.id, actor_name: actor.name, action },
      ...{ object_type: object[0], object_id: object[1] },
      before: before ? JSON.stringify(before) : null,
      after: after ? JSON.stringify(after) : null,
      ...{ request_id: 'earlier', previous_hash: last?.hash ?? Buffer.alloc(32) },
      ...{ on_behalf_id: onBehalfOf?.id ?? null, on_behalf_name: onBehalfOf?.name ?? null, via: null },
    };
    const { via: _, ...columns } = entry;
    const { previous_hash: previous, on_behalf_id: behalf, on_behalf_name: behalfName, ...rest } = columns;
    const values = [...Object.values(rest), previous, chainHash(entry), behalf, behalfName];
    const [row] = await db.query<{ id: bigint }>(INSERT, values);
    if (row) ids.push(row.id);
  }
  await db.query(statement('update audit_plain set last_id = (select max(id) from audit)'));
  return ids;
}
