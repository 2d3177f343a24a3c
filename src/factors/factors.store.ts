import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import { PLATFORM, type Write } from '../changes/write.ts';
import { type Db, only, type Query, type Statement, sql } from '../db/db.ts';
import { endSessions } from '../identity/sessions/ended-sessions.store.ts';
import { startOfPage } from '../users/account-counts.store.ts';
import { countAccounts } from '../users/found-accounts.store.ts';
import type { FactorHolder, FactorStore, PasskeyCard, Removal } from './factors.ts';

interface PasskeyRow {
  id: bigint;
  name: string;
  is_synced: boolean;
  created_at: Date;
  last_used_at: Date | null;
}

interface HolderRow {
  id: bigint;
  name: string;
  full_name: string;
  is_admin: boolean;
  passkeys: number;
  has_totp: boolean;
  codes: number;
}

const PASSKEYS = sql(
  'factors.passkeys',
  'select id, name, is_synced, created_at, last_used_at from passkey where account_id = $1 order by id',
);
const TOTP = sql('factors.totp', 'select created_at, last_used_at from totp where account_id = $1');
const CODES = sql(
  'factors.codes',
  `select min(created_at) as created_at, (count(*) filter (where used_at is null))::integer as left
     from recovery_code where account_id = $1 having count(*) > 0`,
);
const ABLE = `a.kind = 'user' and a.active and not a.prohibit_login`;
/** As an array, the members are found first, and then their accounts in order of ID. */
const MEMBERS = `${ABLE} and a.id = any(array(select m.account_id from team t join team_member m on m.team_id = t.id
                                        where t.organization_id = $1)) and (not $2 or not a.has_factor)`;
const COUNT_MEMBERS = sql('factors.countMembers', `select count(*)::integer as total from account a where ${MEMBERS}`);
const LIST_MEMBERS = holders('members', `${MEMBERS} order by a.id offset $3 limit $4`);
const COUNT_MISSING = countAccounts('factors.countMissing', `${ABLE} and not a.has_factor`);
const LIST_MISSING = holders('missing', `${ABLE} and not a.has_factor order by a.id offset $1 limit $2`);
const LIST_ALL = holders('all', `${ABLE} and a.id >= $1 order by a.id offset $2 limit $3`);

/** What they have is counted for those on the page, not for those before it. */
function holders(scope: string, which: string): Statement {
  return sql(
    `factors.holders.${scope}`,
    `with page as materialized (select a.id, a.name, a.full_name, a.is_admin from account a where ${which})
     select a.id, a.name, a.full_name, a.is_admin,
            (select count(*)::integer from passkey p where p.account_id = a.id) as passkeys,
            exists (select 1 from totp o where o.account_id = a.id) as has_totp,
            (select count(*)::integer from recovery_code c where c.account_id = a.id and c.used_at is null) as codes
       from page a order by a.id`,
  );
}

// Those who add and remove factors of one user take turns, so that two of them never both see one that remains.
const LOCK = sql('factors.lock', 'select name from account where id = $1 for no key update');
const COUNT = sql(
  'factors.count',
  `select ((select count(*) from passkey where account_id = $1) + (select count(*) from totp where account_id = $1))::integer
       as total`,
);
const RENAME = sql(
  'factors.rename',
  `update passkey p set name = $3 from passkey o where o.id = p.id and p.account_id = $1 and p.id = $2
   returning o.name as before`,
);
const FIND_PASSKEY = sql('factors.findPasskey', 'select id from passkey where account_id = $1 and id = $2');
const DELETE_PASSKEY = sql(
  'factors.deletePasskey',
  'delete from passkey where account_id = $1 and id = $2 returning id, name',
);
const DELETE_TOTP = sql('factors.deleteTotp', 'delete from totp where account_id = $1 returning id');
const DELETE_PASSKEYS = sql('factors.deletePasskeys', 'delete from passkey where account_id = $1 returning id');
const DELETE_CODES = sql('factors.deleteCodes', 'delete from recovery_code where account_id = $1');
const INSERT_CODES = sql(
  'factors.insertCodes',
  'insert into recovery_code (account_id, hash) select $1, unnest($2::bytea[])',
);
const USE_CODE = sql(
  'factors.useCode',
  `update recovery_code set used_at = now() where account_id = $1 and hash = $2 and used_at is null returning hash`,
);
const CODES_LEFT = sql(
  'factors.codesLeft',
  'select count(*)::integer as total from recovery_code where account_id = $1 and used_at is null',
);
const REQUIRE = sql(
  'factors.require',
  `update account set requires_second_factor = $2 where id = $1 and kind = 'organization'
      and requires_second_factor is distinct from $2 returning name`,
);
const IS_REQUIRED = sql('factors.isRequired', 'select requires_second_factor as required from account where id = $1');
const IS_LINKED = sql('factors.isLinked', 'select id from linked_account where account_id = $1 limit 1');

