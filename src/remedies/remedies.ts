import type { Model } from '../../packages/rebac/src/rebac.ts';
import type { RoleGrant } from '../authz/escalation.ts';
import { doing } from '../authz/explain/explanation-text.ts';
import { permissionName } from '../authz/explain/permission-names.ts';
import type { ExplainStore } from '../authz/explain/question.ts';
import {
  forbiddenBy,
  type Reach,
  type RejectingGuardrail,
  type Remedies,
  type Remedy,
  type RemedyQuestion,
  type WireChange,
} from '../authz/explain/remedy.ts';
import type { Graphs } from '../authz/graphs.ts';
import { nameOf as nameOfObject, type ObjectRef } from '../authz/object-ref.ts';
import type { HeldPlaces } from '../authz/places/held-places.ts';
import { shownRelation } from '../authz/places/places.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import { assignmentTuplesOf } from '../changes/derived-tuples.ts';
import { OBJECT_KINDS } from '../changes/object-kinds.ts';
import { principalOf, subjectOfPrincipal } from '../changes/principal.ts';
import type { GuardrailChecks, Step } from '../guardrails/guardrail-check.ts';
import { NEW_ASSIGNMENT } from './assignment-candidates.ts';
import type { Candidate, CandidateLimits, RemedyChange } from './candidate.ts';
import { candidatesFor, leastPermission } from './remedy-candidates.ts';
import { createRemedyEffects, type Effect, OF_A_SINGLE_MEMBER, type RelationSet } from './remedy-effects.ts';
import { readVisibleOrganization, type VisibleOrganization } from './visible-organization.ts';

interface RemediesParts {
  readonly graphs: Pick<Graphs, 'eachTuple'>;
  readonly store: Pick<ExplainStore, 'names'>;
  readonly catalog: readonly RoleGrant[];
  readonly limits: CandidateLimits;
  readonly held: Pick<HeldPlaces, 'notHeld'>;
  readonly checks: GuardrailChecks;
  readonly model: Model;
}

const MAX_REMEDIES = 10;
/** So many candidates are tried in the graph; more only while every one of them would be rejected by a guardrail. */
const MAX_TRIED = 30;
const MAX_REJECTED = 100;
/** Of changes that give the same, the smaller first. */
const ORDER: readonly RemedyChange['action'][] = [
  'assignment.create',
  'team.add_member',
  'role.assign',
  'role.update',
  'role.create',
];

interface Judged {
  readonly candidate: Candidate;
  readonly gains: number;
  readonly others: number;
  readonly reach: Reach;
  readonly rejectedBy: RejectingGuardrail | undefined;
}

type NameOf = (object: string) => string;

/**
 * Ways to get to yes, ordered by how little else they grant and to how few people. They are found in what the caller may
 * see of the organization, so they reveal nothing else.
 */
export function createRemedies({ graphs, store, catalog, limits, held, checks, model }: RemediesParts) {
  return async (question: RemedyQuestion): Promise<Remedies> => {
    const { organizationId, callerId, userId, object, relation, seesWhole = false, actions } = question;
    if (question.standing === 'hidden') return none('');
    if (object.type === 'user') return none('Only users themselves can do this with their account.');
    if (question.standing === 'own')
      return none('It belongs to a user, not to an organization: no other user can get it.');
    const yieldIfDue = createYielder();
    const aim = { user: subjectOfPrincipal(userId), object: nameOfObject(object) };
    const about = { organizationId, callerId, userId, object: aim.object, seesWhole };
    const visible = await readVisibleOrganization(graphs, model, about);
    const effects = createRemedyEffects(visible, organizationId, relation, yieldIfDue);
    await yieldIfDue();
    const known = effects.permissions(catalog);
    await yieldIfDue();
    const least = leastPermission(known)?.grant;
    const setting = { visible, effects, organizationId, callerId, object, catalog, limits, held };
    const here = least ? effects.givenHere(least) : new Set<string>();
    const found = relation === 'can_leave' ? [] : await candidatesFor(setting, known, yieldIfDue);
    const isWanted = ({ changes }: Candidate) => !actions || changes.every(({ action }) => actions.includes(action));
    const candidates = found.filter(isWanted);
    candidates.sort(byEstimate);
    const judged: Judged[] = [];
    const guard = candidates.length === 0 ? undefined : await checks.open(organizationId, callerId);
    const seesGuardrails = seesWhole || visible.caller.held.has('can_view_roles');
    for (const [place, candidate] of candidates.entries()) {
      const isAccepted = judged.some(({ rejectedBy }) => !rejectedBy);
      if (place >= MAX_REJECTED || (place >= MAX_TRIED && (isAccepted || !guard))) break;
      const effect = await effects.of(candidate);
      if (!effect.isEnough) continue;
      const { others, reach } = effect;
      // A caller who may neither see guardrails nor make the change is not told of one.
      const isTold = candidate.isAllowed || seesGuardrails;
      const rejectedBy = isTold ? await guard?.wouldReject(stepsOf(candidate, aim.user)) : undefined;
      judged.push({ candidate, gains: furtherIn(candidate, effect, least, here), others, reach, rejectedBy });
    }
    const best = judged.sort(byEffect).slice(0, MAX_REMEDIES);
    const names = await store.names([aim.user, aim.object, `organization:${organizationId}`, ...objectsIn(best)]);
    const nameOf: NameOf = (one) => names.get(one) ?? one;
    const whom = (visible.isRobot ? 'the robot account ' : '') + nameOf(aim.user);
    const isNew = best.some(({ candidate }) => candidate.changes.some(({ action }) => action === 'role.create'));
    const taken = isNew ? await store.names([...visible.roles.keys()].map((id) => `role:${id}`)) : new Map();
    const freeName = (wanted: string) => freeNameFor(wanted, [...taken.values()]);
    const [first] = best;
    const parts = first && partsOf(first.candidate.changes, whom, nameOf).join(', and to ');
    const isNot = `${nameOf(aim.user)} cannot ${doing(relation, nameOf(aim.object))}`;
    const wordsOf = (reach: Reach) => reachWords(reach, object.type);
    const reached = first && wordsOf(first.reach);
    const help = `the smallest change that would help is to ${parts}${reached ? ` (${reached})` : ''}`;
    return {
      sentence: parts && `${isNot}: ${first.rejectedBy ? forbiddenBy(first.rejectedBy) : help}`,
      remedies: best.map(({ candidate, gains, others, reach, rejectedBy }) => ({
        changes: candidate.changes.map((change) => onWire(change, userId, nameOf, freeName)),
        sentence: sentenceOf(candidate.changes, whom, nameOf),
        gains,
        others,
        reach,
        reachWords: wordsOf(reach),
        isAllowed: candidate.isAllowed && !rejectedBy,
        rejectedBy,
        required: requiredFor(candidate, organizationId),
      })),
      note: first?.rejectedBy
        ? 'A guardrail would reject every one of these.'
        : noteOn(question, visible, least !== undefined, best.length, nameOf),
    };
  };
}

