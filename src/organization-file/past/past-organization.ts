import { AppError } from '../../base/errors.ts';
import { createYielder } from '../../base/scheduling/slices.ts';
import { type Guardrail, namedIn } from '../../guardrails/guardrail.ts';
import { namedInAll } from '../../guardrails/guardrail-file.ts';
import type { LoggedChange } from '../../history/logged-change.ts';
import { namesIn } from '../../history/past-names.ts';
import { type LogSearch, MAX_CHANGES, type RecentLog, readRecentLog } from '../../history/recent-log.ts';
import { WALLS } from '../../history/undo.ts';
import type { StoredAssignment, Where } from '../../roles/assignment-plan.ts';
import type { StoredRole } from '../../roles/role-plan.ts';
import type { OrganizationNow, StoredTeam } from '../organization-now.ts';
import {
  type AssignmentThen,
  dropOver,
  type PastContent,
  pastContentOf,
  type RoleThen,
  type TeamThen,
} from './past-content.ts';
import { TOLD_ACTIONS, undoContent } from './undo-content.ts';

interface Membership {
  readonly teamId: bigint;
  readonly userId: bigint;
}

/** What the entries since the moment do not tell. */
export interface Untold {
  /** Objects such as `cluster:1`, for their names of now. */
  readonly objects: readonly string[];
  readonly sets: readonly string[];
  readonly contracts: readonly bigint[];
  readonly memberships: readonly Membership[];
  readonly assignments: readonly bigint[];
}

export interface Found {
  /** Of what still exists. */
  readonly names: ReadonlyMap<string, string>;
  /** The IDs of sets, by name. */
  readonly sets: ReadonlyMap<string, bigint>;
  /** Contracts that have their name with another one. */
  readonly ambiguous: ReadonlySet<bigint>;
  /** By `team user`: whether a provider put the user into the team. Those without an entry are missing. */
  readonly provided: ReadonlyMap<string, boolean>;
  /** Whether an assignment comes from an access request. Those without an entry are missing. */
  readonly requested: ReadonlyMap<bigint, boolean>;
  /** Older entries were archived, so what is missing is not known. */
  readonly isArchived: boolean;
}

export interface PastOrganizationStore {
  /** The present, and what happened since the moment, in one snapshot. */
  readSince(
    organizationId: bigint,
    at: Date,
    search: LogSearch,
  ): Promise<{ readonly now: OrganizationNow; readonly log: RecentLog } | undefined>;
  lookUp(organizationId: bigint, at: Date, untold: Untold): Promise<Found>;
}

/** The organization of a moment, as far as a file of the past shows it, and of now. */
export interface PastOrganization {
  readonly now: OrganizationNow;
  readonly then: OrganizationNow;
  /** What it names that still exists, so that callers must see it. */
  readonly places: readonly Where[];
  readonly named: readonly string[];
}

const SEARCH: LogSearch = { actions: TOLD_ACTIONS, platformActions: WALLS, max: MAX_CHANGES };
/** Kinds of rows of which the file tells, as the keys of the log call them. */
const TOLD_KINDS = new Set([...TOLD_ACTIONS.map((action) => action.split('.')[0]), 'member', 'assigned']);

/**
 * Teams, roles, assignments and guardrails as they were: the present, with the log undone.
 *
 * 1. Teams, roles and guardrails have their names of then. Everything else has its present name, or the last one that the
 *    log tells.
 * 2. Nothing is shown as an ordinary membership or assignment that may have come from a provider or a request.
 */
export async function pastOrganizationOf(
  store: PastOrganizationStore,
  organizationId: bigint,
  at: Date,
): Promise<PastOrganization | undefined> {
  const read = await store.readSince(organizationId, at, SEARCH);
  if (!read) return undefined;
  const { now, log } = read;
  const newer = log.newer.filter(({ key }) => TOLD_KINDS.has(key.split(':')[0]));
  const { changes } = await readRecentLog({ ...log, newer }, at);
  // An organization can have fifty thousand memberships: other requests are served between the steps.
  const yieldIfDue = createYielder();
  const content = pastContentOf(now);
  await yieldIfDue();
  for (const change of changes) {
    undoContent(content, change);
    await yieldIfDue();
  }
  dropOver(content, at);
  await yieldIfDue();
  const untold = untoldIn(content);
  await yieldIfDue();
  const found = await store.lookUp(organizationId, at, untold);
  const then = organizationThen(now, content, found, changes);
  await yieldIfDue();
  const exists = ({ type, id }: Where) =>
    type === 'cluster_set' ? id !== undefined : found.names.has(`${type}:${id}`);
  const { stored } = then.roleFile.assignments;
  const places = stored.map(({ on }) => on).filter((on) => on.type !== 'organization' && exists(on));
  return { now, then, places, named: namedInAll(then.roleFile.rules.guardrails) };
}