export function createFactorStore(db: Db, write: Write): FactorStore {
  return {
    async summary(accountId) {
      const passkeys = await db.query<PasskeyRow>(PASSKEYS, [accountId]);
      const [totp] = await db.query<Pick<PasskeyRow, 'created_at' | 'last_used_at'>>(TOTP, [accountId]);
      const [codes] = await db.query<{ created_at: Date; left: number }>(CODES, [accountId]);
      return {
        passkeys: passkeys.map(toCard),
        totp: totp && { createdAt: totp.created_at, lastUsedAt: totp.last_used_at },
        recoveryCodes: codes && { left: codes.left, createdAt: codes.created_at },
      };
    },

    async holders({ organizationId, isMissing }, { offset, limit }) {
      if (organizationId !== undefined) {
        const { total } = only(await db.query<{ total: number }>(COUNT_MEMBERS, [organizationId, isMissing]));
        const rows = await db.query<HolderRow>(LIST_MEMBERS, [organizationId, isMissing, offset, limit]);
        return { items: rows.map(toHolder), total };
      }
      if (isMissing) {
        const counted = await COUNT_MISSING(db.query);
        const rows = await db.query<HolderRow>(LIST_MISSING, [offset, limit]);
        return { items: rows.map(toHolder), ...counted };
      }
      const { total, firstId, skip } = await startOfPage(db.query, 'able', offset);
      const rows = firstId === undefined ? [] : await db.query<HolderRow>(LIST_ALL, [firstId, skip, limit]);
      return { items: rows.map(toHolder), total };
    },

    async renamePasskey(accountId, id, name, actor) {
      return await write(async (query, _touch, record) => {
        const [row] = await query<{ before: string }>(RENAME, [accountId, id, name]);
        if (!row) return false;
        const states = { before: { name: row.before }, after: { name } };
        if (row.before !== name) record({ ...about(actor, accountId, 'factor.update', id), ...states });
        return true;
      });
    },

    async removePasskey(accountId, id, kept, actor) {
      return await remove(accountId, kept, actor, [FIND_PASSKEY, DELETE_PASSKEY], [accountId, id]);
    },

    async removeTotp(accountId, kept, actor) {
      return await remove(accountId, kept, actor, [TOTP, DELETE_TOTP], [accountId]);
    },

    async replaceRecoveryCodes(accountId, hashes, actor) {
      return await write(async (query, _touch, record) => {
        if ((await countFactors(query, accountId)) === 0) return false;
        await replaceCodes(query, accountId, hashes);
        record({ ...about(actor, accountId, 'recovery_codes.create', accountId), after: { codes: hashes.length } });
        return true;
      });
    },

    async useRecoveryCode(accountId, hash, actor) {
      return await write(async (query, _touch, record) => {
        if ((await query(USE_CODE, [accountId, hash])).length === 0) {
          record({ ...about(actor, accountId, 'factor.reject', accountId), after: { kind: 'recovery_code' } });
          return false;
        }
        const { total: left } = only(await query<{ total: number }>(CODES_LEFT, [accountId]));
        record({ ...about(actor, accountId, 'recovery_codes.use', accountId), after: { left } });
        return true;
      });
    },

    async reset(accountId, actor) {
      return await write(async (query, touch, record) => {
        await query(LOCK, [accountId]);
        const passkeys = (await query(DELETE_PASSKEYS, [accountId])).length;
        const totp = (await query(DELETE_TOTP, [accountId])).length;
        if (passkeys + totp === 0) return 0;
        await query(DELETE_CODES, [accountId]);
        await endSessions(query, accountId);
        touch({ kind: 'account', id: accountId });
        record({ ...about(actor, accountId, 'factor.reset', accountId), before: { passkeys, totp: totp > 0 } });
        return passkeys + totp;
      });
    },

    async setRequired(organizationId, isRequired, actor) {
      return await write(async (query, touch, record) => {
        const [row] = await query<{ name: string }>(REQUIRE, [organizationId, isRequired]);
        if (!row) return false;
        // No process can have remembered anything about an organization that did not require anything before.
        touch({ kind: 'account', id: PLATFORM });
        const object = { objectType: 'organization', objectId: organizationId };
        const states = { before: { required: !isRequired }, after: { required: isRequired } };
        record({ actor, organizationId, action: 'organization.second_factor', ...object, ...states });
        return true;
      });
    },

    async isRequired(organizationId) {
      const [row] = await db.query<{ required: boolean }>(IS_REQUIRED, [organizationId]);
      return row?.required ?? false;
    },

    async isLinked(accountId) {
      return (await db.query(IS_LINKED, [accountId])).length > 0;
    },
  };

  async function remove(
    accountId: bigint,
    kept: boolean,
    actor: Actor,
    [find, statement]: readonly [Statement, Statement],
    values: readonly bigint[],
  ): Promise<Removal> {
    return await write(async (query, touch, record) => {
      await query(LOCK, [accountId]);
      if ((await query(find, [...values])).length === 0) return 'absent';
      const isLast = (await countFactors(query, accountId)) === 1;
      if (isLast && kept) return 'last';
      const row = only(await query<{ id: bigint; name?: string }>(statement, [...values]));
      if (isLast) await query(DELETE_CODES, [accountId]);
      touch({ kind: 'account', id: accountId });
      const kind = row.name === undefined ? 'totp' : 'passkey';
      record({ ...about(actor, accountId, 'factor.delete', row.id), before: { kind, name: row.name } });
      return 'done';
    });
  }
}

