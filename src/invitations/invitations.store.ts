import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import { isRobotPrincipal, principalOf } from '../changes/principal.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Change, Write } from '../changes/write.ts';
import { type Db, known, only, type Query, sql } from '../db/db.ts';
import { grantOfTeam } from '../organizations/members.store.ts';
import { countConfirmations } from '../users/emails/confirmations.store.ts';
import { INVITATION, INVITATION_STATE, INVITATIONS, type InvitationRow, toInvitation } from './invitation.rows.ts';
import type { GrantingTeam, Invitation } from './invitation.ts';
import type { InvitationSetting, InvitationStore } from './invitations.ts';

const LISTED = `i.organization_id = $1 and ($2::text is null or ${INVITATION_STATE} = $2)
  and ($3::bigint is null or i.invited_by_id = $3) and ($4::bigint is null or i.invited_by_robot_id = $4)`;
const LIST = sql(
  'invitations.list',
  `select ${INVITATION} from ${INVITATIONS} where ${LISTED} order by i.id desc offset $5 limit $6`,
);
const COUNT = sql('invitations.count', `select count(*)::integer as total from invitation i where ${LISTED}`);
const GET = sql(
  'invitations.get',
  `select ${INVITATION} from ${INVITATIONS} where i.organization_id = $1 and i.id = $2`,
);
const TEAMS = sql(
  'invitations.teams',
  'select id, name, type, permission from team where organization_id = $1 and id = any($2::bigint[]) order by id',
);
const LOCK_ACCOUNT = sql('invitations.lockAccount', 'select id from account where id = $1 for no key update');
const LOCK = sql(
  'invitations.lock',
  `select i.email, ${INVITATION_STATE} as state from invitation i
    where i.organization_id = $1 and i.id = $2 for no key update`,
);
const TAKEN = countTaken(
  'invitations.taken',
  'invitation where organization_id = $1 and accepted_at is null and expires_at > now()',
);
const OPEN = sql(
  'invitations.open',
  `select exists (select 1 from invitation where organization_id = $1 and email_key = lower($2)
                     and accepted_at is null and expires_at > now() and id <> $3) as yes`,
);
const INSERT = sql(
  'invitations.insert',
  `insert into invitation (organization_id, email, message, mailed_hash, shown_hash, expires_at, lifetime_seconds,
                           invited_by_id, invited_by_robot_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id`,
);
// A team that is deleted at this moment is left out.
const INSERT_TEAMS = sql(
  'invitations.insertTeams',
  `insert into invitation_team (invitation_id, team_id)
   select $1, t.id from (select id from team where id = any($2::bigint[]) and organization_id = $3
                          order by id for key share) as t`,
);
const RENEW = sql(
  'invitations.renew',
  `update invitation set mailed_hash = $3, shown_hash = $4, invited_by_id = $5, invited_by_robot_id = $6,
          expires_at = now() + lifetime_seconds * interval '1 second'
    where organization_id = $1 and id = $2`,
);
const DELETE = sql('invitations.delete', 'delete from invitation where organization_id = $1 and id = $2 returning id');
// What ended a month ago is of no interest any more. Two requests that tidy up at the same moment do not wait for each other.
const FORGET = sql(
  'invitations.forget',
  `delete from invitation where id in (
     select id from invitation where expires_at < now() - interval '30 days' limit 100 for update skip locked)`,
);
/** No invitation has it. */
const NONE = 0n;

type TeamRow = Omit<GrantingTeam, 'grant'> & Record<string, unknown>;

