import {
  allowed,
  check,
  type Graph,
  nodeOf,
  possibleObjects,
  textsByObject,
} from '../../../packages/rebac/src/rebac.ts';
import { AppError } from '../../base/errors.ts';
import type { PageRequest } from '../../base/page.ts';
import { OBJECT_TYPES, type ObjectType } from '../../changes/object-kinds.ts';
import { subjectOfPrincipal } from '../../changes/principal.ts';
import type { PastGraphs } from '../../history/past.ts';
import { createAskedPrincipal } from '../asked-principal.ts';
import type { ExplainStore } from '../explain/question.ts';
import type { ObjectName } from '../explain/what-can.ts';
import type { PersonRef } from '../explain/who-can.ts';
import type { Graphs } from '../graphs.ts';
import { type Judge, mayBeOwn } from '../judge.ts';
import { byId, idOf } from '../object-ref.ts';
import { inOneMoment } from '../one-moment.ts';
import { existsIn } from '../viewpoint.ts';
import { createCells, sortAlike } from './cells.ts';
import { givenBy, type Source, sourcesOf } from './sources.ts';

export interface AccessQuestion {
  readonly organizationId: bigint;
  readonly callerId: bigint;
  /** All that an organization has objects of, if it is not given. */
  readonly type: ObjectType | undefined;
  /** False to leave out what the caller owns themselves. */
  readonly withOwn: boolean;
}

/** Where a right comes from: a team or a role, the user as the owner of the object, or the deployment. */
export interface Reason extends ObjectName {
  readonly kind: Source['kind'] | 'owner';
}

/** Objects of one type on which a user holds the same for the same reasons. */
export interface AccessGroup {
  readonly relations: readonly string[];
  readonly via: readonly (Reason & { readonly relations: readonly string[] })[];
  /** How many there are. */
  readonly count: number;
  /** Those of them that are on the page. */
  readonly objects: readonly ObjectName[];
}

export interface UserAccess {
  readonly user: PersonRef;
  readonly teams: readonly ObjectName[];
  readonly roles: readonly (ObjectName & { readonly via: readonly Reason[] })[];
  readonly permissions: readonly { readonly relation: string; readonly via: readonly Reason[] }[];
  readonly types: readonly {
    readonly type: ObjectType;
    readonly total: number;
    readonly groups: readonly AccessGroup[];
  }[];
}

/** The same before anything has a name. */
interface Group {
  readonly relations: readonly string[];
  readonly via: readonly (Via & { readonly relations: readonly string[] })[];
  readonly objects: string[];
}
interface Via {
  readonly kind: Reason['kind'];
  readonly object: string;
}

/** An organization is not one of its own objects, and other users are not objects of any user. */
const TYPES = OBJECT_TYPES.filter((type) => type !== 'organization' && type !== 'user');
const SHOWN = { prefix: 'can_' };

export type UserAccessRules = ReturnType<typeof createUserAccess>;