function none(note: string): Remedies {
  return { remedies: [], sentence: undefined, note };
}

/** On the object that a role is assigned on, the asked permission comes with what it implies. */
function furtherIn(
  { assigns }: Candidate,
  { gained, gainedHere }: Effect,
  least: RoleGrant | undefined,
  here: RelationSet,
): number {
  const further = [...gained].filter((relation) => relation !== least?.relation).length;
  return further + (assigns?.on === undefined ? 0 : gainedHere.difference(here).size);
}

function byEstimate(one: Candidate, other: Candidate): number {
  return one.estimate[0] - other.estimate[0] || one.estimate[1] - other.estimate[1] || orderOf(one) - orderOf(other);
}

/** What a guardrail would reject comes last. */
function byEffect(one: Judged, other: Judged): number {
  const rejected = Number(one.rejectedBy !== undefined) - Number(other.rejectedBy !== undefined);
  return (
    rejected ||
    one.gains - other.gains ||
    one.others - other.others ||
    orderOf(one.candidate) - orderOf(other.candidate)
  );
}

function orderOf({ changes }: Candidate): number {
  return changes.length * ORDER.length + Math.max(...changes.map(({ action }) => ORDER.indexOf(action)));
}

/** A user joins a team before the team gets a role. */
function stepsOf({ tuples, joins, assigns }: Candidate, user: string): Step[] {
  const team = `team:${joins}`;
  const join: Step = (copy) => {
    const stays = copy.tuplesOf(team).filter(({ relation }) => !OF_A_SINGLE_MEMBER.includes(relation));
    return [copy.replaceSource(team, [...stays, { object: team, relation: 'member', user }]) ?? []].flat();
  };
  const byRole = Map.groupBy(tuples, ({ object, user: by }) => (object.startsWith('role:') ? object : baseOf(by)));
  const grant: Step = (copy) =>
    [...byRole].flatMap(([role, added]) => copy.replaceSource(role, [...copy.tuplesOf(role), ...added]) ?? []);
  const assign: Step = (copy) => {
    if (!assigns) return [];
    const { roleId, on, place } = assigns;
    const made = { id: NEW_ASSIGNMENT, roleId, to: user, on, isOnOwners: place.isOwners ?? false };
    return [copy.replaceSource(`assignment:${NEW_ASSIGNMENT}`, assignmentTuplesOf(made)) ?? []].flat();
  };
  const last = assigns ? assign : grant;
  return [...(joins === undefined ? [] : [join]), ...(tuples.length === 0 ? [] : [last])];
}

/** `role:4` of `role:4#assignee`. */
function baseOf(subject: string): string {
  return subject.split('#')[0] ?? '';
}

function reachWords({ objects, isOpen }: Reach, type: ObjectRef['type']): string {
  const word = OBJECT_KINDS[type].title;
  const others = objects === 0 ? [] : [`${objects} other ${word}${objects === 1 ? '' : 's'}`];
  const parts = [...others, ...(isOpen ? [`every ${word} to come`] : [])];
  return parts.length === 0 ? '' : `also on ${parts.join(', and ')}`;
}

