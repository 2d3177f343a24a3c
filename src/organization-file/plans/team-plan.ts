import { AppError } from '../../base/errors.ts';
import { endsBefore, requireExpiryTerm } from '../../base/expiry.ts';
import type { Permission } from '../../identity/callers.ts';
import { extendsOwnTerm, needsLastingOwner } from '../../organizations/members.ts';
import { builtIn, readName, readPermission } from '../../organizations/teams.ts';
import type { CallerRights } from '../caller-rights.ts';
import type { MemberEntry, Section, TeamEntry } from '../organization-document.ts';
import type { Account, OrganizationNow, StoredMember, StoredTeam } from '../organization-now.ts';
import { createFaults, type FileChange, matchNames, quote } from './file-change.ts';

/** A membership after the file, if it is not as it was. */
export interface Joining {
  readonly account: Account;
  /** Undefined for a new member. */
  readonly present: StoredMember | undefined;
  readonly until: Date | null;
}

/** A team as it is after the file. One that the file creates has a number below zero. */
export interface TeamAfter {
  readonly id: bigint;
  readonly current: StoredTeam | undefined;
  readonly name: string;
  readonly description: string;
  readonly permission: Permission;
  readonly joins: readonly Joining[];
  readonly leaves: readonly StoredMember[];
}

export interface TeamPlan {
  /** All that are there after the file. */
  readonly teams: readonly TeamAfter[];
  readonly deletes: readonly StoredTeam[];
  readonly changes: readonly FileChange[];
  readonly unchanged: number;
  readonly unmanaged: readonly string[];
}