export function createInvitationStore(db: Db, write: Write, quotas: Quotas): InvitationStore {
  return {
    async list(organizationId, { state, inviterId }, { offset, limit }) {
      const filter = [organizationId, state ?? null, ...inviterColumns(inviterId)];
      const { total } = only(await db.query<{ total: number }>(COUNT, filter));
      const rows = await db.query<InvitationRow>(LIST, [...filter, offset, limit]);
      return { items: rows.map(toInvitation), total };
    },

    get: (organizationId, id) => get(db.query, organizationId, id),

    async teams(organizationId, ids) {
      const rows = await db.query<TeamRow>(TEAMS, [organizationId, ids]);
      const teams: GrantingTeam[] = [];
      for (const row of rows) teams.push({ ...row, grant: await grantOfTeam(db.query, row) });
      return teams;
    },

    async create(setting, { input, hashes, sending }, once) {
      const { organization, actor } = setting;
      return await write(async (query, touch, record, keep) => {
        await query(FORGET);
        query.later(LOCK_ACCOUNT, [accountOf(setting)]);
        await quotas.require(query, { limit: 'invitationsPerOrganization', ownerId: organization.id, count: TAKEN });
        if (await isOpen(query, organization.id, input.email, NONE)) return 'already invited';
        if (sending) await countConfirmations(query, accountOf(setting), [input.email], sending);
        const inviter = inviterColumns(actor.id);
        const { id } = only(
          await query<{ id: bigint }>(INSERT, [
            ...[organization.id, input.email, input.message, hashes.mailed, hashes.shown],
            ...[input.expiresAt, input.lifetimeSeconds, ...inviter],
          ]),
        );
        await query(INSERT_TEAMS, [id, input.teamIds, organization.id]);
        const created = known(await get(query, organization.id, id));
        touch(changeOf(created));
        record({ ...about(created, 'invitation.create', actor), after: toState(created) });
        keep(created);
        return created;
      }, once);
    },

    async renew(setting, id, { hashes, sending }) {
      const { organization, actor } = setting;
      return await write(async (query, touch, record) => {
        query.later(LOCK_ACCOUNT, [accountOf(setting)]);
        const [row] = await query<Pick<InvitationRow, 'email' | 'state'>>(LOCK, [organization.id, id]);
        if (!row) return undefined;
        if (row.state === 'accepted') return 'accepted';
        const growth = { limit: 'invitationsPerOrganization', ownerId: organization.id, count: TAKEN } as const;
        if (row.state === 'open') await quotas.taken(query, growth);
        else await quotas.require(query, growth);
        if (await isOpen(query, organization.id, row.email, id)) return 'already invited';
        if (sending) await countConfirmations(query, accountOf(setting), [row.email], sending);
        const before = known(await get(query, organization.id, id));
        query.later(RENEW, [organization.id, id, hashes.mailed, hashes.shown, ...inviterColumns(actor.id)]);
        const renewed = known(await get(query, organization.id, id));
        touch(changeOf(renewed));
        record({
          ...about(renewed, 'invitation.resend', actor),
          before: toState(before),
          after: toState(renewed),
        });
        return renewed;
      });
    },

    async remove({ organization, actor }, id) {
      return await write(async (query, touch, record) => {
        const present = await get(query, organization.id, id);
        const isGone = (await query(DELETE, [organization.id, id])).length > 0;
        if (!present || !isGone) return false;
        touch(changeOf(present));
        record({ ...about(present, 'invitation.delete', actor), before: toState(present) });
        return true;
      });
    },
  };
}

async function get(query: Query, organizationId: bigint, id: bigint): Promise<Invitation | undefined> {
  const [row] = await query<InvitationRow>(GET, [organizationId, id]);
  return row && toInvitation(row);
}

async function isOpen(query: Query, organizationId: bigint, email: string, except: bigint): Promise<boolean> {
  return only(await query<{ yes: boolean }>(OPEN, [organizationId, email, except])).yes;
}

/** The emails that a robot causes count for its organization. */
function accountOf({ organization, actor }: InvitationSetting): bigint {
  return isRobotPrincipal(actor.id) ? organization.id : actor.id;
}

/** The user, and the robot. */
function inviterColumns(principalId: bigint | undefined): [bigint | null, bigint | null] {
  if (principalId === undefined) return [null, null];
  const { id } = principalOf(principalId);
  return isRobotPrincipal(principalId) ? [null, id] : [id, null];
}

export function changeOf({ id, organization }: Pick<Invitation, 'id' | 'organization'>): Change {
  return { kind: 'invitation', id, organizationId: organization.id };
}

export function about({ id, organization }: Invitation, action: AuditAction, actor: Actor): AuditEntry {
  return { actor, organizationId: organization.id, action, objectType: 'invitation', objectId: id };
}

/** An invitation as the audit log shows it: who is invited to what, by whom and until when. Nothing of its codes. */
export function toState({ email, teams, invitedBy, expiresAt }: Invitation): object {
  return { email, teams: teams.map(({ id, name }) => ({ id, name })), invitedBy, expiresAt };
}
