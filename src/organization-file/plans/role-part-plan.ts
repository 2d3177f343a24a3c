import type { HeldPlaces, NotHeld } from '../../authz/places/held-places.ts';
import { givesMore } from '../../authz/places/held-places.ts';
import { effectiveOn } from '../../authz/places/places.ts';
import { AppError } from '../../base/errors.ts';
import {
  type GuardrailPlan,
  guardrailWords,
  planGuardrails,
  type WantedGuardrail,
} from '../../guardrails/guardrail-file.ts';
import { assignmentWords } from '../../roles/assignment-entry.ts';
import {
  type AssignmentPlan,
  type AssignmentsNow,
  assignmentReport,
  nameOf,
  planAssignments,
  requireAssigner,
  rolesAfter,
  type StoredAssignment,
  type WantedAssignment,
  type Where,
} from '../../roles/assignment-plan.ts';
import { type RoleFileNow, rejectEscalations, requireRelations } from '../../roles/role-file.ts';
import { type Plan, planFor, type Wanted, wordsFor } from '../../roles/role-plan.ts';
import type { CallerRights } from '../caller-rights.ts';
import type { Section } from '../organization-document.ts';
import type { OrganizationNow } from '../organization-now.ts';
import type { FileChange } from './file-change.ts';
import type { RobotPlan } from './robot-plan.ts';
import type { TeamPlan } from './team-plan.ts';

/** What the file says about roles, what is assigned of them, and guardrails, with everything read that can be. */
export interface WantedRoleParts {
  readonly roles: Section<Wanted> | undefined;
  readonly assignments: Section<WantedAssignment> | undefined;
  readonly guardrails: Section<WantedGuardrail> | undefined;
}

export interface RolePartPlan {
  readonly roles: Plan;
  readonly assignments: AssignmentPlan | undefined;
  readonly guardrails: GuardrailPlan | undefined;
}

const NO_CHANGES = { creates: [], updates: [], deletes: [], unchanged: 0, unmanaged: [] };

/** In the state as it is, or as the teams and robots of the file leave it. */
export function planRoleParts(
  organizationId: bigint,
  now: RoleFileNow,
  { roles, assignments, guardrails }: WantedRoleParts,
  today: Date,
): RolePartPlan {
  const plan = planFor(now, roles?.items ?? [], roles?.prunes ?? false);
  const after = { roles: now.roles, plan, organizationId };
  return {
    roles: roles ? plan : { ...plan, unmanaged: [] },
    assignments: assignments && planAssignments(now.assignments, after, assignments.items, assignments.prunes, today),
    guardrails: guardrails && planGuardrails(now.rules, guardrails.items, guardrails.prunes),
  };
}

/** The organization once the teams and robots are as the file has them. What is new has a number below zero. */
export function afterTeamsAndRobots(
  { roleFile, teams: stored }: OrganizationNow,
  teams: TeamPlan,
  robots: RobotPlan,
): RoleFileNow {
  const names = new Map(teams.teams.map(({ id, name }) => [id, name]));
  const roles = roleFile.roles.map((role) => {
    const teamIds = role.teamIds.filter((id) => names.has(id));
    const ends = [...(role.teamExpiries ?? [])].filter(([id]) => names.has(id));
    return {
      ...role,
      teamIds,
      teamExpiries: new Map(ends),
      teamNames: teamIds.map((id) => names.get(id) ?? ''),
      teamEnds: new Map(ends.map(([id, end]) => [names.get(id) ?? '', end])),
    };
  });
  const present = new Set([
    ...teams.teams.map(({ id }) => `team:${id}`),
    ...robots.robots.map(({ id }) => `robot_ac:${id}`),
    ...membersAfter(teams).map((id) => `user:${id}`),
  ]);
  const isThere = ({ to, on }: StoredAssignment) =>
    present.has(`${to.type}:${to.id}`) &&
    (!['team', 'robot_ac'].includes(on.type) || present.has(`${on.type}:${on.id}`));
  const assignments = {
    ...roleFile.assignments,
    stored: roleFile.assignments.stored.filter(isThere),
    found: foundAfter(roleFile.assignments.found, teams, robots, present),
  };
  const ofOwners = new Set(stored.filter(({ permission }) => permission === 'owner').map(({ id }) => id));
  return {
    ...roleFile,
    roles,
    teams: teams.teams.map(({ id, name }) => ({ id, name })),
    assignments: marked(assignments),
  };

  function marked(one: AssignmentsNow): AssignmentsNow {
    const mark = (place: Where): Where =>
      place.type === 'team' && place.id !== undefined && ofOwners.has(place.id) ? { ...place, isOwners: true } : place;
    return { ...one, found: new Map([...one.found].map(([key, places]) => [key, places.map(mark)])) };
  }
}

export function membersAfter({ teams }: TeamPlan): bigint[] {
  return teams.flatMap(({ current, joins, leaves }) => {
    const left = new Set(leaves.map(({ id }) => id));
    const kept = (current?.members ?? []).map(({ id }) => id).filter((id) => !left.has(id));
    return [...kept, ...joins.map(({ account }) => account.id)];
  });
}

