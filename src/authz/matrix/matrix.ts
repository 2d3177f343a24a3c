import { check, type Graph, type Model, possibleObjects, possibleUsers } from '../../../packages/rebac/src/rebac.ts';
import { AppError } from '../../base/errors.ts';
import { yieldToEventLoop } from '../../base/scheduling/slices.ts';
import type { ObjectType } from '../../changes/object-kinds.ts';
import { principalOfSubject, robotNamedIn, subjectOfPrincipal } from '../../changes/principal.ts';
import type { PastGraphs } from '../../history/past.ts';
import { nameKey } from '../../identity/account-names/account-names.ts';
import { type ExplainStore, type Names, requireRelationOf } from '../explain/question.ts';
import type { ObjectName } from '../explain/what-can.ts';
import type { PersonRef } from '../explain/who-can.ts';
import type { Graphs } from '../graphs.ts';
import { byId } from '../object-ref.ts';
import { inOneMoment } from '../one-moment.ts';
import { existsIn } from '../viewpoint.ts';
import { createCells, type Row, sortAlike } from './cells.ts';
import { differencesOf, type LeftOut } from './row-differences.ts';

export interface MatrixQuestion {
  readonly organizationId: bigint;
  readonly callerId: bigint;
  readonly type: ObjectType;
  /** All that the caller may see, if they are not given. */
  readonly ids: readonly bigint[] | undefined;
  /** Logins, and robots such as `robot:deploy`. */
  readonly people: { readonly logins: readonly string[] } | { readonly teamId: bigint } | 'members';
  /** Also every robot of the organization that the caller may view. */
  readonly withRobots: boolean;
  /** All that callers can ask about, if they are not given. */
  readonly relations: readonly string[] | undefined;
  /** Leaves out whatever does not differ. */
  readonly isDifferencesOnly: boolean;
  /** If everything is too large for a matrix, the first people and objects are shown. */
  readonly isPartEnough: boolean;
}

export interface Matrix {
  /** In the order of the model. */
  readonly relations: readonly string[];
  /** Both by ID, robots after users. */
  readonly users: readonly PersonRef[];
  readonly objects: readonly ObjectName[];
  /** For each user, a cell for each object. */
  readonly rows: readonly Row[];
  /** What differences alone do not show. */
  readonly leftOut: LeftOut | undefined;
  /** How many people and objects there are, if a part of them is shown. */
  readonly whole: Whole | undefined;
}

export interface Whole {
  readonly users: number;
  readonly objects: number;
}

export interface MatrixStore extends Pick<ExplainStore, 'names' | 'inactive' | 'robotNamed'> {
  /** Those of these login names that exist, each once. */
  peopleNamed(logins: readonly string[]): Promise<readonly (PersonRef & { readonly key: string })[]>;
}

export type MatrixRules = ReturnType<typeof createMatrix>;

/** People × objects: 200 × 1,000, for example. Such a matrix takes a fraction of a second. */
const MAX_CELLS = 200_000;
const NAMES_IN_SLICE = 2_000;
/** More columns are shown in part to those for whom a part is enough: each has a name that must be sent. */
const MANY_OBJECTS = 1000;
/** What a person looks through, rather than what is possible. */
const PART_USERS = 50;
const PART_OBJECTS = 200;

