import type { Actor } from '../changes/audit-entry.ts';
import type { Quotas } from '../changes/quotas.store.ts';
import type { Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, sql } from '../db/db.ts';
import { nameConflictIn } from '../identity/account-names/account-names.store.ts';
import { grantOfTeam, joinTeam } from '../organizations/members.store.ts';
import { insertUser, type Transaction } from '../users/users.store.ts';
import { ableInviter, INVITATION, INVITATIONS, type InvitationRow, toInvitation } from './invitation.rows.ts';
import type { GrantingTeam, Invitation, InvitedTeam } from './invitation.ts';
import {
  type FoundInvitation,
  type InvitationAcceptanceStore,
  inviterMayNot,
  type Joined,
  type Joiner,
  type NotJoined,
} from './invitation-acceptance.ts';
import { invitationNotFound } from './invitation-code.ts';
import { isLackOfRights, type RejectGiving } from './invitation-rights.ts';
import { about, changeOf } from './invitations.store.ts';

const FIND = sql(
  'invitationAcceptance.find',
  `select ${INVITATION}, coalesce(i.mailed_hash = $1, false) as proves_address
     from ${INVITATIONS} where i.mailed_hash = $1 or i.shown_hash = $1`,
);
const TEAMS = sql(
  'invitationAcceptance.teams',
  `select t.id, t.name, t.type, t.permission from invitation_team m join team t on t.id = m.team_id
    where m.invitation_id = $1 order by t.id`,
);
// Not the row: whatever deletes an organization or a team locks it before its invitations, and this joins teams first.
const TURN = sql('invitationAcceptance.turn', `select pg_advisory_xact_lock(hashtextextended('invitation', $1))`);
const JOINER = sql(
  'invitationAcceptance.joiner',
  `select exists (select 1 from team_member m join team t on t.id = m.team_id
                   where m.account_id = $1 and t.organization_id = $2) as is_member,
          exists (select 1 from scim_user s where s.organization_id = $2 and s.account_id = $1 and not s.active)
            as is_deprovisioned,
          exists (select 1 from email e where e.account_id = $1 and e.address_key = lower($3) and e.verified)
            as has_address`,
);
const USED_ADDRESS = sql(
  'invitationAcceptance.usedAddress',
  'select exists (select 1 from email where address_key = lower($1)) as yes',
);
// Whatever was revoked or sent again meanwhile is not accepted.
const ACCEPT = sql(
  'invitationAcceptance.accept',
  `update invitation set accepted_at = now(), accepted_by_id = $3
    where id = $1 and (mailed_hash = $2 or shown_hash = $2) and accepted_at is null and expires_at > now() returning id`,
);

type FoundRow = InvitationRow & { proves_address: boolean };
type TeamRow = Omit<GrantingTeam, 'grant'> & Record<string, unknown>;

export function createInvitationAcceptanceStore(db: Db, write: Write, quotas: Quotas): InvitationAcceptanceStore {
  return { find: (hash) => find(db.query, hash), accept };

  async function accept(
    hash: Buffer,
    invitationId: bigint,
    joiner: Joiner,
    reject: RejectGiving,
  ): Promise<Joined | NotJoined> {
    try {
      return await write(async (query, touch, record) => {
        await query(TURN, [invitationId]);
        const found = await find(query, hash);
        const problem = found ? await problemOf(query, found, joiner) : 'not found';
        if (!found || problem) return problem ?? 'not found';
        const { invitation } = found;
        const transaction = { query, touch, record };
        const { id, actor } = await accountOf(transaction, joiner);
        const teams = await join(transaction, found, id, actor, reject);
        if ((await query(ACCEPT, [invitation.id, hash, id])).length === 0) throw invitationNotFound();
        touch(changeOf(invitation));
        const { email, invitedBy } = invitation;
        const after = { email, invitedBy, userId: id, username: actor.name, teams };
        record({ ...about(invitation, 'invitation.accept', actor), after });
        return { organization: invitation.organization, teams };
      });
    } catch (error) {
      const conflict = nameConflictIn(error);
      if (conflict !== undefined) return conflict;
      if (isUniqueViolation(error, 'email_address')) return 'email taken';
      throw error;
    }
  }

  /** In the order of the IDs of the teams, as everywhere. One that is deleted at this moment is left out. */
  async function join(
    transaction: Transaction,
    { invitation, teams }: FoundInvitation,
    accountId: bigint,
    actor: Actor,
    reject: RejectGiving,
  ): Promise<InvitedTeam[]> {
    const joined: InvitedTeam[] = [];
    for (const { id, name } of teams) {
      const condition = (grant: GrantingTeam['grant']) => asInviter(invitation, () => reject({ id, grant }));
      const outcome = await joinTeam(transaction, quotas, { teamId: id, accountId, condition, actor });
      if (outcome !== undefined) joined.push({ id, name });
    }
    if (joined.length === 0) throw inviterMayNot(invitation.organization);
    return joined;
  }
}

async function find(query: Query, hash: Buffer): Promise<FoundInvitation | undefined> {
  const [row] = await query<FoundRow>(FIND, [hash]);
  if (!row) return undefined;
  const teams: GrantingTeam[] = [];
  for (const team of await query<TeamRow>(TEAMS, [row.id])) {
    teams.push({ ...team, grant: await grantOfTeam(query, team) });
  }
  return { invitation: toInvitation(row), provesAddress: row.proves_address, inviterId: ableInviter(row), teams };
}

async function problemOf(query: Query, found: FoundInvitation, joiner: Joiner): Promise<NotJoined | undefined> {
  const { state, email, organization } = found.invitation;
  if (state === 'accepted') return 'used';
  if (state === 'expired') return 'expired';
  if (found.inviterId === undefined || found.teams.length === 0) return 'inviter may not';
  if (joiner.kind === 'new') {
    return only(await query<{ yes: boolean }>(USED_ADDRESS, [email])).yes ? 'email taken' : undefined;
  }
  const { is_member, is_deprovisioned, has_address } = only(
    await query<{ is_member: boolean; is_deprovisioned: boolean; has_address: boolean }>(JOINER, [
      ...[joiner.id, organization.id, email],
    ]),
  );
  if (is_member) return 'already a member';
  if (is_deprovisioned) return 'deprovisioned';
  if (has_address) return undefined;
  const isPowerful = found.teams.some(({ permission }) => permission === 'admin' || permission === 'owner');
  if (isPowerful) return 'other address forbidden';
  return joiner.knowsOtherAddress ? undefined : 'other address';
}

async function accountOf(transaction: Transaction, joiner: Joiner): Promise<{ id: bigint; actor: Actor }> {
  if (joiner.kind === 'user') return { id: joiner.id, actor: joiner.actor };
  const { draft, requestId } = joiner;
  const actorOf = (id: bigint) => ({ id, name: draft.name, requestId });
  const id = await insertUser(transaction, draft, actorOf);
  return { id, actor: actorOf(id) };
}

/** What the inviter may not give is not the fault of the user who accepts. */
function asInviter({ organization }: Pick<Invitation, 'organization'>, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw isLackOfRights(error) ? inviterMayNot(organization) : error;
  }
}
