import type { Write } from '../changes/write.ts';
import { type Db, only, sql } from '../db/db.ts';
import type { SealedColumn } from '../vault/rotation.ts';
import { about, welcomeFactor } from './factors.store.ts';
import type { TotpStore } from './totp.ts';

interface StateRow {
  last_step: bigint;
  failures: number;
  blocked_until: Date | null;
}

const FIND = sql('totp.find', 'select id, sealed from totp where account_id = $1');
const DELETE = sql('totp.delete', 'delete from totp where account_id = $1');
const INSERT = sql('totp.insert', 'insert into totp (account_id, sealed, last_step) values ($1, $2, $3) returning id');
const LOCK = sql(
  'totp.lock',
  'select last_step, failures, blocked_until from totp where account_id = $1 and id = $2 for update',
);
const UPDATE = sql(
  'totp.update',
  `update totp set last_step = $2, failures = $3, blocked_until = $4,
          last_used_at = case when $2 > last_step then $5 else last_used_at end where account_id = $1`,
);

/** Where the sealed secrets are stored, for key rotation. */
export const TOTP_SECRETS: SealedColumn = {
  table: 'totp',
  column: 'sealed',
  ownerId: 'account_id',
  identity: `'authenticator app'`,
};

export function createTotpStore(db: Db, write: Write): TotpStore {
  return {
    async find(accountId) {
      const [row] = await db.query<{ id: bigint; sealed: Buffer }>(FIND, [accountId]);
      return row;
    },

    async set({ accountId, sealed, lastStep, recoveryHashes, keptSession }, actor) {
      return await write(async (query, touch, record) => {
        const isFirst = await welcomeFactor(query, accountId, recoveryHashes, keptSession);
        await query(DELETE, [accountId]);
        const { id } = only(await query<{ id: bigint }>(INSERT, [accountId, sealed, lastStep]));
        touch({ kind: 'account', id: accountId });
        record({ ...about(actor, accountId, 'factor.create', id), after: { kind: 'totp' } });
        return { isFirst };
      });
    },

    async attempt(accountId, id, decide, now, actor) {
      return await write(async (query, _touch, record) => {
        const [row] = await query<StateRow>(LOCK, [accountId, id]);
        if (!row) return undefined;
        const { failures, blocked_until: blockedUntil } = row;
        const state = { lastStep: Number(row.last_step), failures, blockedUntil };
        const next = decide(state);
        if (next === undefined) return state;
        await query(UPDATE, [accountId, next.lastStep, next.failures, next.blockedUntil, now]);
        if (next.failures > 0) {
          const after = { kind: 'totp', failures: next.failures, blockedUntil: next.blockedUntil };
          record({ ...about(actor, accountId, 'factor.reject', id), after });
        }
        return { ...state, blockedUntil: null };
      });
    },
  };
}
