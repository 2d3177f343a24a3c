import type { Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, sql } from '../db/db.ts';
import { type DeviceRequest, type DeviceState, type DeviceStore, INTERVAL_S } from './devices.ts';

const INSERT = sql(
  'devices.insert',
  `insert into device_request (hash, user_code, name, scopes, interval_s, created_at, expires_at, address)
   values ($1, $2, $3, $4, $5, $6, $7, $8)`,
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
// Waits for what ends sessions of the user at this moment, and what comes later ends this approval.
const LOCK = sql('devices.lock', 'select id from account where id = $1 for share');
const DECIDE = sql(
  'devices.decide',
  `update device_request set state = $4, account_id = $2, session_id = $3
    where user_code = $1 and state = 'pending' and expires_at > $5
      and exists (select 1 from session where id = $3 and account_id = $2) returning id, name, scopes, address`,
);
const POLL = sql(
  'devices.poll',
  `select d.id, d.state, d.account_id, a.name as login, d.user_code, d.name, d.scopes, d.expires_at,
          coalesce(d.polled_at > $2::timestamptz - d.interval_s * interval '1 second', false) as is_too_soon
     from device_request d left join session s on s.id = d.session_id
     left join account a on a.id = d.account_id and a.active and not a.prohibit_login
      and (d.session_id is null or s.expires_at > $2::timestamptz)
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

interface DecidedRow extends Pick<DeviceRow, 'name' | 'scopes'> {
  id: bigint;
  address: string;
}

interface PolledRow extends DeviceRow {
  id: bigint;
  state: DeviceState;
  account_id: bigint | null;
  login: string | null;
  is_too_soon: boolean;
}

export function createDeviceStore(db: Db, write: Write): DeviceStore {
  return {
    async create({ hash, userCode, name, scopes, address, createdAt, expiresAt }) {
      await db.query(FORGET, [createdAt]);
      try {
        await db.query(INSERT, [hash, userCode, name, scopes, INTERVAL_S, createdAt, expiresAt, address]);
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

    async decide(userCode, { accountId, sessionId, isApproved, actor }, now) {
      return await write(async (query, _touch, record) => {
        await query(LOCK, [accountId]);
        const state = isApproved ? 'approved' : 'denied';
        const [row] = await query<DecidedRow>(DECIDE, [userCode, accountId, sessionId, state, now]);
        if (!row) return false;
        const { id, name, scopes, address } = row;
        const about = { organizationId: accountId, objectType: 'device', objectId: id };
        const action = isApproved ? 'device.approve' : 'device.deny';
        record({ actor, ...about, action, after: { name, scopes, address } });
        return true;
      });
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
