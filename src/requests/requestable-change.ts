import type { Remedies, Remedy, RemedyQuestion, Requestable, WireChange } from '../authz/explain/remedy.ts';
import type { Judge } from '../authz/judge.ts';
import type { AskedObject } from '../authz/object-ref.ts';
import { effectiveOn, relationOn, shownRelation } from '../authz/places/places.ts';
import type { MayBeAsked } from '../authz/relations.ts';
import type { AppError } from '../base/errors.ts';
import { isRobotPrincipal, principalOf } from '../changes/principal.ts';
import type { CatalogEntry } from '../roles/catalog.ts';
import type { AccessRequest, AskedFor, RequestedChange } from './access-request.ts';
import type { ApproverStore, Approvers } from './approvers/approvers.ts';
import { notRequestable } from './request-errors.ts';
import { namesItsSubject, namesRole, type RequestRule, type RuleSubject, ruleFor } from './rules/request-rule.ts';
import { isAskedType } from './rules/request-rules.ts';

/** What is asked for, about the caller themselves. */
export interface Wish {
  readonly organizationId: bigint;
  readonly callerId: bigint;
  readonly relation: string;
  readonly object: AskedFor;
  readonly namespaces: readonly string[] | null;
  readonly isBreakGlass: boolean;
}

/** A remedy that explain offered: by its place in the list, or by its changes. */
export type ChosenRemedy = number | { readonly changes: readonly unknown[] };

/** A change that a rule allows to be asked for. */
export interface RequestableChange {
  readonly change: RequestedChange;
  readonly rule: RequestRule;
}

interface Parts {
  readonly remedies: (question: RemedyQuestion) => Promise<Remedies>;
  readonly judge: Pick<Judge, 'holds'>;
  readonly approvers: Pick<Approvers, 'of'>;
  readonly roles: Pick<ApproverStore, 'role' | 'teamGrant'>;
  readonly rulesOf: (organizationId: bigint) => Promise<readonly RequestRule[]>;
  readonly store: {
    teamNames(organizationId: bigint, userId: bigint): Promise<ReadonlySet<string>>;
    clusterSet(id: bigint): Promise<string | undefined>;
  };
  readonly catalog: readonly CatalogEntry[];
  readonly isRelation: (type: string, relation: string) => boolean;
}

/** The changes that end with a request. What stays, such as a new role, cannot be requested. */
const ACTIONS: readonly WireChange['action'][] = ['assignment.create', 'team.add_member'];
/** No user could give it back. */
const NEVER: ReadonlySet<string> = new Set(['organization can_delete', 'organization can_leave']);

export type RequestableChanges = ReturnType<typeof createRequestableChanges>;