/** Who holds what on which objects, all as of one moment. The answers are those of the engine, as everywhere. */
export function createMatrix(present: Pick<Graphs, 'together'>, store: MatrixStore, model: Model) {
  return { matrix };

  /**
   * Callers must hold can_view_members, and be readers of the audit log if they ask about the past. What they may not see
   * is absent.
   */
  async function matrix(question: MatrixQuestion, past?: PastGraphs): Promise<Matrix> {
    const { organizationId, type } = question;
    if (type === 'user') throw new AppError('invalid', 'a matrix has people as rows; its columns cannot be users');
    const { people } = question;
    // Before any user is looked up: what is wrong with a question must not depend on who exists.
    const relations = relationsOf(model, question);
    const named =
      typeof people === 'object' && 'logins' in people ? await idsOf(organizationId, people.logins) : undefined;
    const found = await inOneMoment(past ?? present, organizationId, organizationId, (graph, _, now) =>
      fill(graph, { ...question, relations }, named, now?.first),
    );
    const { users, objects, rows, leftOut, whole } = found;
    const names = await namesInSlices([...users, ...objects]);
    const former = await past?.names(organizationId);
    const nameOf = (text: string) => names.get(text) ?? former?.get(text) ?? '';
    const shown = (text: string) => ({ id: BigInt(text.slice(text.indexOf(':') + 1)), name: nameOf(text) });
    const members = users.map((user) => ({ id: principalOfSubject(user), name: nameOf(user) }));
    const inactive = await inactiveInSlices(members.map(({ id }) => id));
    const marked = members.map((one): PersonRef => (inactive.has(one.id) ? { ...one, active: false } : one));
    return { relations, users: marked, objects: objects.map(shown), rows, leftOut, whole };
  }

  async function inactiveInSlices(ids: readonly bigint[]): Promise<ReadonlySet<bigint>> {
    const found = new Set<bigint>();
    for (let first = 0; first < ids.length; first += NAMES_IN_SLICE) {
      if (first > 0) await yieldToEventLoop();
      for (const id of await store.inactive(ids.slice(first, first + NAMES_IN_SLICE))) found.add(id);
    }
    return found;
  }

  /** There may be 200,000 names, and other requests wait for the only connection of the built-in database. */
  async function namesInSlices(objects: readonly string[]): Promise<Names> {
    const names = new Map<string, string>();
    for (let first = 0; first < objects.length; first += NAMES_IN_SLICE) {
      if (first > 0) await yieldToEventLoop();
      for (const [object, name] of await store.names(objects.slice(first, first + NAMES_IN_SLICE))) {
        names.set(object, name);
      }
    }
    return names;
  }

  async function idsOf(organizationId: bigint, asked: readonly string[]): Promise<bigint[]> {
    const logins = asked.filter((text) => robotNamedIn(text) === undefined);
    const robots = await robotsIn(organizationId, asked);
    const found = await store.peopleNamed(logins);
    const keys = new Set(found.map(({ key }) => key));
    const unknown = logins.find((login) => !keys.has(nameKey(login)));
    if (unknown === undefined) return [...found.map(({ id }) => id), ...robots];
    throw new AppError('invalid', `user does not exist: ${unknown.slice(0, 100)}`, { reason: 'user_not_found' });
  }

  /** Each once. Whether the caller may view them is decided later, as of the moment of the matrix. */
  async function robotsIn(organizationId: bigint, asked: readonly string[]): Promise<ReadonlySet<bigint>> {
    const found = new Set<bigint>();
    for (const text of new Set(asked)) {
      const named = robotNamedIn(text);
      if (named === undefined) continue;
      const robot = await store.robotNamed(organizationId, named);
      if (!robot) throw noRobot(text);
      found.add(robot.id);
    }
    return found;
  }
}

/** If `now` is given, the graph is of a past moment. */
function* fill(
  graph: Graph,
  question: MatrixQuestion & { readonly relations: readonly string[] },
  named: readonly bigint[] | undefined,
  now: Graph | undefined,
) {
  const { relations } = question;
  let users = named ? named.map(subjectOfPrincipal) : peopleIn(graph, question, now);
  for (const user of users) if (!seesRow(graph, question, user, now)) throw noRobot(user.replace('robot_ac', 'robot'));
  if (question.withRobots) {
    const known = new Set(users);
    users.push(...robotsOf(graph, question, now).filter((robot) => !known.has(robot)));
  }
  yield;
  let objects = now ? yield* objectsThen(graph, question, now) : yield* visibleObjects(graph, question);
  users.sort(byTypeAndId);
  const isTooLarge = users.length * objects.length > MAX_CELLS;
  if (isTooLarge && !question.isPartEnough) throw tooMany(users.length, objects.length);
  const isPart = question.isPartEnough && (isTooLarge || objects.length > MANY_OBJECTS);
  const whole = isPart ? { users: users.length, objects: objects.length } : undefined;
  if (isPart) objects = objects.slice(0, PART_OBJECTS);
  if (users.length * objects.length > MAX_CELLS) users = users.slice(0, PART_USERS);
  yield;
  const cells = createCells(graph, yield* sortAlike(graph, objects), relations);
  const rows: Row[] = [];
  for (const user of users) {
    rows.push(yield* cells.row(user));
    yield;
  }
  const all = { users, objects, rows };
  return { ...(question.isDifferencesOnly ? differencesOf(all) : { ...all, leftOut: undefined }), whole };
}

