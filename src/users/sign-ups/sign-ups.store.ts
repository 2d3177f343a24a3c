import type { Write } from '../../changes/write.ts';
import { type Db, isUniqueViolation, type Query, sql } from '../../db/db.ts';
import { nameConflictIn } from '../../identity/account-names/account-names.store.ts';
import { beginEmailPause } from '../emails/email-pause.store.ts';
import { insertUser, personIn } from '../users.store.ts';
import type { SignUpStore } from './sign-ups.ts';

const IS_TAKEN = sql('signUps.isTaken', 'select id from email where address_key = lower($1)');
const END_CODES = sql(
  'signUps.endCodes',
  'update sign_up_code set ended_at = now() where address_key = lower($1) and ended_at is null',
);
const INSERT = sql(
  'signUps.insert',
  `insert into sign_up_code (hash, address, expires_at) values ($1, $2, now() + interval '1 day')`,
);
const FIND = sql(
  'signUps.find',
  'select address, ended_at is null and expires_at > now() as is_open from sign_up_code where hash = $1',
);
// Of two requests with one code, the second waits for the first, and then finds the code ended.
const USE = sql(
  'signUps.use',
  `update sign_up_code set ended_at = now() where hash = $1 and ended_at is null and expires_at > now() returning address`,
);
const PRUNE = sql(
  'signUps.prune',
  `delete from sign_up_code where hash in (
     select hash from sign_up_code where expires_at < now() - interval '30 days' limit 100 for update skip locked)`,
);
const CONFIRM = sql('signUps.confirm', 'update email set confirmed_at = now() where account_id = $1');
export function createSignUpStore(db: Db, write: Write): SignUpStore {
  return {
    async takeTurn(address) {
      if (!(await beginEmailPause(db.query, 'sign-up', address))) return 'paused';
      return (await db.query(IS_TAKEN, [address])).length > 0 ? 'taken' : 'free';
    },

    async createCode(address, hash) {
      await db.query(END_CODES, [address]);
      await db.query(INSERT, [hash, address]);
      await db.query(PRUNE);
    },

    find: (hash) => find(db.query, hash),

    async create(hash, draft, actor) {
      try {
        return await write(async (query, touch, record) => {
          const [code] = await query<{ address: string }>(USE, [hash]);
          if (!code) return 'ended';
          const id = await insertUser({ query, touch, record }, { ...draft, email: code.address }, actor);
          await query(CONFIRM, [id]);
          const created = await personIn(query, draft.name);
          if (created === undefined) throw new Error('the account was not created');
          return created;
        });
      } catch (error) {
        // The transaction is undone, so the code can be used with another name.
        const conflict = nameConflictIn(error);
        if (conflict !== undefined) return conflict;
        if (isUniqueViolation(error, 'email_address')) return 'email taken';
        throw error;
      }
    },
  };
}

async function find(query: Query, hash: Buffer): Promise<{ address: string } | 'ended' | undefined> {
  const [code] = await query<{ address: string; is_open: boolean }>(FIND, [hash]);
  if (!code) return undefined;
  return code.is_open ? { address: code.address } : 'ended';
}