/** Which change would give what is asked for, and whether the rules allow to ask for it. */
export function createRequestableChanges(parts: Parts) {
  const { remedies, judge, approvers, roles, rulesOf, store, catalog, isRelation } = parts;
  return { choose, subjectOf, rulesOf, requestable, mayBeAsked, mayBeAskedAbout, tellsOf };

  /** For a rejection: the relation may be one that callers know by another name. */
  async function mayBeAskedAbout({
    object: { type, id },
    relation,
    ...question
  }: Parameters<MayBeAsked>[0]): Promise<boolean> {
    if (!isAskedType(type)) return false;
    const shown = type === 'organization' && relation === 'assigner' ? 'can_assign_roles' : shownRelation(relation);
    return await mayBeAsked({ ...question, relation: shown, object: { type, id, name: '' } });
  }

  /** The least that the rules allow, or the one that was chosen. Throws what is wrong with it. */
  async function choose(wish: Wish, chosen: ChosenRemedy | undefined): Promise<RequestableChange> {
    const fault = faultOf(wish);
    if (fault !== undefined) throw notRequestable(fault);
    const rules = await rulesOf(wish.organizationId);
    const subject = await subjectOf(wish);
    const offered = chosen === undefined ? await offers(wish, true) : await chosenFrom(wish, chosen);
    if (offered.length === 0) throw notRequestable('no role or team of the organization that ends would give it');
    let reason: AppError | undefined;
    for (const remedy of offered) {
      const change = await changeOf(wish, remedy);
      if (typeof change === 'string') {
        reason ??= notRequestable(change);
        continue;
      }
      const rule = ruleFor(rules, { ...subject, role: roleIn(change) });
      const isMore = remedy.gains > 0 || (await givesBesides(wish, change));
      const why = remedy.rejectedBy ? 'a guardrail would reject it' : rejectionBy(rule, wish, change, isMore);
      if (why === undefined && rule) return { change, rule };
      reason ??= notRequestable(why ?? '');
    }
    throw reason ?? notRequestable('there is no way to give it');
  }

  async function offers(wish: Wish, seesWhole: boolean): Promise<readonly Remedy[]> {
    const { organizationId, callerId, relation, object } = wish;
    const question = { organizationId, callerId, userId: callerId, relation, object, standing: 'seen' } as const;
    const found = await remedies(seesWhole ? { ...question, seesWhole, actions: ACTIONS } : question);
    return found.remedies;
  }

  async function chosenFrom(wish: Wish, chosen: ChosenRemedy): Promise<readonly Remedy[]> {
    const offered = await offers(wish, false);
    const found =
      typeof chosen === 'number'
        ? offered[chosen]
        : offered.find(({ changes }) => canonical(changes) === canonical(chosen.changes));
    if (!found) throw notRequestable('remedy is none of those that explain offers');
    return [found];
  }

  /** Or why the remedy cannot be requested. */
  async function changeOf(wish: Wish, { changes }: Remedy): Promise<RequestedChange | string> {
    const [change, ...others] = changes;
    if (!change || others.length > 0) return 'only a single change can be requested';
    if (change.action === 'team.add_member') {
      if (wish.namespaces) return 'a team gives more than some namespaces';
      const grant = await roles.teamGrant(wish.organizationId, change.id);
      if (!grant || grant.permission === 'owner') return 'the permissions of owners cannot be requested';
      return { action: 'team.add_member', team: { id: change.id, name: '' } };
    }
    if (change.action !== 'assignment.create')
      return 'only a role for the requester, or joining a team, ends by itself';
    if (wish.namespaces && !(await givesIn(wish, change.role.id))) return 'the role does not give it in namespaces';
    return { action: 'assignment.create', role: change.role };
  }

  async function givesIn({ organizationId, object, namespaces, relation }: Wish, roleId: bigint): Promise<boolean> {
    const role = await roles.role(organizationId, roleId);
    const place = { type: object.type, id: object.id, namespaces };
    return (role?.permissions ?? []).some((permission) => {
      const there = relationOn(place, permission.relation);
      return there !== undefined && (shownRelation(there) === relation || relation === 'can_view');
    });
  }

  /**
   * Whether the role has a permission there that is neither the one that is asked for nor required by it. The requester
   * may hold it already, but for a shorter time.
   */
  async function givesBesides({ organizationId, object, namespaces, relation }: Wish, change: RequestedChange) {
    if (change.action !== 'assignment.create') return true;
    const role = await roles.role(organizationId, change.role.id);
    const place = { type: object.type, id: object.id, namespaces };
    const asked = catalog.filter((entry) => isAsked(entry, object, relation));
    const wanted = new Set(
      asked.flatMap((entry) => [entry.action, ...entry.requires].map((one) => pairOf(entry, one))),
    );
    const { effective } = effectiveOn(place, role?.permissions ?? []);
    return !effective.every((permission) => wanted.has(pairOf(permission, permission.action)));
  }

  async function subjectOf({ organizationId, callerId, relation, object }: Omit<Wish, 'namespaces' | 'isBreakGlass'>) {
    const isRobot = isRobotPrincipal(callerId);
    const subject: RuleSubject = {
      ...{ relation, object, role: undefined },
      clusterSet: object.type === 'cluster' ? await store.clusterSet(object.id) : undefined,
      teams: isRobot ? new Set<string>() : await store.teamNames(organizationId, callerId),
    };
    return subject;
  }

  /** Whether a rule tells the caller of an object that they may not see. */
  async function tellsOf(wish: Omit<Wish, 'namespaces' | 'isBreakGlass'>): Promise<boolean> {
    const rules = await rulesOf(wish.organizationId);
    const rule = rules.length === 0 ? undefined : ruleFor(rules, await subjectOf(wish));
    return rule?.allow === true && namesItsSubject(rule);
  }

  /** Only from the rules and the catalogue, without looking for a way to give it. */
  async function mayBeAsked(wish: Omit<Wish, 'namespaces' | 'isBreakGlass'>, inCatalog = true): Promise<boolean> {
    const { organizationId, callerId, relation, object } = wish;
    if (!isAskedType(object.type) || faultOf(wish) !== undefined) return false;
    const organization = { type: 'organization', id: organizationId } as const;
    const isInside = isRobotPrincipal(callerId)
      ? await judge.holds(callerId, organizationId, 'can_view', organization)
      : await judge.holds(callerId, organizationId, 'participant', organization);
    if (!isInside) return false;
    if (inCatalog && !catalog.some((entry) => gives(entry, object, relation))) return false;
    const rules = await rulesOf(organizationId);
    return ruleFor(rules, rules.length === 0 ? NOBODY : await subjectOf(wish))?.allow ?? false;
  }

  /** For explanations of a no: only what could be asked for at this moment. */
  async function requestable({
    object: asked,
    ...question
  }: Omit<RemedyQuestion, 'standing' | 'userId' | 'object'> & { readonly object: AskedObject }): Promise<
    Requestable | undefined
  > {
    const { type, id, namespace } = asked;
    if (!isAskedType(type)) return undefined;
    const object: AskedFor = { type, id, name: '' };
    const namespaces = namespace === undefined ? null : [namespace];
    const wish = { ...question, object, namespaces, isBreakGlass: false };
    if (!(await mayBeAsked(wish, false))) return undefined;
    const { organizationId, callerId } = question;
    const isSeen = await judge.holds(callerId, organizationId, 'can_view', { type, id });
    if (!isSeen && !(await tellsOf(wish))) return undefined;
    const found = await choose(wish, undefined).catch((error: unknown) => {
      if ((error as Partial<AppError>).kind === 'malformed') return undefined;
      throw error;
    });
    if (!found) return undefined;
    const { rule, change } = found;
    const until = new Date(Date.now() + rule.longestSeconds * 1000);
    const by = { ...principalOf(callerId), name: '' };
    const count = (
      await approvers.of({ organizationId, by, object, namespaces, change, until, tokenCreator: null }, rule)
    ).length;
    // For a shorter time there may be more of them.
    return { longest: rule.longest, approvals: rule.approvals, approvers: count };
  }

  function faultOf({ relation, object }: Pick<Wish, 'relation' | 'object'>): string | undefined {
    if (NEVER.has(`${object.type} ${relation}`)) return `${relation} of the ${object.type} is for owners`;
    return isRelation(object.type, relation) ? undefined : `${object.type} has no relation ${relation}`;
  }
}

