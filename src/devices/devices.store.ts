import { type Db, isUniqueViolation, sql } from '../db/db.ts';
import { type DeviceRequest, type DeviceState, type DeviceStore, INTERVAL_S } from './devices.ts';

const INSERT = sql(
  'devices.insert',
  `insert into device_request (hash, user_code, name, scopes, interval_s, created_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7)`,
);
// Two requests that tidy up at the same moment do not wait for each other.
const FORGET = sql(
  'devices.forget',
  `delete from device_request where id in (
     select id from device_request where expires_at < $1 limit 100 for update skip locked)`,
);
const FIND = sql(
  'devices.find',
  `select user_code, name, scopes, expires_at from device_request
    where user_code = $1 and state = 'pending' and expires_at > $2`,
);
const DECIDE = sql(
  'devices.decide',
  `update device_request set state = $3, account_id = $2
    where user_code = $1 and state = 'pending' and expires_at > $4 returning id`,
);
const POLL = sql(
  'devices.poll',
  `select d.id, d.state, d.account_id, a.name as login, d.user_code, d.name, d.scopes, d.expires_at,
          coalesce(d.polled_at > $2::timestamptz - d.interval_s * interval '1 second', false) as is_too_soon
     from device_request d left join account a on a.id = d.account_id and a.active and not a.prohibit_login
    where d.hash = $1 and d.expires_at > $2::timestamptz for update of d`,
);
const NOTE = sql(
  'devices.note',
  'update device_request set polled_at = $2, interval_s = interval_s + $3 where id = $1',
);
const TAKE = sql('devices.take', 'delete from device_request where id = $1');

interface DeviceRow {
  user_code: string;
  name: string;
  scopes: string[];
  expires_at: Date;
}

interface PolledRow extends DeviceRow {
  id: bigint;
  state: DeviceState;
  account_id: bigint | null;
  login: string | null;
  is_too_soon: boolean;
}

export function createDeviceStore(db: Db): DeviceStore {
  return {
    async create({ hash, userCode, name, scopes, createdAt, expiresAt }) {
      await db.query(FORGET, [createdAt]);
      try {
        await db.query(INSERT, [hash, userCode, name, scopes, INTERVAL_S, createdAt, expiresAt]);
        return true;
      } catch (error) {
        if (isUniqueViolation(error, 'device_request_user_code')) return false;
        throw error;
      }
    },

    async find(userCode, now) {
      const [row] = await db.query<DeviceRow>(FIND, [userCode, now]);
      return row && toRequest(row);
    },

    async decide(userCode, accountId, isApproved, now) {
      const rows = await db.query(DECIDE, [userCode, accountId, isApproved ? 'approved' : 'denied', now]);
      return rows.length > 0;
    },

    async poll(hash, now) {
      return await db.transaction(async (query) => {
        const [row] = await query<PolledRow>(POLL, [hash, now]);
        if (!row) return undefined;
        const { id, state, account_id: accountId, login, is_too_soon: isTooSoon } = row;
        // What was decided is told once, however often the program asks.
        if (state === 'denied' || (state === 'approved' && !isTooSoon)) await query(TAKE, [id]);
        else await query(NOTE, [id, now, isTooSoon ? INTERVAL_S : 0]);
        const person = accountId === null || login === null ? undefined : { id: accountId, name: login };
        return { state, isTooSoon, person, request: toRequest(row) };
      });
    },
  };
}

function toRequest({ user_code, name, scopes, expires_at }: DeviceRow): DeviceRequest {
  return { userCode: user_code, name, scopes, expiresAt: expires_at };
}
