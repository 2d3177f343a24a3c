import type { Model } from '../../packages/rebac/src/rebac.ts';
import { HIDDEN } from '../authz/explain/hidden-objects.ts';
import type { ExplainStore } from '../authz/explain/question.ts';
import type { Graphs } from '../authz/graphs.ts';
import type { Judge } from '../authz/judge.ts';
import type { ObjectRef } from '../authz/object-ref.ts';
import { type Limits, limitReached } from '../base/config/limits.ts';
import { AppError, invalidField } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { isRobotPrincipal, type Principal, principalOf, subjectOfPrincipal } from '../changes/principal.ts';
import { type Once, onceFor } from '../changes/write.ts';
import { readOrganization } from '../simulation/organization-copy.ts';
import { type Guardrail, type GuardrailDraft, namedIn, type Violation, type Violations } from './guardrail.ts';
import type { FileGuardrail, WantedGuardrail } from './guardrail-file.ts';
import { type GuardrailInput, type Reference, type References, readDraft } from './guardrail-input.ts';
import { guardrailSentence } from './guardrail-text.ts';
import { violationsAmong } from './violations.ts';

export interface GuardrailStore extends References {
  list(organizationId: bigint): Promise<StoredGuardrails>;
  get(organizationId: bigint, id: bigint): Promise<StoredGuardrails>;
  create(
    organizationId: bigint,
    draft: GuardrailDraft,
    actor: Actor,
    once?: Once<Guardrail>,
  ): Promise<Guardrail | 'name taken'>;
  /** `decide` sees the guardrail as it is while no other transaction can change it. */
  update(
    organizationId: bigint,
    id: bigint,
    decide: (current: Guardrail) => GuardrailDraft,
    actor: Actor,
  ): Promise<Guardrail | 'name taken' | undefined>;
  remove(organizationId: bigint, id: bigint, decide: (current: Guardrail) => void, actor: Actor): Promise<boolean>;
}

export interface StoredGuardrails {
  readonly guardrails: readonly Guardrail[];
  readonly violations: Violations;
}

export interface NamedRef {
  readonly id: bigint;
  readonly name: string;
}

/** A guardrail as a caller may see it. What they may not see has no ID and is called hidden. */
export interface ShownGuardrail {
  readonly guardrail: Guardrail;
  readonly sentence: string;
  readonly users: readonly NamedRef[];
  readonly robots: readonly NamedRef[];
  readonly team: NamedRef | undefined;
  readonly object: NamedRef | undefined;
  /** Every user or object that it is about is gone. */
  readonly isVacuous: boolean;
  readonly violation: Violation | undefined;
  readonly violatedBy: readonly (NamedRef & Pick<Principal, 'type'>)[];
}

export interface GuardrailSetting {
  readonly organizationId: bigint;
  readonly actor: Actor;
}

type Precondition = (current: Guardrail) => void;
/** What the caller may see, and what it is called. */
interface View {
  sees(object: string): boolean;
  readonly names: ReadonlyMap<string, string>;
}

interface GuardrailsParts {
  readonly store: GuardrailStore;
  readonly graphs: Pick<Graphs, 'eachTuple'>;
  readonly names: Pick<ExplainStore, 'names'>;
  readonly judge: Pick<Judge, 'allowed'>;
  readonly model: Model;
  readonly limits: Pick<Limits, 'guardrailsPerOrganization'>;
}

export type Guardrails = ReturnType<typeof createGuardrails>;