function foundAfter(
  found: AssignmentsNow['found'],
  { teams }: TeamPlan,
  { robots }: RobotPlan,
  present: ReadonlySet<string>,
): AssignmentsNow['found'] {
  const kept = [...found].filter(([key, places]) => {
    if (key.startsWith('user:')) return places.some(({ id }) => present.has(`user:${id}`));
    return !key.startsWith('team:') && !key.startsWith('robot_ac:');
  });
  const people = teams.flatMap(({ joins }) =>
    joins.map(({ account: { id, login } }) => [nameOf('user', login), [{ type: 'user', id, name: login }]] as const),
  );
  return new Map([
    ...kept,
    ...people,
    ...teams.map(({ id, name }) => [nameOf('team', name), [{ type: 'team', id, name }]] as const),
    ...robots.map(({ id, name }) => [nameOf('robot_ac', name), [{ type: 'robot_ac', id, name }]] as const),
  ] as [string, Where[]][]);
}

interface RoleRights {
  readonly rights: CallerRights;
  readonly organizationId: bigint;
  readonly held: Pick<HeldPlaces, 'notHeld'>;
  /** Which objects the caller may see. */
  readonly seen: ReadonlySet<string>;
}

/** The changes of a plan, each with the rule of its own call. */
export async function roleChanges(
  now: RoleFileNow,
  plan: RolePartPlan,
  { rights, organizationId, held, seen }: RoleRights,
): Promise<FileChange[]> {
  const roles = wordsFor(plan.roles, now).map(({ role, kind, words }): FileChange => {
    const only = onlyRole(plan.roles, role);
    const rule = () => {
      requireRelations(only, rights.held);
      rejectEscalations(only, rights.held);
    };
    return { section: 'roles', name: role, kind, words, rule };
  });
  const guardrails = plan.guardrails ? guardrailWords(plan.guardrails, now.rules.names) : [];
  return [
    ...roles,
    ...(plan.assignments ? await assignmentChanges(plan.assignments) : []),
    ...guardrails.map(({ guardrail, kind, words }): FileChange => {
      const rule = () => rights.require('can_edit_roles', 'edit_roles:org');
      return { section: 'guardrails', name: guardrail, kind, words, rule };
    }),
  ];

  async function assignmentChanges(assignments: AssignmentPlan): Promise<FileChange[]> {
    const gifts = assignments.gifts.map((gift) => ({ ...gift, ...onStored(gift) }));
    const missing = Map.groupBy(
      await held.notHeld(rights.callerId, organizationId, gifts),
      ({ gift }) => (gift as (typeof gifts)[number]).words,
    );
    // A gift is told by its place in the file, then what it is in words.
    const byTitle = new Map([...missing].map(([words, some]) => [words.slice(words.indexOf(', ') + 2), some]));
    const names = [...rolesAfter(now.roles, plan.roles).values()].flatMap(({ id, name }) => (id ? [{ id, name }] : []));
    const { changes } = assignmentReport(assignments, names, seen);
    const titles = new Set(changes.map(({ assignment }) => assignment));
    const untold = [...byTitle].flatMap(([title, some]) => (titles.has(title) ? [] : some));
    return changes.map(({ assignment, kind, words }): FileChange => {
      const rule = () => {
        requireAssigner(
          kind === 'delete' ? deletionOf(assignments, names, assignment) : assignments,
          rights.held,
          rights.callerId,
        );
        const some: NotHeld[] = kind === 'delete' ? [] : [...(byTitle.get(assignment) ?? []), ...untold];
        if (some.length > 0) throw givesMore(some);
      };
      return { section: 'assignments', name: assignment, kind, words, rule };
    });
  }

  function deletionOf(
    assignments: AssignmentPlan,
    roles: readonly { readonly id: bigint; readonly name: string }[],
    title: string,
  ): AssignmentPlan {
    const names = new Map(roles.map(({ id, name }) => [id, name]));
    const isIt = ({ roleId, to, on }: StoredAssignment) => assignmentWords(names.get(roleId) ?? '', to, on) === title;
    return { ...assignments, creates: [], updates: [], deletes: assignments.deletes.filter(isIt) };
  }
}

/** Of a team or a robot that the file creates, callers hold what they hold of all of them. */
function onStored({ place, grants }: AssignmentPlan['gifts'][number]) {
  if (place.id === undefined || place.id > 0n) return {};
  return {
    place: { type: 'organization' as const, id: undefined },
    grants: effectiveOn(place, grants).effective,
  };
}

function onlyRole({ creates, updates, deletes }: Plan, name: string): Plan {
  return {
    ...NO_CHANGES,
    creates: creates.filter((one) => one.name === name),
    updates: updates.filter(({ next }) => next.name === name),
    deletes: deletes.filter((one) => one.name === name),
  };
}

/** Rejects objects that the caller may not see as if they did not exist. */
export function rejectHidden({ named }: AssignmentPlan, seen: (place: Where) => boolean): void {
  const faults = named.filter(({ on }) => (on.id === undefined || on.id > 0n) && !seen(on)).map(({ fault }) => fault);
  if (faults.length === 0) return;
  throw new AppError('malformed', faults.map(({ message }) => message).join('; '), { errors: faults });
}