function objectsIn(best: readonly Judged[]): string[] {
  return best.flatMap(({ candidate }) =>
    candidate.changes.flatMap((change) => {
      if (change.action === 'assignment.create') return [`role:${change.roleId}`, nameOfObject(change.on)];
      const on = change.action === 'role.create' ? [] : [`${change.action.split('.')[0]}:${change.id}`];
      return 'team' in change ? [...on, `team:${change.team}`] : on;
    }),
  );
}

function onWire(
  change: RemedyChange,
  userId: bigint,
  nameOf: NameOf,
  freeName: (wanted: string) => string,
): WireChange {
  const user = subjectOfPrincipal(userId);
  switch (change.action) {
    case 'role.create': {
      const { permission, team } = change;
      return {
        action: 'role.create',
        role: { name: freeName(permissionName(permission.action)), permissions: [permission], teamIDs: [team] },
      };
    }
    case 'role.update':
      return { action: 'role.update', id: change.id, role: { permissions: change.permissions } };
    case 'role.assign':
      return change;
    case 'team.add_member':
      return { ...change, username: nameOf(user) };
    case 'assignment.create': {
      const { action, roleId: id, on } = change;
      return {
        action,
        role: { id, name: nameOf(`role:${id}`) },
        to: { ...principalOf(userId), name: nameOf(user) },
        on: { ...on, name: nameOf(nameOfObject(on)) },
      };
    }
  }
}

function freeNameFor(wanted: string, taken: readonly string[]): string {
  const used = new Set(taken.map((name) => name.toLowerCase()));
  for (let number = 2, name = wanted; ; number++) {
    if (!used.has(name.toLowerCase())) return name;
    name = `${wanted} ${number}`;
  }
}

function sentenceOf(changes: readonly RemedyChange[], user: string, nameOf: NameOf): string {
  const [first = '', ...rest] = partsOf(changes, user, nameOf);
  return [`${first.charAt(0).toUpperCase()}${first.slice(1)}`, ...rest].join(', and ');
}

function partsOf(changes: readonly RemedyChange[], user: string, nameOf: NameOf): string[] {
  return changes.map((change) => partOf(change, user, nameOf));
}

function partOf(change: RemedyChange, user: string, nameOf: NameOf): string {
  switch (change.action) {
    case 'role.create':
      return `create a role that contains only "${permissionName(change.permission.action)}", and assign it to the team ${nameOf(`team:${change.team}`)}`;
    case 'role.update':
      return `add "${permissionName(change.permissions.at(-1)?.action ?? '')}" to the role ${nameOf(`role:${change.id}`)}, which ${user} has`;
    case 'role.assign':
      return `assign the role ${nameOf(`role:${change.id}`)} to the team ${nameOf(`team:${change.team}`)}`;
    case 'team.add_member':
      return `add ${user} to the team ${nameOf(`team:${change.id}`)}`;
    case 'assignment.create':
      return `assign the role ${nameOf(`role:${change.roleId}`)} to ${user} on ${nameOf(nameOfObject(change.on))}`;
  }
}

function requiredFor({ changes, needs = [] }: Candidate, organizationId: bigint): Remedy['required'] {
  const organization = { type: 'organization', id: organizationId } as const;
  const change = changes.at(-1);
  if (change?.action === 'team.add_member') {
    return { object: { type: 'team', id: change.id }, relation: 'can_add_member', also: [] };
  }
  if (change?.action === 'assignment.create') {
    const also = needs.map((relation) => ({ object: change.on, relation: shownRelation(relation) }));
    return { object: organization, relation: 'can_assign_roles', also };
  }
  const relation = change?.action === 'role.create' ? 'can_create_role' : 'can_edit_roles';
  return { object: organization, relation, also: [] };
}

function noteOn(
  { organizationId, userId, object, relation }: RemedyQuestion,
  { userTeams, caller, graph, isRobot }: VisibleOrganization,
  isInCatalog: boolean,
  count: number,
  nameOf: NameOf,
): string {
  const user = nameOf(subjectOfPrincipal(userId));
  const organization = nameOf(`organization:${organizationId}`);
  if (relation === 'can_leave') {
    return caller.isUserMember
      ? `Members of ${organization} can leave it, except the last owner: ${organization} needs another owner first.`
      : `Only members of ${organization} can leave it.`;
  }
  const name = nameOfObject(object);
  const says = new Set([...graph.tuplesOf(name)].filter((one) => one.object === name).map((one) => one.relation));
  if (relation === 'can_delete' && says.has('built_in')) return `${nameOf(name)} is a built-in team and stays.`;
  if (relation === 'can_remove_member' && says.has('kept') && count === 0) {
    return `${nameOf(name)} needs another member first: an organization always has an owner.`;
  }
  if (!isInCatalog && count > 0) {
    return `No role can contain the permission to ${doing(relation, nameOf(name))}: only teams give it.`;
  }
  if (count === 0) return `No change of the teams and roles that you may see would let ${user} do this.`;
  if (isRobot) return '';
  if (userTeams.length === 0 && caller.seesAllTeams) {
    return `${user} is in no team of ${organization}, so adding ${user} to a team is the only way.`;
  }
  return '';
}
