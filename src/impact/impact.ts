import type { ExplainStore, PersonRef } from '../authz/explain.ts';
import type { Graphs } from '../authz/graphs.ts';
import { byId, idOf } from '../authz/object-ref.ts';
import { createPace } from '../base/slices.ts';
import { check } from '../rebac/engine.ts';
import { CATALOG, type CatalogEntry } from '../roles/catalog.ts';
import { type ChangeParts, makeChanges } from './change-rules.ts';
import { type Crowd, type Group, readCrowd } from './crowd.ts';
import { type Difference, differenceOf } from './differences.ts';
import { type Comparison, compareHoldings, type Held } from './holdings.ts';
import { createHypothesis, type Hypothesis } from './hypothesis.ts';
import { classify, type ObjectClasses } from './object-classes.ts';
import type { PlannedChange, Refusal } from './planned-change.ts';
import { readScene, type Scene, type SceneNames } from './scene.ts';

export interface ImpactStore {
  names(organizationId: bigint): Promise<SceneNames>;
}

export interface Asker {
  readonly organizationId: bigint;
  readonly organizationName: string;
  readonly callerId: bigint;
}

export interface NamedObject {
  readonly type: string;
  readonly id: bigint;
  readonly name: string;
}

/** Something that a person can do, or could do, on an object. */
export interface Effect {
  readonly object: NamedObject;
  readonly relation: string;
  /** The permission of the catalog that this is, if it is one. */
  readonly permission: CatalogEntry | undefined;
}

export interface PersonImpact {
  readonly person: PersonRef;
  readonly gains: readonly Effect[];
  readonly loses: readonly Effect[];
  /** How many effects on single objects are left out. */
  readonly more: number;
}

export interface ImpactReport {
  /** Ordered by ID; those after the first thousand are left out. */
  readonly people: readonly PersonImpact[];
  readonly total: number;
  /** What somebody could do before, and nobody except site administrators after. */
  readonly unattended: readonly Effect[];
  readonly refusals: readonly Refusal[];
}

interface Parts extends Omit<ChangeParts, 'organizationName'> {
  readonly graphs: Pick<Graphs, 'copyOf'>;
  readonly store: ImpactStore;
  readonly names: Pick<ExplainStore, 'names'>;
}

const MAX_PEOPLE = 1000;
const MAX_OBJECTS = 100;
const MAX_UNATTENDED = 1000;
const PERMISSIONS = new Map(CATALOG.map((entry) => [entry.relation, entry]));

export type Impact = ReturnType<typeof createImpact>;

/** What changes would change, and for whom, before anything is written. The answers come from the same engine. */
export function createImpact({ graphs, store, names, limits, personNamed }: Parts) {
  return { preview };

  async function preview(
    { organizationId, organizationName, callerId }: Asker,
    changes: readonly PlannedChange[],
    withObjects: boolean,
  ): Promise<ImpactReport> {
    const scene = await readScene(graphs, organizationId, await store.names(organizationId));
    const world = createHypothesis(scene, callerId);
    const refusals = await makeChanges(world, changes, { organizationName, limits, personNamed });
    const crowd = await readCrowd(scene, world);
    const objects = withObjects ? await classify(scene, world) : undefined;
    const comparison = await compareHoldings(scene, world, crowd, objects);
    const differences = await differencesOf(scene, crowd, comparison, objects);
    const view = viewOf(scene, world, crowd, comparison);
    const lost = view.seesPeople ? await unattended(scene, comparison, objects, differences) : [];
    const shown = shownPeople(differences, view);
    const listed = [...shown.keys()].sort(byId).slice(0, MAX_PEOPLE);
    const left = lost.filter(({ object }) => view.sees(object)).slice(0, MAX_UNATTENDED);
    const impacts = new Set(listed.flatMap((user) => shown.get(user) ?? []));
    const held = [...left, ...[...impacts].flatMap(({ gains, loses }) => [...gains, ...loses])];
    const known = await namesFor(scene, world, organizationName, [...listed, ...held.map(({ object }) => object)]);
    const effect = ({ object, relation }: Held): Effect => ({
      object: known(object),
      relation,
      permission: object.startsWith('organization:') ? PERMISSIONS.get(relation) : undefined,
    });
    const effects = new Map(
      [...impacts].map((impact) => {
        const { gains, loses, more } = impact;
        return [impact, { gains: gains.map(effect), loses: loses.map(effect), more }];
      }),
    );
    return {
      people: listed.flatMap((user) => {
        const impact = shown.get(user);
        const shownEffects = impact && effects.get(impact);
        const { id, name } = known(user);
        return shownEffects ? [{ person: { id, name }, ...shownEffects }] : [];
      }),
      total: shown.size,
      unattended: left.map(effect),
      refusals,
    };
  }

  async function namesFor(scene: Scene, world: Hypothesis, organizationName: string, wanted: readonly string[]) {
    const own = new Map<string, string>([[`organization:${scene.organizationId}`, organizationName]]);
    for (const [type, lists] of [
      ['team', [world.teams, scene.teams]],
      ['role', [world.roles, scene.roles]],
    ] as const) {
      for (const list of lists) for (const { id, name } of list.values()) own.set(`${type}:${id}`, name);
    }
    const found = await names.names([...new Set(wanted)].filter((object) => !own.has(object)));
    return (object: string): NamedObject => ({
      type: object.slice(0, object.indexOf(':')),
      id: idOf(object),
      name: own.get(object) ?? found.get(object) ?? '',
    });
  }
}

