import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import { type Change, type Once, PLATFORM, type Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, type Statement, sql, type TransactionQuery } from '../db/db.ts';
import { likeText } from '../db/like-text.ts';
import { nameConflictIn } from '../identity/account-names/account-names.store.ts';
import { nameKey } from '../identity/account-names/account-names.ts';
import { DETAILS, PERSON, type PersonRow, toPerson } from '../identity/person.rows.ts';
import { type Counted, startOfPage } from './account-counts.store.ts';
import { countAccounts, type FindAccounts, findAccounts } from './found-accounts.store.ts';
import { PROFILE, type ProfileRow, toProfile } from './profile.rows.ts';
import { createUserChanges } from './user-changes.store.ts';
import { USER_STATES, type UserDraft, type UserState, type UserStore, type VersionedPerson } from './users.ts';

type FoundRow = PersonRow & { id: bigint; version: number };

const EMAIL = 'left join email e on e.account_id = a.id and e.is_primary';
const PEOPLE = `from revision r join account a on a.kind = 'user' ${DETAILS}`;
const NAMED = `(a.name_key like $1 or lower(a.full_name) like $1)`;
/** Users in a state, as a condition that the indexes of the few contain. */
const STATES: Readonly<Record<UserState, string>> = {
  active: 'a.active and not a.prohibit_login',
  inactive: 'not a.active',
  prohibited: 'a.prohibit_login',
  admin: 'a.is_admin',
};

const GET_PROFILE = sql(
  'users.profile',
  `select ${PROFILE} from account a ${EMAIL} where a.kind = 'user' and a.name_key = $1`,
);
const GET_PERSON = sql('users.person', `select ${PERSON}, a.version ${PEOPLE} and a.name_key = $1`);
// Selects the rows of the page first, so that details are read for those rows only.
const LIST_PROFILES = sql(
  'users.profiles',
  `select ${PROFILE} from (
     select * from account a where a.kind = 'user' and a.id >= $1 order by a.id offset $2 limit $3
   ) a ${EMAIL} order by a.id`,
);
const SOME_PROFILES = sql(
  'users.someProfiles',
  `select ${PROFILE} from account a ${EMAIL} where a.id = any($1::bigint[]) order by a.id`,
);
const FIND_PROFILES = findAccounts({ kind: 'user', name: 'users.findProfiles', where: 'true', hasEmails: false });
const FIND_PROFILE = sql(
  'users.profileWithId',
  `select ${PROFILE} from account a ${EMAIL} where a.kind = 'user' and a.id = $2 and ${NAMED}`,
);
const SOME_PEOPLE = sql(
  'users.somePeople',
  `select ${PERSON}, a.version from revision r join account a on a.id = any($1::bigint[]) ${DETAILS} order by a.id`,
);
/** Other searches have indexes of their own. */
const FEW: ReadonlySet<UserState | undefined> = new Set(['inactive', 'prohibited', 'admin'] as const);
const IN_STATE = Object.fromEntries(
  [...USER_STATES, undefined].map((state) => {
    const where = state === undefined ? 'true' : STATES[state];
    const name = `users.people.${state ?? 'any'}`;
    return [
      state ?? 'any',
      {
        find: findAccounts({ kind: 'user', name, where, hasEmails: true, isFew: FEW.has(state) }),
        count: countAccounts(`${name}.count`, `a.kind = 'user' and ${where}`),
        list: sql(
          name,
          `select ${PERSON}, a.version from revision r join (
           select * from account a where a.kind = 'user' and ${where} and a.id >= $1 order by a.id offset $2 limit $3
         ) a on true ${DETAILS} order by a.id`,
        ),
      },
    ];
  }),
) as Readonly<Record<UserState | 'any', StateStatements>>;
/** Of these, the numbers are kept. */
const COUNTED: Partial<Record<UserState | 'any', Counted>> = { any: 'users', active: 'able' };

interface StateStatements {
  readonly find: FindAccounts;
  readonly count: ReturnType<typeof countAccounts>;
  readonly list: Statement;
}

