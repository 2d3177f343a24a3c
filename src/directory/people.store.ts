import { type Db, isUniqueViolation, sql } from '../db/db.ts';
import type { Actor } from './audit.ts';
import type { Write } from './clock.ts';
import type { PeopleStore, PersonDraft } from './people.ts';

const INSERT = sql(
  'people.insert',
  `insert into account (kind, name, full_name, password_hash, is_admin, active, prohibit_login)
   values ('user', $1, $2, $3, $4, $5, $6) returning id`,
);
const INSERT_EMAIL = sql(
  'people.insertEmail',
  'insert into email (account_id, address, verified, is_primary) values ($1, $2, true, true)',
);
const SET_ACTIVE = sql(
  'people.setActive',
  `update account set active = $2, version = version + 1, updated_at = now() where id = $1 and kind = 'user' returning id`,
);
const SET_LAST_LOGIN = sql('people.setLastLogin', 'update account set last_login_at = $2 where id = $1');
const ANY = sql('people.any', 'select exists (select 1 from account) as any');

export function createPeopleStore(db: Db, write: Write): PeopleStore {
  return { create, setActive, setLastLogin, anyAccount };

  async function create(draft: PersonDraft, actor?: Actor) {
    try {
      return await write(async (query, touch, record) => {
        const [row] = await query<{ id: bigint }>(INSERT, [
          draft.name,
          draft.fullName,
          draft.passwordHash,
          draft.isAdmin,
          draft.active,
          draft.prohibitLogin,
        ]);
        const id = row?.id ?? 0n;
        await query(INSERT_EMAIL, [id, draft.email]);
        touch({ kind: 'account', id });
        if (draft.isAdmin) touch({ kind: 'platform', id: 0n, organizationId: 0n });
        const { passwordHash, ...after } = draft;
        if (actor) {
          const about = { organizationId: 0n, action: 'user.create', objectType: 'user', objectId: id };
          record({ actor, ...about, after: { ...after, hasPassword: passwordHash !== null } });
        }
        return id;
      });
    } catch (error) {
      if (isUniqueViolation(error, 'account_name')) return 'name taken';
      if (isUniqueViolation(error, 'email_address')) return 'email taken';
      throw error;
    }
  }

  async function setActive(id: bigint, active: boolean): Promise<boolean> {
    return await write(async (query, touch) => {
      const rows = await query(SET_ACTIVE, [id, active]);
      touch({ kind: 'account', id });
      return rows.length > 0;
    });
  }

  async function setLastLogin(id: bigint, at: Date): Promise<void> {
    await write(async (query, touch) => {
      await query(SET_LAST_LOGIN, [id, at]);
      touch({ kind: 'account', id });
    });
  }

  async function anyAccount(): Promise<boolean> {
    const [row] = await db.query<{ any: boolean }>(ANY);
    return row?.any ?? false;
  }
}