function relationsOf(model: Model, { type, relations }: MatrixQuestion): string[] {
  for (const relation of relations ?? []) requireRelationOf({ model }, { type, id: 0n }, relation);
  const all = model.typeIndex.get(type)?.relations.map(({ name }) => name) ?? [];
  return all.filter((name) => (relations ? relations.includes(name) : name.startsWith('can_')));
}

function peopleIn(
  graph: Graph,
  { organizationId, callerId, people }: MatrixQuestion,
  now: Graph | undefined,
): string[] {
  if (typeof people !== 'object' || !('teamId' in people)) {
    return possibleUsers(graph, { object: `organization:${organizationId}`, relation: 'participant', filter: 'user' });
  }
  const object = `team:${people.teamId}`;
  const home = `organization:${organizationId}`;
  const isGone = now && existsIn(graph, home, object) && !existsIn(now, home, object);
  if (!isGone && !check(now ?? graph, { user: subjectOfPrincipal(callerId), relation: 'can_view', object })) {
    throw new AppError('invalid', `team does not exist: ${people.teamId}`, { reason: 'team_not_found' });
  }
  return possibleUsers(graph, { object, relation: 'member', filter: 'user' });
}

function* visibleObjects(graph: Graph, { callerId, type, ids }: MatrixQuestion): Generator<void, string[], void> {
  const user = subjectOfPrincipal(callerId);
  const asked = ids
    ? [...new Set(ids)].map((id) => `${type}:${id}`)
    : possibleObjects(graph, { user, relation: 'can_view', type });
  yield;
  asked.sort(byId);
  yield;
  const seen = yield* createCells(graph, yield* sortAlike(graph, asked), ['can_view']).row(user);
  return asked.filter((_, place) => seen[place] === 1);
}

/** What existed then. Of that, callers see what they may see now, and what is gone: they can read it in the audit log. */
function* objectsThen(
  graph: Graph,
  { organizationId, callerId, type, ids }: MatrixQuestion,
  now: Graph,
): Generator<void, string[], void> {
  const home = `organization:${organizationId}`;
  const ties = type === 'organization' ? [] : type === 'team' ? ['organization', 'owned_by'] : ['organization'];
  const asked = ids
    ? [...new Set(ids)].map((id) => `${type}:${id}`).filter((object) => existsIn(graph, home, object))
    : type === 'organization'
      ? [home]
      : ties.flatMap((relation) => possibleObjects(graph, { user: home, relation, type }));
  asked.sort(byId);
  yield;
  const seen = yield* createCells(now, yield* sortAlike(now, asked), ['can_view']).row(subjectOfPrincipal(callerId));
  return asked.filter((object, place) => seen[place] === 1 || !existsIn(now, home, object));
}

function robotsOf(graph: Graph, question: MatrixQuestion, now: Graph | undefined): string[] {
  const object = `organization:${question.organizationId}`;
  const robots = possibleUsers(graph, { object, relation: 'robot', filter: 'robot_ac' });
  return robots.filter((robot) => seesRow(graph, question, robot, now));
}

/** Callers see all people, but only the robots that they may view. Deleted ones can be read in the audit log. */
function seesRow(
  graph: Graph,
  { organizationId, callerId }: MatrixQuestion,
  row: string,
  now: Graph | undefined,
): boolean {
  const caller = subjectOfPrincipal(callerId);
  if (!row.startsWith('robot_ac:') || row === caller) return true;
  if (now && !existsIn(now, `organization:${organizationId}`, row)) return true;
  return check(now ?? graph, { user: caller, relation: 'can_view', object: row });
}

/** Robots come after users. */
function byTypeAndId(one: string, other: string): number {
  return Number(one.startsWith('robot_ac:')) - Number(other.startsWith('robot_ac:')) || byId(one, other);
}

function noRobot(text: string): AppError {
  return new AppError('invalid', `robot does not exist: ${text.slice(0, 100)}`, { reason: 'robot_not_found' });
}

function tooMany(users: number, objects: number): AppError {
  const count = (number: number) => number.toLocaleString('en-US');
  return new AppError(
    'malformed',
    `${count(users)} people × ${count(objects)} objects are ${count(users * objects)} cells, and a matrix has at most ` +
      `${count(MAX_CELLS)}: name some of the people with team or users, or some of the objects with ids`,
  );
}