// Only site administrators create users, and they may give the name of a user whom they deleted to another one. No
// later account inherits what names an erased user, so that name is released on purpose or not at all.
const RELEASE_NAME = sql(
  'users.releaseName',
  `delete from reserved_name where name_key = $1 and kind = 'user'
   and not exists (select 1 from erasure where erasure.account_id = reserved_name.account_id)`,
);
const INSERT = sql(
  'users.insert',
  `insert into account (kind, name, full_name, password_hash, is_admin, active, prohibit_login)
   values ('user', $1, $2, $3, $4, $5, $6) returning id`,
);
const INSERT_EMAIL = sql(
  'users.insertEmail',
  'insert into email (account_id, address, verified, is_primary) values ($1, $2, $3, true)',
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

    person: (name) => personIn(db.query, name),

    async profiles(text, request) {
      if (text !== '') {
        const { ids, ...counted } = await FIND_PROFILES(db.query, text, request);
        return { items: (await db.query<ProfileRow>(SOME_PROFILES, [ids])).map(toProfile), ...counted };
      }
      const { total, firstId, skip } = await startOfPage(db.query, 'users', request.offset);
      const rows =
        firstId === undefined ? [] : await db.query<ProfileRow>(LIST_PROFILES, [firstId, skip, request.limit]);
      return { items: rows.map(toProfile), total };
    },

    async profileWithId(id, text) {
      const [row] = await db.query<ProfileRow>(FIND_PROFILE, [likeText(text), id]);
      return row && toProfile(row);
    },

    async people(text, state, request) {
      const { find, count, list } = IN_STATE[state ?? 'any'];
      if (text !== '') {
        const { ids, ...counted } = await find(db.query, text, request);
        return { items: (await db.query<FoundRow>(SOME_PEOPLE, [ids])).map(toPerson), ...counted };
      }
      const kept = COUNTED[state ?? 'any'];
      const { firstId, skip, ...counted } = kept
        ? await startOfPage(db.query, kept, request.offset)
        : { ...(await count(db.query)), firstId: 0n, skip: request.offset };
      const rows = firstId === undefined ? [] : await db.query<FoundRow>(list, [firstId, skip, request.limit]);
      return { items: rows.map(toPerson), ...counted };
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
        const created = once && (await personIn(query, name));
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

/** What a transaction hands to the parts of it that are in other files. */
export interface Transaction {
  readonly query: TransactionQuery;
  readonly touch: (change: Change) => void;
  readonly record: (entry: AuditEntry) => void;
}

/**
 * Creates a user as a part of a transaction. Throws if the name or the address is taken. Users who create themselves are
 * the actor, who has no ID before.
 */
export async function insertUser(
  { query, touch, record }: Transaction,
  draft: UserDraft,
  by?: Actor | ((id: bigint) => Actor),
) {
  const { name, fullName, passwordHash, isAdmin, active, prohibitLogin } = draft;
  const { id } = only(
    await query<{ id: bigint }>(INSERT, [name, fullName, passwordHash, isAdmin, active, prohibitLogin]),
  );
  await query(INSERT_EMAIL, [id, draft.email, draft.isVerified ?? true]);
  touch({ kind: 'account', id });
  if (isAdmin) touch({ kind: 'platform', id: PLATFORM, organizationId: PLATFORM });
  const { passwordHash: _, ...after } = draft;
  const actor = typeof by === 'function' ? by(id) : by;
  if (actor) {
    const about = { organizationId: PLATFORM, action: 'user.create', objectType: 'user', objectId: id } as const;
    record({ actor, ...about, after: { ...after, hasPassword: passwordHash !== null } });
  }
  return id;
}

export async function personIn(query: Query, name: string): Promise<VersionedPerson | undefined> {
  const [row] = await query<FoundRow>(GET_PERSON, [nameKey(name)]);
  return row && { person: toPerson(row), version: row.version };
}