/** Statements about who may do what in an organization that must stay true. */
export function createGuardrails({ store, graphs, names, judge, model, limits }: GuardrailsParts) {
  return { list, get, create, update, remove, tryCreate, tryUpdate, read, seesAll };

  async function list(organizationId: bigint, callerId: bigint): Promise<ShownGuardrail[]> {
    const { guardrails, violations } = await store.list(organizationId);
    return await shown(organizationId, callerId, guardrails, violations);
  }

  async function get(organizationId: bigint, callerId: bigint, id: bigint): Promise<ShownGuardrail> {
    const { guardrails, violations } = await store.get(organizationId, id);
    const [one] = await shown(organizationId, callerId, guardrails, violations);
    if (!one) throw guardrailNotFound();
    return one;
  }

  async function create(
    { organizationId, actor }: GuardrailSetting,
    input: GuardrailInput,
    once?: Once<ShownGuardrail>,
  ): Promise<ShownGuardrail> {
    const draft = await readDraft(visibleTo(organizationId, actor.id), model, organizationId, undefined, input);
    // One that is enforced holds, or it is not stored.
    const violation = draft.enforce ? undefined : await violationOf(organizationId, draft);
    const view = await viewFor(organizationId, actor.id, [draft], violation ? [violation] : []);
    const complete = (guardrail: Guardrail) => shownIn(view, guardrail, violation);
    const made = await store.create(organizationId, draft, actor, onceFor(once, complete));
    if (made === 'name taken') throw nameTaken();
    return complete(made);
  }

  async function update(
    { organizationId, actor }: GuardrailSetting,
    id: bigint,
    input: GuardrailInput,
    precondition: Precondition,
  ): Promise<ShownGuardrail> {
    const current = await one(organizationId, id);
    const draft = await readDraft(visibleTo(organizationId, actor.id), model, organizationId, current, input);
    const decide = (now: Guardrail) => {
      precondition(now);
      // Only what the caller sends changes, whatever other users changed meanwhile.
      return { ...now, ...pick(draft, input) };
    };
    const outcome = await store.update(organizationId, id, decide, actor);
    if (outcome === undefined) throw guardrailNotFound();
    if (outcome === 'name taken') throw nameTaken();
    return await get(organizationId, actor.id, id);
  }

  async function remove({ organizationId, actor }: GuardrailSetting, id: bigint, precondition: Precondition) {
    if (!(await store.remove(organizationId, id, precondition, actor))) throw guardrailNotFound();
  }

  /** Guardrails of a file. One that cannot be stored may be stored already, about something that is gone. */
  async function read(
    organizationId: bigint,
    callerId: bigint,
    inputs: readonly FileGuardrail[],
  ): Promise<WantedGuardrail[]> {
    const wanted: WantedGuardrail[] = [];
    for (const input of inputs) {
      try {
        const draft = await readDraft(visibleTo(organizationId, callerId), model, organizationId, undefined, input);
        wanted.push({ input, outcome: { draft } });
      } catch (fault) {
        if (!(fault instanceof AppError)) throw fault;
        wanted.push({ input, outcome: { fault } });
      }
    }
    return wanted;
  }

  async function seesAll(organizationId: bigint, callerId: bigint, objects: readonly string[]): Promise<boolean> {
    const things = objects.flatMap((object) => {
      const [type = '', id = '0'] = object.split(':');
      return type === 'user' ? [] : [{ type: type as ObjectRef['type'], id: BigInt(id) }];
    });
    const organization = { type: 'organization', id: organizationId } as const;
    const [held = [], ...relations] = await judge.allowed(callerId, organizationId, [organization, ...things]);
    const known = await names.names(objects);
    const seesPeople = things.length === objects.length || held.includes('can_view_members');
    return (
      seesPeople &&
      things.every(({ type, id }, place) => {
        return relations[place]?.includes('can_view') || !known.has(`${type}:${id}`);
      })
    );
  }

  /** What creating it would give; nothing is written. */
  async function tryCreate({ organizationId, actor }: GuardrailSetting, input: GuardrailInput) {
    const draft = await readDraft(visibleTo(organizationId, actor.id), model, organizationId, undefined, input);
    const { guardrails } = await store.list(organizationId);
    const max = limits.guardrailsPerOrganization;
    if (guardrails.length >= max) throw limitReached('guardrailsPerOrganization', max, guardrails.length);
    return await tried(organizationId, actor.id, guardrails, { ...draft, ...unstored(organizationId) });
  }

  async function tryUpdate(
    { organizationId, actor }: GuardrailSetting,
    id: bigint,
    input: GuardrailInput,
    precondition: Precondition,
  ) {
    const current = await one(organizationId, id);
    precondition(current);
    const draft = await readDraft(visibleTo(organizationId, actor.id), model, organizationId, current, input);
    const { guardrails } = await store.list(organizationId);
    const others = guardrails.filter((guardrail) => guardrail.id !== id);
    return await tried(organizationId, actor.id, others, { ...current, ...draft });
  }

  async function tried(
    organizationId: bigint,
    callerId: bigint,
    others: readonly Guardrail[],
    guardrail: Guardrail,
  ): Promise<ShownGuardrail> {
    if (others.some(({ name }) => name.toLowerCase() === guardrail.name.toLowerCase())) throw nameTaken();
    const violation = await violationOf(organizationId, guardrail);
    const view = await viewFor(organizationId, callerId, [guardrail], violation ? [violation] : []);
    return shownIn(view, guardrail, violation);
  }

  /** What the caller may not see does not exist for them, here as elsewhere. */
  function visibleTo(organizationId: bigint, callerId: bigint): References {
    const seen = async (type: ObjectRef['type'], found: readonly Reference[]) => {
      const objects = found.map(({ id }) => ({ type, id }));
      const relations = await judge.allowed(callerId, organizationId, objects);
      return found.filter((_, place) => relations[place]?.includes('can_view'));
    };
    return {
      users: store.users,
      teams: async (id, which) => await seen('team', await store.teams(id, which)),
      objects: async (id, type, which) => await seen(type, await store.objects(id, type, which)),
    };
  }

  async function violationOf(organizationId: bigint, draft: GuardrailDraft): Promise<Violation | undefined> {
    const copy = await (await readOrganization(graphs, organizationId)).copy(model);
    return (await violationsAmong(copy, [{ ...draft, id: 0n }])).get(0n);
  }

  async function one(organizationId: bigint, id: bigint): Promise<Guardrail> {
    const [found] = (await store.get(organizationId, id)).guardrails;
    if (!found) throw guardrailNotFound();
    return found;
  }

  async function shown(
    organizationId: bigint,
    callerId: bigint,
    guardrails: readonly Guardrail[],
    violations: Violations,
  ): Promise<ShownGuardrail[]> {
    const view = await viewFor(organizationId, callerId, guardrails, [...violations.values()]);
    return guardrails.map((guardrail) => shownIn(view, guardrail, violations.get(guardrail.id)));
  }

  async function viewFor(
    organizationId: bigint,
    callerId: bigint,
    drafts: readonly GuardrailDraft[],
    violations: readonly Violation[],
  ): Promise<View> {
    const people = violations.flatMap(({ userIds }) => userIds.map(subjectOfPrincipal));
    const robots = [...drafts, ...violations].flatMap(({ userIds }) => userIds.filter(isRobotPrincipal));
    const objects = [...new Set([...drafts.flatMap(namedIn), ...people])];
    const named: ObjectRef[] = drafts.flatMap(({ teamId, objectType, objectId }) => [
      ...(teamId === undefined ? [] : [{ type: 'team' as const, id: teamId }]),
      ...(objectId === undefined ? [] : [{ type: objectType, id: objectId }]),
    ]);
    const things: ObjectRef[] = [...named, ...[...new Set(robots)].map(principalOf)];
    const organization = { type: 'organization', id: organizationId } as const;
    const [held = [], ...relations] = await judge.allowed(callerId, organizationId, [organization, ...things]);
    const visible = new Set(
      things.flatMap(({ type, id }, place) => (relations[place]?.includes('can_view') ? [`${type}:${id}`] : [])),
    );
    const known = await names.names(objects);
    const seesPeople = held.includes('can_view_members');
    // Of a deleted object, nothing is left to hide but the name that the statement remembers.
    const seesAll = seesPeople && held.includes('can_view_teams');
    return {
      names: known,
      sees: (object) =>
        object === subjectOfPrincipal(callerId) ||
        (object.startsWith('user:') ? seesPeople : visible.has(object) || (seesAll && !known.has(object))),
    };
  }
}

