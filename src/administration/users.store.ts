import { type Db, sql } from '../db/db.ts';
import { nameKey } from '../directory/names.ts';
import { DETAILS, PERSON, type PersonRow, toPerson } from '../directory/person.rows.ts';
import { PROFILE, type ProfileRow, toProfile } from '../directory/profile.rows.ts';
import { likeText } from './like-text.ts';
import type { UserReads } from './users.ts';

type FoundRow = PersonRow & { id: bigint; version: number };

const EMAIL = 'left join email e on e.account_id = a.id and e.is_primary';
const PEOPLE = `from revision r join account a on a.kind = 'user' ${DETAILS}`;
const NAMED = `(a.name_key like $1 or lower(a.full_name) like $1)`;
const KNOWN = `(a.name_key like $1 or lower(a.full_name) like $1 or exists (
  select 1 from email s where s.account_id = a.id and s.address_key like $1))`;

const GET_PROFILE = sql(
  'administration.profile',
  `select ${PROFILE} from account a ${EMAIL} where a.kind = 'user' and a.name_key = $1`,
);
const GET_PERSON = sql('administration.person', `select ${PERSON}, a.version ${PEOPLE} and a.name_key = $1`);
// The page first: what belongs to a person is gathered for those on it alone.
const LIST_PROFILES = sql(
  'administration.profiles',
  `select ${PROFILE} from (
     select * from account a where a.kind = 'user' and ${NAMED} order by a.id offset $2 limit $3
   ) a ${EMAIL} order by a.id`,
);
const COUNT_PROFILES = sql(
  'administration.countProfiles',
  `select count(*)::integer as total from account a where a.kind = 'user' and ${NAMED}`,
);
const LIST_PEOPLE = sql(
  'administration.people',
  `select ${PERSON}, a.version from revision r join (
     select * from account a where a.kind = 'user' and ${KNOWN} order by a.id offset $2 limit $3
   ) a on true ${DETAILS} order by a.id`,
);
const COUNT_PEOPLE = sql(
  'administration.countPeople',
  `select count(*)::integer as total from account a where a.kind = 'user' and ${KNOWN}`,
);

export function createUserReads(db: Db): UserReads {
  return {
    async profile(name) {
      const [row] = await db.query<ProfileRow>(GET_PROFILE, [nameKey(name)]);
      return row && toProfile(row);
    },

    async person(name) {
      const [row] = await db.query<FoundRow>(GET_PERSON, [nameKey(name)]);
      return row && { person: toPerson(row), version: row.version };
    },

    async profiles(text, { offset, limit }) {
      const pattern = likeText(text);
      const [counted] = await db.query<{ total: number }>(COUNT_PROFILES, [pattern]);
      const rows = await db.query<ProfileRow>(LIST_PROFILES, [pattern, offset, limit]);
      return { entries: rows.map(toProfile), total: counted?.total ?? 0 };
    },

    async people(text, { offset, limit }) {
      const pattern = likeText(text);
      const [counted] = await db.query<{ total: number }>(COUNT_PEOPLE, [pattern]);
      const rows = await db.query<FoundRow>(LIST_PEOPLE, [pattern, offset, limit]);
      return { entries: rows.map(toPerson), total: counted?.total ?? 0 };
    },
  };
}