const NOBODY: RuleSubject = {
  ...{
    relation: '',
    object: { type: 'organization', id: 0n },
    clusterSet: undefined,
    role: undefined,
    teams: new Set(),
  },
};

/** Whether a permission of the catalogue gives the relation there, itself or because it implies it. */
function gives({ relation: permission }: CatalogEntry, { type }: AskedFor, relation: string): boolean {
  const there = relationOn({ type }, permission);
  if (there === undefined) return false;
  return type === 'organization'
    ? permission === relation
    : shownRelation(there) === relation || relation === 'can_view' || relation.startsWith('can_remove_member');
}

/** Whether it is the permission for exactly this relation. */
function isAsked({ relation: permission }: CatalogEntry, { type }: AskedFor, relation: string): boolean {
  const there = relationOn({ type }, permission);
  if (there === undefined) return false;
  const shown = type === 'organization' ? permission : shownRelation(there);
  return shown === relation || (shown === 'can_add_member' && relation.startsWith('can_remove_member'));
}

function pairOf({ namespace }: { readonly namespace: string }, action: string): string {
  return `${namespace} ${action}`;
}

function roleIn(change: AccessRequest['change']): string | null {
  return change.action === 'assignment.create' ? change.role.name : null;
}

/** Why the rule does not allow it. What no person approves must give nothing besides, unless the rule names the role. */
export function rejectionBy(
  rule: RequestRule | undefined,
  { isBreakGlass }: Pick<Wish, 'isBreakGlass'>,
  change: RequestedChange,
  isMore: boolean,
): string | undefined {
  if (!rule) return 'no request rule of the organization matches';
  if (!rule.allow) return `the request rule ${JSON.stringify(rule.name)} forbids it`;
  if (isBreakGlass && !rule.breakGlass) return 'no request rule allows to break the glass for it';
  if (!isBreakGlass && rule.approvals > 0) return undefined;
  if (change.action !== 'assignment.create') return 'joining a team needs an approval';
  if (isMore && !namesRole(rule, change.role.name)) {
    return `the role ${change.role.name} gives more than was asked for, so it needs an approval`;
  }
  return undefined;
}

/** Without what a client may leave out, in one order. */
function canonical(changes: readonly unknown[]): string {
  const sorted = (value: unknown): unknown => {
    if (typeof value === 'bigint') return Number(value);
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).filter(
      ([key, one]) => key !== 'expires_at' && one !== undefined && one !== null,
    );
    return Object.fromEntries(
      entries.sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, one]) => [key, sorted(one)]),
    );
  };
  return JSON.stringify(changes.map(sorted));
}