/** Everything that a user holds in an organization, by type and reason. */
export function createUserAccess(
  present: Pick<Graphs, 'together'>,
  store: Pick<ExplainStore, 'names' | 'personNamed' | 'robotNamed' | 'inactive'>,
  judge: Pick<Judge, 'holds'>,
) {
  const findAsked = createAskedPrincipal(store, judge);
  return { access };

  /** About whom a caller can ask, asked-principal.ts decides. They get no reason, and no object, that they may not see. */
  async function access(
    question: AccessQuestion,
    login: string,
    { offset, limit }: PageRequest,
    past?: PastGraphs,
  ): Promise<UserAccess> {
    const { organizationId, callerId, type } = question;
    if (type === 'user')
      throw new AppError('invalid', 'access is about the objects of an organization, not about users');
    const person = await findAsked(organizationId, callerId, login, past);
    const user = subjectOfPrincipal(person.id);
    const inactive = await store.inactive([person.id]);
    const found = await inOneMoment(past ?? present, organizationId, callerId, (organization, own, now) =>
      collect({ ...question, user }, organization, own, now?.first),
    );
    const pages = found.types.map(({ type, groups }) => ({ type, ...pageOf(groups, offset, limit) }));
    const names = await store.names([
      user,
      ...found.sources.map(({ object }) => object),
      ...pages.flatMap(({ groups }) => groups.flatMap(({ page }) => page)),
    ]);
    const former = await past?.names(organizationId);
    const named = (object: string) => ({ id: idOf(object), name: names.get(object) ?? former?.get(object) ?? '' });
    const reason = ({ kind, object }: Via): Reason =>
      kind === 'platform' ? { kind, id: 0n, name: nameOfPlatform(object) } : { kind, ...named(object) };
    const ofKind = (kind: Source['kind']) => found.sources.filter((source) => source.kind === kind);
    const isShown = new Set(found.sources.map(({ object }) => object));
    return {
      user: { id: person.id, name: person.name, ...(inactive.has(person.id) && { active: false }) },
      teams: ofKind('team').map(({ object }) => named(object)),
      roles: ofKind('role').map(({ object, teams }) => ({
        ...named(object),
        via: teams.filter((team) => isShown.has(team)).map((team) => reason({ kind: 'team', object: team })),
      })),
      permissions: found.permissions.map(({ relation, via }) => ({ relation, via: via.map(reason) })),
      types: pages.map(({ type, total, groups }) => ({
        type,
        total,
        groups: groups.map(({ relations, via, objects, page }) => ({
          relations,
          via: via.map((one) => ({ ...reason(one), relations: one.relations })),
          count: objects.length,
          objects: page.map(named),
        })),
      })),
    };
  }
}

/** If `now` is given, the graphs are of a past moment. */
function* collect(
  question: AccessQuestion & { readonly user: string },
  organization: Graph,
  own: Graph,
  now: Graph | undefined,
) {
  const { organizationId, callerId, user, type: only, withOwn } = question;
  const caller = subjectOfPrincipal(callerId);
  const home = `organization:${organizationId}`;
  const isSelf = user === caller;
  // Deleted objects can be read in the audit log.
  const isGone = (object: string) => now !== undefined && !existsIn(now, home, object);
  const sees = (object: string) =>
    isGone(object) || check(now ?? organization, { user: caller, relation: 'can_view', object });
  const all = sourcesOf(organization, home, user);
  // What a user is in is theirs to know.
  const sources: Source[] = [];
  for (const source of all) {
    if (isSelf || source.kind === 'platform' || sees(source.object)) sources.push(source);
    yield;
  }
  const permissions = yield* reasonsOn(organization, user, home, sources);
  const types: { readonly type: ObjectType; readonly groups: readonly Group[] }[] = [];
  for (const type of only ? [only] : TYPES) {
    yield;
    const groups = new Map<string, Group>();
    const objects = (yield* heldObjects(organization, user, type)).sort(byId);
    const seen = isSelf ? objects : yield* seenBy(now ?? organization, caller, objects, isGone);
    yield* intoGroups(organization, user, seen, sources, groups);
    if (isSelf && withOwn && mayBeOwn({ type, id: 0n })) {
      const owned = (yield* heldObjects(own, user, type)).sort(byId);
      yield* intoGroups(own, user, owned, 'owner', groups);
    }
    types.push({ type, groups: [...groups.values()].sort((a, b) => a.objects.length - b.objects.length) });
  }
  return { sources, permissions, types };
}

/** Everything that a user holds on an object, with the sources that it comes from. */
function* reasonsOn(
  graph: Graph,
  user: string,
  object: string,
  sources: readonly Source[],
  usual = new Map<Source, ReadonlySet<string>>(),
) {
  const held = allowed(graph, user, object, SHOWN);
  const given: { readonly source: Source; readonly relations: ReadonlySet<string> }[] = [];
  for (const source of held.length === 0 ? [] : sources) {
    // A source gives the same on all objects of a class, except on itself.
    const known = source.object === object ? undefined : usual.get(source);
    const relations = known ?? givenBy(graph, source, object);
    if (source.object !== object) usual.set(source, relations);
    given.push({ source, relations });
    if (known === undefined) yield;
  }
  return held.map((relation) => ({
    relation,
    via: given.flatMap(({ source, relations }) => (relations.has(relation) ? [source] : [])),
  }));
}

