import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, sql } from '../db/db.ts';
import { useOnce } from '../identity/single-use.store.ts';
import { about, welcomeFactor } from './factors.store.ts';
import type { PasskeyStore } from './passkeys.ts';

interface KnownRow {
  credential_id: Buffer;
  transports: string[];
}

interface StoredRow {
  id: bigint;
  account_id: bigint;
  login: string;
  credential_id: Buffer;
  public_key: Buffer;
  counter: bigint;
  is_synced: boolean;
}

const KNOWN = sql('passkeys.known', 'select credential_id, transports from passkey where account_id = $1 order by id');
const BY_CREDENTIAL = sql(
  'passkeys.byCredential',
  `select p.id, p.account_id, a.name as login, p.credential_id, p.public_key, p.counter, p.is_synced
     from passkey p join account a on a.id = p.account_id where p.credential_id = $1`,
);
const TAKEN = countTaken('passkeys.taken', 'passkey where account_id = $1');
const INSERT = sql(
  'passkeys.insert',
  `insert into passkey (account_id, credential_id, public_key, counter, transports, is_synced, name, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8) returning id`,
);
// Only if the counter is still the one that the answer was compared with.
const USE = sql(
  'passkeys.use',
  'update passkey set counter = $3, is_synced = $4, last_used_at = $5 where id = $1 and counter = $2 returning id',
);

export function createPasskeyStore(db: Db, write: Write, quotas: Quotas): PasskeyStore {
  return {
    async known(accountId) {
      const rows = await db.query<KnownRow>(KNOWN, [accountId]);
      return rows.map(({ credential_id: credentialId, transports }) => ({ credentialId, transports }));
    },

    async byCredential(credentialId) {
      const [row] = await db.query<StoredRow>(BY_CREDENTIAL, [credentialId]);
      if (!row) return undefined;
      const { id, login, account_id: accountId, public_key: publicKey, counter, is_synced: isSynced } = row;
      return { id, login, accountId, credentialId: row.credential_id, publicKey, counter: Number(counter), isSynced };
    },

    async add(draft, { proof, recoveryHashes, keptSession, now }, actor) {
      const { accountId, credentialId, publicKey, counter, transports, isSynced, name } = draft;
      try {
        return await write(async (query, touch, record) => {
          if (!(await useOnce(query, proof))) return 'used';
          const isFirst = await welcomeFactor(query, accountId, recoveryHashes, keptSession);
          await quotas.require(query, { limit: 'passkeysPerUser', ownerId: accountId, count: TAKEN });
          const values = [accountId, credentialId, publicKey, counter, [...transports], isSynced, name, now];
          const { id } = only(await query<{ id: bigint }>(INSERT, values));
          touch({ kind: 'account', id: accountId });
          record({ ...about(actor, accountId, 'factor.create', id), after: { kind: 'passkey', name } });
          return { card: { id, name, isSynced, createdAt: now, lastUsedAt: null }, isFirst };
        });
      } catch (error) {
        if (isUniqueViolation(error, 'passkey_credential')) return 'taken';
        throw error;
      }
    },

    // Nothing that is remembered about the user changes, so no revision is taken.
    async use({ id, counter }, after, proof, now) {
      return await write(async (query) => {
        if (!(await useOnce(query, proof))) return false;
        return (await query(USE, [id, counter, after.counter, after.isSynced, now])).length > 0;
      });
    },
  };
}