/** Without the section, everything stays. */
export function planTeams(
  { teams: stored, accounts }: OrganizationNow,
  section: Section<TeamEntry> | undefined,
  rights: CallerRights,
  now: Date,
): TeamPlan {
  const faults = createFaults();
  const prunes = section?.prunes ?? false;
  const { pairs, others } = matchNames('teams', section?.items ?? [], stored, faults);
  const members = new Set(stored.flatMap((team) => team.members.map(({ id }) => id)));
  let fresh = 0n;
  const named = pairs.map(({ entry, place, current }): TeamAfter => {
    const at = `teams[${place}]`;
    const name = within(`${at}.name`, () => (entry.name === current?.name ? entry.name : readName(entry.name)));
    const wanted = (entry.permission ?? current?.permission ?? 'read') as Permission;
    const isKept = current?.permission === wanted;
    const permission = within(`${at}.permission`, () => (isKept ? wanted : readPermission(wanted)));
    const { joins, leaves } = membersOf(entry, current, at);
    return {
      ...{ id: current?.id ?? --fresh, current, name: name ?? entry.name, permission: permission ?? wanted },
      ...{ description: entry.description ?? current?.description ?? '', joins, leaves },
    };
  });
  const deletes = prunes ? others.filter(({ isBuiltIn }) => !isBuiltIn) : [];
  for (const team of deletes) {
    if (team.isScim) faults.add('teams', `${quote(team.name)} is managed by SCIM`, 'managed_elsewhere');
  }
  faults.settle();
  const gone = new Set(deletes);
  const kept = others.filter((team) => !gone.has(team));
  const rest = kept.map((current): TeamAfter => ({ ...current, current, joins: [], leaves: [] }));
  const teams = [...named, ...rest];
  const changes = [
    ...named.flatMap((team) => changeOf(team)),
    ...deletes.map((team): FileChange => {
      const words = team.members.map(({ login }) => `- member ${login}`);
      const rule = () => rights.requireTeam(team.id, 'can_delete', 'delete:team');
      return { section: 'teams', name: team.name, kind: 'delete', words, rule };
    }),
  ];
  return {
    ...{ teams, deletes, changes },
    unchanged: named.length - changes.filter(({ kind }) => kind !== 'delete').length,
    unmanaged: section ? kept.map(({ name }) => name) : [],
  };

  function within<T>(field: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      faults.add(field, error.message);
      return undefined;
    }
  }

  function membersOf(entry: TeamEntry, current: StoredTeam | undefined, at: string) {
    const present = new Map(current?.members.map((member) => [member.id, member]));
    if (current?.isScim && entry.members) {
      faults.add(`${at}.members`, `the members of ${quote(current.name)} come by SCIM`, 'managed_elsewhere');
      return { joins: [], leaves: [] };
    }
    const joins: Joining[] = [];
    const seen = new Set<bigint>();
    for (const [place, one] of (entry.members ?? []).entries()) {
      const field = `${at}.members[${place}]`;
      const account = accountOf(one, field);
      if (!account) continue;
      if (seen.has(account.id)) faults.add(field, `${quote(one.login)} is named twice`);
      const end = endOf(one, field);
      // A membership whose end has passed is none.
      if (end && end <= now) continue;
      seen.add(account.id);
      const before = present.get(account.id);
      const until = end === undefined ? (before?.expiresAt ?? null) : end;
      if (!before || until?.getTime() !== before.expiresAt?.getTime()) joins.push({ account, present: before, until });
    }
    const isGone = ({ id, isProvided }: StoredMember) => !seen.has(id) && !isProvided;
    return { joins, leaves: prunes && entry.members ? [...present.values()].filter(isGone) : [] };
  }

  function accountOf({ login, id }: MemberEntry, field: string): Account | undefined {
    const account = accounts.get(login.toLowerCase());
    if (!account) faults.add(field, `no user is called ${quote(login)}`, 'user_not_found');
    if (account && id !== undefined && account.id !== id) {
      faults.add(
        `${field}.id`,
        `${quote(login)} is another account than the one with the ID ${id}`,
        'identity_changed',
      );
    }
    return account;
  }

  function endOf({ expiresAt }: MemberEntry, field: string): Date | null | undefined {
    if (expiresAt === undefined || expiresAt === null) return expiresAt;
    const end = new Date(expiresAt);
    if (end > now) within(`${field}.expires_at`, () => requireExpiryTerm(end, now));
    return end;
  }

  function changeOf(team: TeamAfter): FileChange[] {
    const { current, joins, leaves } = team;
    const words = wordsOf(team);
    const isPut = !current || current.name !== team.name || isOther(current, team);
    if (!isPut && joins.length + leaves.length === 0) return [];
    const rule = async () => {
      if (isPut) requirePut(team);
      for (const joining of joins) await requireJoin(team, joining);
      if (current?.permission === 'owner') requireOwner(current, joins, leaves);
      // A caller who looks after the members also removes one who is kept only as the last owner, next to a new one.
      if (current && leaves.length > 0) rights.requireTeam(current.id, 'can_add_member', 'remove_member:team');
    };
    return [{ section: 'teams', name: team.name, kind: current ? 'update' : 'create', words, rule }];
  }

  function requirePut({ current, name, permission }: TeamAfter): void {
    if (current) rights.requireTeam(current.id, 'can_edit', 'edit:team');
    else rights.require('can_create_team', 'create_team:org');
    if (permission !== current?.permission) rights.rejectPermission(permission);
    if (current?.isBuiltIn && (name !== current.name || permission !== current.permission)) {
      throw builtIn(current, 'must keep its name and permission');
    }
  }

  async function requireJoin({ current, permission }: TeamAfter, { account, present, until }: Joining): Promise<void> {
    const isSelf = account.id === rights.callerId;
    if (current) rights.requireTeam(current.id, 'can_add_member', 'add_member:team');
    else rights.require('can_manage_team_members', 'add_member:team');
    if (!members.has(account.id)) await rights.requireHost(current?.id);
    if (permission === 'owner') rights.requireProof();
    if (current) await rights.rejectJoining(current.id, permission, until);
    else rights.rejectPermission(permission);
    if (!present) return;
    if (endsBefore(until, present.expiresAt) && !isSelf && current) {
      rights.requireTeam(current.id, 'can_remove_member', 'remove_member:team');
    }
    if (endsBefore(present.expiresAt, until) && isSelf) throw extendsOwnTerm();
  }
}

/** The organization keeps an owner whose membership does not end. */
function requireOwner({ members }: StoredTeam, joins: readonly Joining[], leaves: readonly StoredMember[]): void {
  const ends = new Map(members.map(({ id, expiresAt }) => [id, expiresAt]));
  for (const { id } of leaves) ends.delete(id);
  for (const { account, until } of joins) ends.set(account.id, until);
  if (![...ends.values()].includes(null)) throw needsLastingOwner();
}

function isOther(current: StoredTeam, { description, permission }: TeamAfter): boolean {
  return current.description !== description || current.permission !== permission;
}

function wordsOf({ current, name, description, permission, joins, leaves }: TeamAfter): string[] {
  const until = (end: Date | null) => (end ? ` until ${end.toISOString()}` : '');
  return [
    ...(current && current.name !== name ? [`name ${quote(current.name)} → ${quote(name)}`] : []),
    ...(description === (current?.description ?? '') ? [] : [`description ${quote(description)}`]),
    ...(permission === current?.permission
      ? []
      : [current ? `permission ${current.permission} → ${permission}` : `permission ${permission}`]),
    ...joins.map(({ account, present, until: end }) => {
      if (!present) return `+ member ${account.login}${until(end)}`;
      return `member ${account.login} ${end ? `expires at ${end.toISOString()}` : 'does not expire'}`;
    }),
    ...leaves.map(({ login }) => `- member ${login}`),
  ];
}