function untoldIn({ teams, assignments, guardrails }: PastContent): Untold {
  const memberships = [...teams].flatMap(([teamId, { members }]) =>
    [...members].map(([userId, member]) => ({ teamId, userId, member })),
  );
  const assigned = [...assignments.values()];
  const places = assigned.map(({ on }) => on);
  const idsOf = (type: Where['type']) => places.flatMap((on) => (on.type === type ? (on.id ?? []) : []));
  const objects = [
    ...memberships.map(({ userId }) => `user:${userId}`),
    ...assigned.flatMap(({ to, on }) => [`${to.type}:${to.id}`, `${on.type}:${on.id}`]),
    ...[...guardrails.values()].flatMap(namedIn),
  ].filter((object) => !/:undefined$|^cluster_set:|^organization:/.test(object));
  return {
    objects: [...new Set(objects)],
    sets: [...new Set(places.flatMap(({ type, name }) => (type === 'cluster_set' ? [name] : [])))],
    contracts: idsOf('contract'),
    memberships: memberships.filter(({ member }) => member.isProvided === undefined),
    assignments: assigned.flatMap(({ id, isRequested }) => (isRequested === undefined ? [id] : [])),
  };
}

function organizationThen(
  now: OrganizationNow,
  content: PastContent,
  found: Found,
  changes: readonly LoggedChange[],
): OrganizationNow {
  const { teams, guardrails } = content;
  const told = namesIn(changes);
  const names = new Map([...found.names, ...[...teams].map(([id, { name }]) => [`team:${id}`, name] as const)]);
  const nameOf = (object: string, known?: string): string => {
    const name = names.get(object) ?? told.get(object) ?? known;
    if (name) return name;
    throw incomplete(`the log does not tell what ${object} was called`);
  };
  const rules = [...guardrails.values()];
  const stored = [...content.assignments.values()].map((one) => assignmentThen(one, found, nameOf));
  const roleFile = {
    teams: [...teams].map(([id, { name }]) => ({ id, name })),
    roles: [...content.roles].map(([id, role]) => roleThen(id, role, nameOf)),
    rules: { guardrails: rules, names: namesOfRules(rules, now, nameOf) },
  };
  const assignments = { ...now.roleFile.assignments, stored };
  return {
    ...now,
    teams: [...teams].map(([id, team]) => teamThen(id, team, found, nameOf)),
    roleFile: { ...roleFile, assignments },
  };
}

type NameOf = (object: string, known?: string) => string;

function teamThen(id: bigint, { isScim, ...team }: TeamThen, found: Found, nameOf: NameOf): StoredTeam {
  if (isScim === undefined) throw incomplete(`the log does not tell whether SCIM managed the team ${team.name}`);
  const members = [...team.members].map(([userId, member]) => {
    const isProvided = member.isProvided ?? found.provided.get(`${id} ${userId}`);
    const login = nameOf(`user:${userId}`, member.login);
    // SCIM's members are not shown at all. The user who created the organization was a member without an entry.
    if (isProvided === undefined && found.isArchived && !isScim) {
      throw incomplete(`the log does not tell any more who put ${login} into the team ${team.name}`);
    }
    return { id: userId, login, expiresAt: member.expiresAt, isProvided: isProvided ?? false };
  });
  return { id, ...team, isScim, members };
}

function roleThen(id: bigint, { teams, ...role }: RoleThen, nameOf: NameOf): StoredRole {
  const teamIds = [...teams.keys()].sort((one, other) => (one < other ? -1 : 1));
  const teamName = (team: bigint) => nameOf(`team:${team}`);
  const ends = [...teams].flatMap(([team, end]) => (end ? [[team, end] as const] : []));
  const teamEnds = new Map(ends.map(([team, end]) => [teamName(team), end]));
  return { id, ...role, teamIds, teamNames: teamIds.map(teamName), teamExpiries: new Map(ends), teamEnds };
}

function assignmentThen({ to, on, ...rest }: AssignmentThen, found: Found, nameOf: NameOf): StoredAssignment {
  const isRequested = rest.isRequested ?? found.requested.get(rest.id);
  if (isRequested === undefined) {
    throw incomplete(`the log does not tell any more whether assignment ${rest.id} came from an access request`);
  }
  const isNamed = on.type === 'organization' || on.type === 'cluster_set';
  return {
    ...rest,
    to: { ...to, name: nameOf(`${to.type}:${to.id}`, to.name) },
    on: {
      ...on,
      id: on.type === 'cluster_set' ? found.sets.get(on.name) : on.id,
      name: isNamed ? on.name : nameOf(`${on.type}:${on.id}`, on.name),
      isAmbiguous: on.type === 'contract' && on.id !== undefined && found.ambiguous.has(on.id),
    },
    isRequested,
  };
}

/** A guardrail that is there now also remembers names. */
function namesOfRules(rules: readonly Guardrail[], now: OrganizationNow, nameOf: NameOf): ReadonlyMap<string, string> {
  const objects = rules.flatMap((rule) => namedIn(rule).map((object) => [object, rule.names[object]] as const));
  const isOwn = (object: string) => object === `organization:${now.id}`;
  return new Map(objects.map(([object, known]) => [object, isOwn(object) ? now.name : nameOf(object, known)]));
}

function incomplete(why: string): AppError {
  return new AppError('invalid', `${why}; ask about a later moment`, { reason: 'history_incomplete' });
}