function* heldObjects(graph: Graph, user: string, type: ObjectType): Generator<void, string[], void> {
  const found = new Set<string>();
  for (const { name } of graph.model.typeIndex.get(type)?.relations ?? []) {
    if (!name.startsWith('can_')) continue;
    for (const object of possibleObjects(graph, { user, relation: name, type })) found.add(object);
    yield;
  }
  return [...found];
}

function* seenBy(
  graph: Graph,
  caller: string,
  objects: readonly string[],
  isGone: (object: string) => boolean,
): Generator<void, string[], void> {
  const row = yield* createCells(graph, yield* sortAlike(graph, objects), ['can_view']).row(caller);
  return objects.filter((object, place) => row[place] === 1 || isGone(object));
}

/** Objects of a class are alike, unless something is stated about the user and one of them. */
function* intoGroups(
  graph: Graph,
  user: string,
  objects: readonly string[],
  sources: readonly Source[] | 'owner',
  groups: Map<string, Group>,
): Generator<void, void, void> {
  const { nodes, classes } = yield* sortAlike(graph, objects);
  const stated = textsByObject(graph, nodeOf(graph, user));
  const ofClass = new Map<number, Group | undefined>();
  const given = new Map<number, Map<Source, ReadonlySet<string>>>();
  for (const [place, object] of objects.entries()) {
    const isUsual = !stated.has(nodes[place] as number);
    const known = classes[place] as number;
    if (isUsual && ofClass.has(known)) ofClass.get(known)?.objects.push(object);
    else {
      const usual = given.get(known) ?? new Map<Source, ReadonlySet<string>>();
      given.set(known, usual);
      const group = yield* groupOf(graph, user, object, sources, groups, usual);
      group?.objects.push(object);
      if (isUsual) ofClass.set(known, group);
      yield;
    }
  }
}

function* groupOf(
  graph: Graph,
  user: string,
  object: string,
  sources: readonly Source[] | 'owner',
  groups: Map<string, Group>,
  usual: Map<Source, ReadonlySet<string>>,
): Generator<void, Group | undefined, void> {
  const reasons = yield* reasonsOn(graph, user, object, sources === 'owner' ? [] : sources, usual);
  if (reasons.length === 0) return;
  const relations = reasons.map(({ relation }) => relation);
  if (sources === 'owner') return withKey(groups, relations, [{ kind: 'owner', object: user, relations }]);
  const via = sources.flatMap((source) => {
    const from = reasons.flatMap((one) => (one.via.includes(source) ? [one.relation] : []));
    return from.length === 0 ? [] : [{ kind: source.kind, object: source.object, relations: from }];
  });
  return withKey(groups, relations, via);
}

function withKey(groups: Map<string, Group>, relations: readonly string[], via: Group['via']): Group {
  const key = [relations.join(), ...via.map((one) => `${one.object}=${one.relations.join()}`)].join(' ');
  const found = groups.get(key) ?? { relations, via, objects: [] };
  groups.set(key, found);
  return found;
}

/** The groups that have objects on a page. The list is that of the groups one after the other, the small ones first. */
function pageOf(groups: readonly Group[], offset: number, limit: number) {
  let before = 0;
  const shown = groups.flatMap((group) => {
    const from = Math.max(0, offset - before);
    const page = group.objects.slice(from, Math.max(from, offset + limit - before));
    before += group.objects.length;
    return page.length === 0 ? [] : [{ ...group, page }];
  });
  return { total: before, groups: shown };
}

/** `platform:atrium` has a name instead of a number. */
function nameOfPlatform(object: string): string {
  return object.slice(object.indexOf(':') + 1);
}