interface View {
  readonly seesPeople: boolean;
  sees(object: string): boolean;
  knows(group: Group, user: string): boolean;
}

/**
 * What the caller may know of the answer: what changes for themselves; what changes for others if they may see the
 * members, or all the teams through which it changes; and only objects that they may see now.
 */
function viewOf(
  { graph, organizationId }: Scene,
  { caller }: Hypothesis,
  crowd: Crowd,
  { wasSeenBy }: Comparison,
): View {
  const organization = `organization:${organizationId}`;
  const seesPeople = check(graph, { user: caller, relation: 'can_view_members', object: organization });
  const seen = new Map<string, boolean>([[organization, true]]);
  const sees = (object: string) => {
    const answer = seen.get(object) ?? wasSeenBy(caller, object);
    seen.set(object, answer);
    return answer;
  };
  const knows = ({ teamIds }: Group, user: string) => {
    if (user === caller || seesPeople) return true;
    const touched = teamIds.filter((id) => crowd.touchedTeams.has(id));
    return touched.length > 0 && touched.every((id) => sees(`team:${id}`));
  };
  return { seesPeople, sees, knows };
}

async function differencesOf(
  { organizationId }: Scene,
  { groups, plainAdmins }: Crowd,
  comparison: Comparison,
  objects: ObjectClasses | undefined,
): Promise<Map<Group, Difference>> {
  const pace = createPace();
  const found = new Map<Group, Difference>();
  for (const group of [...groups, ...plainAdmins]) {
    const difference = differenceOf(group, `organization:${organizationId}`, comparison, objects);
    if (difference.gains.length + difference.loses.length + difference.lost.length > 0) found.set(group, difference);
    await pace();
  }
  return found;
}

/** What follows from what is lost on the organization is left out, as in the effects on people. */
async function unattended(
  { organizationId }: Scene,
  { before, after, nobodyCan }: Comparison,
  objects: ObjectClasses | undefined,
  differences: ReadonlyMap<Group, Difference>,
): Promise<Held[]> {
  const candidates = new Map<string, Held>();
  const enter = (held: Held) => candidates.set(`${held.object} ${held.relation}`, held);
  for (const [group, { lost }] of differences) {
    if (group.isAdmin) continue;
    for (const held of lost) enter(held);
    for (const { sample } of objects?.ordinary.values() ?? []) {
      const has = after.get(group)?.get(sample) ?? [];
      for (const relation of before.get(group)?.get(sample) ?? []) {
        if (!has.includes(relation)) enter({ object: sample, relation });
      }
    }
  }
  const found = await nobodyCan([...candidates.values()]);
  const usual = new Set(found.map(({ object, relation }) => `${object} ${relation}`));
  const isListed = ({ object, relation }: Held) => {
    const kin = objects?.kinOf.get(object);
    return kin ? !usual.has(`${objects?.ordinary.get(kin.type)?.sample} ${relation}`) : true;
  };
  const samples = new Set([...(objects?.classes ?? [])].map(({ sample }) => sample));
  return found.filter((held) => !samples.has(held.object) && isListed(held)).sort(byObject(organizationId));
}

function shownPeople(differences: ReadonlyMap<Group, Difference>, { sees, knows }: View) {
  const shown = new Map<string, Pick<Difference, 'gains' | 'loses'> & { readonly more: number }>();
  for (const [group, { gains, loses }] of differences) {
    const [seenGains, seenLoses] = [gains, loses].map((list) => list.filter(({ object }) => sees(object)));
    const impact = shortened(seenGains ?? [], seenLoses ?? []);
    // Site administrators from outside are no part of the organization.
    if (impact.gains.length + impact.loses.length === 0 || group.teamIds.length === 0) continue;
    for (const user of group.users) if (knows(group, user)) shown.set(user, impact);
  }
  return shown;
}

/** Somebody may lose sight of thousands of roles. What they gain and lose on the organization is always shown. */
function shortened(gains: readonly Held[], loses: readonly Held[]) {
  const [fewGains, fewLoses] = [firstOf(gains), firstOf(loses)];
  const more = gains.length + loses.length - fewGains.length - fewLoses.length;
  return { gains: fewGains, loses: fewLoses, more };
}

function firstOf(list: readonly Held[]): Held[] {
  const onOrganization = list.filter(({ object }) => object.startsWith('organization:'));
  const onObjects = list.filter(({ object }) => !object.startsWith('organization:'));
  return [...onOrganization, ...onObjects.slice(0, MAX_OBJECTS)];
}

/** The organization first, then by type and number; what is said about one object stays in the order of the model. */
function byObject(organizationId: bigint) {
  const place = (object: string) => (object === `organization:${organizationId}` ? '' : object);
  return ({ object: one }: Held, { object: other }: Held): number => {
    const [first, second] = [place(one), place(other)];
    if (first === second) return 0;
    const [type, otherType] = [first.split(':')[0] ?? '', second.split(':')[0] ?? ''];
    return type === otherType ? byId(first, second) : type < otherType ? -1 : 1;
  };
}
