import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import { type Change, type Once, PLATFORM, type Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, sql, type TransactionQuery } from '../db/db.ts';
import { likeText } from '../db/like-text.ts';
import { nameConflictIn } from '../identity/account-names.store.ts';
import { nameKey } from '../identity/account-names.ts';
import { DETAILS, PERSON, type PersonRow, toPerson } from '../identity/person.rows.ts';
import { PROFILE, type ProfileRow, toProfile } from './profile.rows.ts';
import { createUserChanges } from './user-changes.store.ts';
import type { UserDraft, UserStore, VersionedPerson } from './users.ts';

type FoundRow = PersonRow & { id: bigint; version: number };

const EMAIL = 'left join email e on e.account_id = a.id and e.is_primary';
const PEOPLE = `from revision r join account a on a.kind = 'user' ${DETAILS}`;
const NAMED = `(a.name_key like $1 or lower(a.full_name) like $1)`;
const KNOWN = `(a.name_key like $1 or lower(a.full_name) like $1 or exists (
  select 1 from email s where s.account_id = a.id and s.address_key like $1))
  and ($2::text is null or case $2
    when 'admin' then a.is_admin
    when 'inactive' then not a.active
    when 'prohibited' then a.prohibit_login
    else a.active and not a.prohibit_login end)`;

const GET_PROFILE = sql(
  'users.profile',
  `select ${PROFILE} from account a ${EMAIL} where a.kind = 'user' and a.name_key = $1`,
);
const GET_PERSON = sql('users.person', `select ${PERSON}, a.version ${PEOPLE} and a.name_key = $1`);
// Selects the rows of the page first, so that details are read for those rows only.
const LIST_PROFILES = sql(
  'users.profiles',
  `select ${PROFILE} from (
     select * from account a where a.kind = 'user' and ${NAMED} order by a.id offset $2 limit $3
   ) a ${EMAIL} order by a.id`,
);
const FIND_PROFILE = sql(
  'users.profileWithId',
  `select ${PROFILE} from account a ${EMAIL} where a.kind = 'user' and a.id = $2 and ${NAMED}`,
);
const COUNT_PROFILES = sql(
  'users.countProfiles',
  `select count(*)::integer as total from account a where a.kind = 'user' and ${NAMED}`,
);
const LIST_PEOPLE = sql(
  'users.people',
  `select ${PERSON}, a.version from revision r join (
     select * from account a where a.kind = 'user' and ${KNOWN} order by a.id offset $3 limit $4
   ) a on true ${DETAILS} order by a.id`,
);
const COUNT_PEOPLE = sql(
  'users.countPeople',
  `select count(*)::integer as total from account a where a.kind = 'user' and ${KNOWN}`,
);

// Only site administrators create users, and they may give the name of a user whom they deleted to another one.
const RELEASE_NAME = sql('users.releaseName', `delete from reserved_name where name_key = $1 and kind = 'user'`);
const INSERT = sql(
  'users.insert',
  `insert into account (kind, name, full_name, password_hash, is_admin, active, prohibit_login)
   values ('user', $1, $2, $3, $4, $5, $6) returning id`,
);
const INSERT_EMAIL = sql(
  'users.insertEmail',
  'insert into email (account_id, address, verified, is_primary) values ($1, $2, true, true)',
);
const SET_LAST_LOGIN = sql('users.setLastLogin', 'update account set last_login_at = $2 where id = $1');
const ANY = sql('users.any', 'select exists (select 1 from account) as any');

export function createUserStore(db: Db, write: Write): UserStore {
  return {
    ...createUserChanges(write),

    async profile(name) {
      const [row] = await db.query<ProfileRow>(GET_PROFILE, [nameKey(name)]);
      return row && toProfile(row);
    },

    person: (name) => person(db.query, name),

    async profiles(text, { offset, limit }) {
      const pattern = likeText(text);
      const { total } = only(await db.query<{ total: number }>(COUNT_PROFILES, [pattern]));
      const rows = await db.query<ProfileRow>(LIST_PROFILES, [pattern, offset, limit]);
      return { items: rows.map(toProfile), total };
    },

    async profileWithId(id, text) {
      const [row] = await db.query<ProfileRow>(FIND_PROFILE, [likeText(text), id]);
      return row && toProfile(row);
    },

    async people(text, state, { offset, limit }) {
      const wanted = [likeText(text), state ?? null];
      const { total } = only(await db.query<{ total: number }>(COUNT_PEOPLE, wanted));
      const rows = await db.query<FoundRow>(LIST_PEOPLE, [...wanted, offset, limit]);
      return { items: rows.map(toPerson), total };
    },

    async anyAccount() {
      return only(await db.query<{ any: boolean }>(ANY)).any;
    },

    async setLastLogin(id, at) {
      await write(async (query, touch) => {
        await query(SET_LAST_LOGIN, [id, at]);
        touch({ kind: 'account', id });
      });
    },

    create,
  };

  async function create(draft: UserDraft, actor?: Actor, once?: Once<VersionedPerson>) {
    const { name } = draft;
    try {
      return await write(async (query, touch, record, keep) => {
        await query(RELEASE_NAME, [nameKey(name)]);
        const id = await insertUser({ query, touch, record }, draft, actor);
        const created = once && (await person(query, name));
        if (created) keep(created);
        return id;
      }, once);
    } catch (error) {
      const conflict = nameConflictIn(error);
      if (conflict !== undefined) return conflict;
      if (isUniqueViolation(error, 'email_address')) return 'email taken';
      throw error;
    }
  }
}

/** What a transaction hands to the parts of it that others write. */
export interface Transaction {
  readonly query: TransactionQuery;
  readonly touch: (change: Change) => void;
  readonly record: (entry: AuditEntry) => void;
}

/** Creates a user as a part of a transaction. Their address counts as verified. Throws if the name or it is taken. */
export async function insertUser({ query, touch, record }: Transaction, draft: UserDraft, actor?: Actor) {
  const { name, fullName, passwordHash, isAdmin, active, prohibitLogin } = draft;
  const { id } = only(
    await query<{ id: bigint }>(INSERT, [name, fullName, passwordHash, isAdmin, active, prohibitLogin]),
  );
  await query(INSERT_EMAIL, [id, draft.email]);
  touch({ kind: 'account', id });
  if (isAdmin) touch({ kind: 'platform', id: PLATFORM, organizationId: PLATFORM });
  const { passwordHash: _, ...after } = draft;
  if (actor) {
    const about = { organizationId: PLATFORM, action: 'user.create', objectType: 'user', objectId: id } as const;
    record({ actor, ...about, after: { ...after, hasPassword: passwordHash !== null } });
  }
  return id;
}

async function person(query: Query, name: string): Promise<VersionedPerson | undefined> {
  const [row] = await query<FoundRow>(GET_PERSON, [nameKey(name)]);
  return row && { person: toPerson(row), version: row.version };
}
