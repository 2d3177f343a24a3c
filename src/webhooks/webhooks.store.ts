import type { Actor } from '../changes/audit-entry.ts';
import { principalOf } from '../changes/principal.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import { type Once, PLATFORM, type Write } from '../changes/write.ts';
import { type Db, only, type Query, sql } from '../db/db.ts';
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
const INSERT = sql(
  'webhooks.insert',
  `insert into webhook as w (uid, owner_id, organization_id, url, types, format, active, sealed, creator_id,
                             scopes, since_revision, made_revision)
   select $1, $2::bigint, nullif($2::bigint, 0), $3, $4, $5, $6, $7, $8, $9, r.value, r.value from revision r
    where r.id = 1
   returning ${WEBHOOK_COLUMNS}`,
);
// A webhook that becomes active hears of what happens from then on. The secret before the present one signs for a day more.
const UPDATE = sql(
  'webhooks.update',
  `update webhook as w set url = $2, types = $3, format = $4, active = $5, creator_id = $6, scopes = $7,
          sealed_before = case when $8::bytea is null then sealed_before else sealed end,
          before_until = case when $8::bytea is null then before_until else now() + interval '24 hours' end,
          sealed = coalesce($8::bytea, sealed),
          since_revision = case when $5 and not w.active then (select value from revision where id = 1)
                                else since_revision end,
          reset_reason = case when $5 and w.active then reset_reason end,
          disabled_reason = case when $5 then null else disabled_reason end,
          disabled_at = case when $5 then null else disabled_at end, is_untold = is_untold and not $5,
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

    async create({ ownerId, uid, draft, creator, sealed }, actor, once?: Once<Webhook>) {
      return await write(async (query, touch, record, keep) => {
        if (ownerId !== PLATFORM && (await query(LOCK_OWNER, [ownerId])).length === 0) return undefined;
        await quotas.require(query, { limit: 'webhooksPerOrganization', ownerId, count: TAKEN });
        const values = [uid, ownerId, draft.url, draft.types, draft.format, draft.active, sealed];
        const creation = [creator.id, creator.scopes];
        const made = toWebhook(only(await query<WebhookRow>(INSERT, [...values, ...creation])));
        touch(changeOf(made));
        record({ ...about(actor, made), action: 'webhook.create', after: stateOf(made) });
        keep(made);
        return made;
      }, once);
    },

    async update(ownerId, id, decide, creator, sealed, actor) {
      return await write(async (query, touch, record) => {
        const [row] = await query<WebhookRow>(LOCK, [ownerId, id]);
        if (!row) return undefined;
        const current = toWebhook(row);
        const next = decide(current);
        const values = [id, next.url, next.types, next.format, next.active];
        const creation = [creator.id, creator.scopes, sealed ?? null];
        const updated = toWebhook(only(await query<WebhookRow>(UPDATE, [...values, ...creation])));
        if (!next.active) query.later(DROP_QUEUE, [id]);
        touch(changeOf(updated));
        const secret = sealed === undefined ? {} : { secret: 'changed' };
        const states = { before: stateOf(current), after: { ...stateOf(updated), ...secret } };
        record({ ...about(actor, updated), action: 'webhook.update', ...states });
        return updated;
      });
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

export function stateOf({ url, types, format, active, creator }: WebhookDraft & Pick<Webhook, 'creator'>) {
  return {
    name: withoutQuery(url),
    url: withoutQuery(url),
    types,
    format,
    active,
    createdBy: { ...principalOf(creator.id), name: creator.name },
  };
}
