import type { Actor } from '../changes/audit-entry.ts';
import { principalOf } from '../changes/principal.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import { type Once, PLATFORM, type Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, sql } from '../db/db.ts';
import type { SealedColumn } from '../vault/rotation.ts';
import { toWebhook, WEBHOOK_COLUMNS, type WebhookRow } from './webhook.rows.ts';
import type { Webhook, WebhookDraft } from './webhook.ts';
import { withoutQuery } from './webhook-url.ts';
import type { SealedSecret, WebhookStore } from './webhooks.ts';

const SELECT = `select ${WEBHOOK_COLUMNS} from webhook w where w.owner_id = $1`;
const LIST = sql('webhooks.list', `${SELECT} order by w.id`);
const GET = sql('webhooks.get', `${SELECT} and w.id = $2`);
const LOCK = sql('webhooks.lock', `${SELECT} and w.id = $2 for update`);
const LOCK_OWNER = sql('webhooks.lockOwner', 'select id from account where id = $1 for key share');
const TAKEN = countTaken('webhooks.taken', 'webhook where owner_id = $1');
// What is added to the list takes turns, so the name stays free until it is used.
const FREE_NAME = sql(
  'webhooks.freeName',
  `select case when n = 1 then $2 else $2 || '-' || n end as name from generate_series(1, 10000) n
    where not exists (select 1 from webhook w where w.owner_id = $1
                         and lower(w.name) = lower(case when n = 1 then $2 else $2 || '-' || n end))
    order by n limit 1`,
);
const INSERT = sql(
  'webhooks.insert',
  `insert into webhook as w (uid, owner_id, organization_id, name, url, types, format, active, sealed, creator_id,
                             scopes, since_revision, made_revision)
   select $1, $2::bigint, nullif($2::bigint, 0), $3, $4, $5, $6, $7, $8, $9, $10, r.value, r.value from revision r
    where r.id = 1
   returning ${WEBHOOK_COLUMNS}`,
);
// A webhook that becomes active hears of what happens from then on. The secret before the present one signs for a day more.
const UPDATE = sql(
  'webhooks.update',
  `update webhook as w set name = $2, url = $3, types = $4, format = $5, active = $6, creator_id = $7, scopes = $8,
          sealed_before = case when $9::bytea is null then sealed_before else sealed end,
          before_until = case when $9::bytea is null then before_until else now() + interval '24 hours' end,
          sealed = coalesce($9::bytea, sealed),
          since_revision = case when $6 and not w.active then (select value from revision where id = 1)
                                else since_revision end,
          reset_reason = case when $6 and w.active then reset_reason end,
          disabled_reason = case when $6 then null else disabled_reason end,
          disabled_at = case when $6 then null else disabled_at end, is_untold = is_untold and not $6,
          updated_at = greatest(now(), updated_at), version = version + 1
    where w.id = $1 returning ${WEBHOOK_COLUMNS}`,
);
const DROP_QUEUE = sql(
  'webhooks.dropQueue',
  `update webhook_delivery set state = 'failed' where webhook_id = $1 and state = 'pending'`,
);
const DELETE = sql('webhooks.delete', 'delete from webhook where id = $1');

/** Where the sealed secrets are stored, for key rotation. The identity is that of `secretIdentity`. */
export const WEBHOOK_SECRETS: SealedColumn = {
  table: 'webhook',
  column: 'sealed',
  ownerId: 'owner_id',
  identity: `'webhook ' || t.uid`,
};
export const FORMER_WEBHOOK_SECRETS: SealedColumn = { ...WEBHOOK_SECRETS, column: 'sealed_before' };