function shownIn({ sees, names }: View, guardrail: Guardrail, violation: Violation | undefined): ShownGuardrail {
  const { teamId, objectType, objectId } = guardrail;
  const nameOf = (object: string) => (sees(object) ? (names.get(object) ?? guardrail.names[object] ?? object) : HIDDEN);
  const refOf = (type: string, id: bigint): NamedRef => {
    const object = `${type}:${id}`;
    return { id: sees(object) ? id : 0n, name: nameOf(object) };
  };
  const personOf = (principal: bigint) => {
    const { type, id } = principalOf(principal);
    return refOf(type, id);
  };
  const isGone = (object: string) => !names.has(object);
  const subjects = namedIn({ ...guardrail, objectId: undefined });
  return {
    guardrail,
    sentence: guardrailSentence(guardrail, nameOf),
    users: guardrail.userIds.filter((id) => !isRobotPrincipal(id)).map(personOf),
    robots: guardrail.userIds.filter(isRobotPrincipal).map(personOf),
    team: teamId === undefined ? undefined : refOf('team', teamId),
    object: objectId === undefined ? undefined : refOf(objectType, objectId),
    isVacuous:
      (subjects.length > 0 && subjects.every(isGone)) ||
      (objectId !== undefined && isGone(`${objectType}:${objectId}`)),
    violation,
    violatedBy: (violation?.userIds ?? [])
      .filter((id) => sees(subjectOfPrincipal(id)))
      .map((id) => ({ ...personOf(id), type: principalOf(id).type })),
  };
}

/** The parts of a draft that the input is about. */
function pick(
  draft: GuardrailDraft,
  { name, description, enforce, statement }: GuardrailInput,
): Partial<GuardrailDraft> {
  const { name: newName, description: newDescription, enforce: newEnforce, ...rule } = draft;
  return {
    ...(name !== undefined && { name: newName }),
    ...(description !== undefined && { description: newDescription }),
    ...(enforce !== undefined && { enforce: newEnforce }),
    ...(statement !== undefined && rule),
  };
}

function unstored(organizationId: bigint) {
  const now = new Date();
  return { id: 0n, organizationId, version: 1, statement: 1, createdAt: now, updatedAt: now };
}

function nameTaken(): AppError {
  return invalidField('name', 'name is taken by another guardrail of the organization', 'name_taken');
}

function guardrailNotFound(): AppError {
  return new AppError('notFound', 'guardrail not found', { reason: 'guardrail_not_found' });
}