/**
 * For the transaction that adds a factor. Until it ends, no other request adds or removes a factor of this user. The first one
 * comes with recovery codes, and it ends all sessions but the one that adds it: whatever a stolen password has opened
 * must not go on. Returns whether it is the first one.
 */
export async function welcomeFactor(
  query: Query,
  accountId: bigint,
  hashes: readonly Buffer[],
  keptSession: bigint | undefined,
): Promise<boolean> {
  await query(LOCK, [accountId]);
  if ((await countFactors(query, accountId)) > 0) return false;
  await replaceCodes(query, accountId, hashes);
  await endSessions(query, accountId, keptSession);
  return true;
}

/** Like tokens, second factors are in the audit log of their user. */
export function about(actor: Actor, accountId: bigint, action: AuditAction, objectId: bigint): AuditEntry {
  const objectType = objectId === accountId ? 'user' : 'factor';
  return { actor, organizationId: accountId, action, objectType, objectId };
}

async function countFactors(query: Query, accountId: bigint): Promise<number> {
  return only(await query<{ total: number }>(COUNT, [accountId])).total;
}

async function replaceCodes(query: Query, accountId: bigint, hashes: readonly Buffer[]): Promise<void> {
  await query(DELETE_CODES, [accountId]);
  await query(INSERT_CODES, [accountId, [...hashes]]);
}

function toCard(row: PasskeyRow): PasskeyCard {
  const { id, name, is_synced: isSynced, created_at: createdAt, last_used_at: lastUsedAt } = row;
  return { id, name, isSynced, createdAt, lastUsedAt };
}

function toHolder(row: HolderRow): FactorHolder {
  const { id, name: login, full_name: fullName, is_admin: isAdmin, passkeys, has_totp: hasTotp, codes } = row;
  return { id, login, fullName, isAdmin, passkeys, hasTotp, recoveryCodesLeft: codes };
}