export function createWebhookStore(db: Db, write: Write, quotas: Quotas): WebhookStore {
  return {
    async list(ownerId) {
      return (await db.query<WebhookRow>(LIST, [ownerId])).map(toWebhook);
    },

    get: (ownerId, id) => one(db.query, GET, ownerId, id),

    async secrets(ownerId, id) {
      const [row] = await db.query<WebhookRow>(GET, [ownerId, id]);
      return row && secretsOf(row);
    },

    async create({ ownerId, uid, draft, isNameGiven, creator, sealed }, actor, once?: Once<Webhook>) {
      return await unlessNameTaken(() =>
        write(async (query, touch, record, keep) => {
          if (ownerId !== PLATFORM && (await query(LOCK_OWNER, [ownerId])).length === 0) return undefined;
          await quotas.require(query, { limit: 'webhooksPerOrganization', ownerId, count: TAKEN });
          const name = isNameGiven ? draft.name : await freeName(query, ownerId, draft.name);
          const values = [uid, ownerId, name, draft.url, draft.types, draft.format, draft.active, sealed];
          const creation = [creator.id, creator.scopes];
          const made = toWebhook(only(await query<WebhookRow>(INSERT, [...values, ...creation])));
          touch(changeOf(made));
          record({ ...about(actor, made), action: 'webhook.create', after: stateOf(made) });
          keep(made);
          return made;
        }, once),
      );
    },

    async update(ownerId, id, decide, creator, sealed, actor) {
      return await unlessNameTaken(() =>
        write(async (query, touch, record) => {
          const [row] = await query<WebhookRow>(LOCK, [ownerId, id]);
          if (!row) return undefined;
          const current = toWebhook(row);
          const next = decide(current);
          const values = [id, next.name, next.url, next.types, next.format, next.active];
          const creation = [creator.id, creator.scopes, sealed ?? null];
          const updated = toWebhook(only(await query<WebhookRow>(UPDATE, [...values, ...creation])));
          if (!next.active) query.later(DROP_QUEUE, [id]);
          touch(changeOf(updated));
          const secret = sealed === undefined ? {} : { secret: 'changed' };
          const states = { before: stateOf(current), after: { ...stateOf(updated), ...secret } };
          record({ ...about(actor, updated), action: 'webhook.update', ...states });
          return updated;
        }),
      );
    },

    async remove(ownerId, id, decide, actor) {
      return await write(async (query, touch, record) => {
        const current = await one(query, LOCK, ownerId, id);
        if (!current) return false;
        decide(current);
        query.later(DELETE, [id]);
        touch(changeOf(current));
        record({ ...about(actor, current), action: 'webhook.delete', before: stateOf(current) });
        return true;
      });
    },
  };
}

async function one(query: Query, statement: typeof GET, ownerId: bigint, id: bigint): Promise<Webhook | undefined> {
  const [row] = await query<WebhookRow>(statement, [ownerId, id]);
  return row && toWebhook(row);
}

async function freeName(query: Query, ownerId: bigint, wanted: string): Promise<string> {
  return only(await query<{ name: string }>(FREE_NAME, [ownerId, wanted])).name;
}

async function unlessNameTaken<T>(work: () => Promise<T>): Promise<T | 'name taken'> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'webhook_name')) return 'name taken';
    throw error;
  }
}

/** Those that sign now. */
export function secretsOf(row: Pick<WebhookRow, 'sealed' | 'sealed_before' | 'before_until'>): SealedSecret[] {
  const before = row.sealed_before && row.before_until ? [{ sealed: row.sealed_before, until: row.before_until }] : [];
  return [{ sealed: row.sealed, until: null }, ...before];
}

export function changeOf({ id, ownerId }: Pick<Webhook, 'id' | 'ownerId'>) {
  return { kind: 'webhook', id, organizationId: ownerId === PLATFORM ? null : ownerId } as const;
}

export function about(actor: Actor, { id, ownerId }: Pick<Webhook, 'id' | 'ownerId'>) {
  return { actor, organizationId: ownerId, objectType: 'webhook', objectId: id };
}

export function stateOf({ name, url, types, format, active, creator }: WebhookDraft & Pick<Webhook, 'creator'>) {
  return {
    name,
    url: withoutQuery(url),
    types,
    format,
    active,
    createdBy: { ...principalOf(creator.id), name: creator.name },
  };
}
