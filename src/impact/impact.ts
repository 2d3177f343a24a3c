import type { ExplainStore, PersonRef } from '../authz/explain/explain.ts';
import type { Graphs } from '../authz/graphs.ts';
import { byId, idOf } from '../authz/object-ref.ts';
import { requireExpiryTerm } from '../base/expiry.ts';
import { createPace } from '../base/slices.ts';
import type { Trials } from '../guardrails/trial.ts';
import type { ToldViolation } from '../guardrails/verdict.ts';
import { CATALOG, type CatalogEntry } from '../roles/catalog.ts';
import { readAudience, viewOf } from './audience.ts';
import { type ChangeParts, makeChanges } from './change-rules.ts';
import { type Crowd, type Group, readCrowd } from './crowd.ts';
import { type Difference, differenceOf } from './differences.ts';
import { type Comparison, compareHoldings, type Held } from './holdings.ts';
import { createHypothesis, type Hypothesis } from './hypothesis.ts';
import { classify, type ObjectClasses } from './object-classes.ts';
import type { PlannedChange, Refusal } from './planned-change.ts';
import type { TimedHeld } from './prospects.ts';
import { createRehearsal } from './rehearsal.ts';
import { readScene, type Scene, type SceneDetails } from './scene.ts';

export interface ImpactStore {
  details(organizationId: bigint): Promise<SceneDetails>;
}

/** How the changes are looked at. */
export interface Question {
  /** Otherwise only what is held on the organization is compared. */
  readonly withObjects: boolean;
  /** What ends by itself until this moment has ended, too. */
  readonly at: Date | undefined;
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
  /** When it ends by itself, or would have ended. */
  readonly until: Date | undefined;
}

/** Something that a person can do before and after, for another time. */
export interface KeptEffect extends Effect {
  readonly untilBefore: Date | undefined;
}

export interface PersonImpact {
  readonly person: PersonRef;
  readonly gains: readonly Effect[];
  readonly loses: readonly Effect[];
  readonly keeps: readonly KeptEffect[];
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
  /** Guardrails that would hold no longer, or for fewer people, also those that are only watched. */
  readonly guardrails: readonly ToldViolation[];
}

interface Parts extends Omit<ChangeParts, 'organizationName' | 'rehearsal'> {
  readonly trials: Trials;
  readonly graphs: Pick<Graphs, 'copyOf'>;
  readonly store: ImpactStore;
  readonly names: Pick<ExplainStore, 'names'>;
}

const MAX_UNATTENDED = 1000;
const PERMISSIONS = new Map(CATALOG.map((entry) => [entry.relation, entry]));

export type Impact = ReturnType<typeof createImpact>;

/** What changes would change, and for whom, before anything is written. The answers come from the same engine. */
export function createImpact({ graphs, store, names, limits, personNamed, readGuardrails, trials }: Parts) {
  return { preview };

  async function preview(
    { organizationId, organizationName, callerId }: Asker,
    changes: readonly PlannedChange[],
    { withObjects, at }: Question,
  ): Promise<ImpactReport> {
    const moment = at && requireExpiryTerm(at, new Date(), 'at');
    const isFile = changes.some(({ action }) => action === 'roles.import');
    const trial = await (isFile ? trials.openForFile : trials.open)(organizationId, callerId);
    const scene = await readScene(graphs, organizationId, await store.details(organizationId), trial?.note);
    const world = createHypothesis(scene, callerId);
    const rehearsal = createRehearsal(world, trial);
    const parts = { organizationName, limits, personNamed, readGuardrails, rehearsal };
    const refusals = await makeChanges(world, changes, parts);
    if (moment) await world.pass(moment);
    const guardrails = await rehearsal.outcome();
    const crowd = await readCrowd(scene, world);
    const objects = withObjects ? await classify(scene, world) : undefined;
    const comparison = await compareHoldings(scene, world, crowd, objects);
    const differences = await differencesOf(scene, crowd, comparison, objects);
    const view = viewOf(scene, world, crowd, comparison);
    const lost = view.seesPeople ? await unattended(scene, comparison, objects, differences) : [];
    const { shown, total } = await readAudience(scene, world, crowd, comparison, objects, differences, view);
    const left = lost.filter(({ object }) => view.sees(object)).slice(0, MAX_UNATTENDED);
    const impacts = new Set(shown.values());
    const held = [...left, ...[...impacts].flatMap(({ gains, loses, keeps }) => [...gains, ...loses, ...keeps])];
    const wanted = [...shown.keys(), ...held.map(({ object }) => object)];
    const known = await namesFor(scene, world, organizationName, wanted);
    const effect = ({ object, relation }: Held) => ({
      object: known(object),
      relation,
      permission: object.startsWith('organization:') ? PERMISSIONS.get(relation) : undefined,
    });
    const lasting = (one: TimedHeld): Effect => ({ ...effect(one), until: one.until });
    const effects = new Map(
      [...impacts].map((impact) => {
        const { gains, loses, keeps, more } = impact;
        const kept = keeps.map((one): KeptEffect => ({ ...lasting(one), untilBefore: one.untilBefore }));
        return [impact, { gains: gains.map(lasting), loses: loses.map(lasting), keeps: kept, more }];
      }),
    );
    return {
      people: [...shown].flatMap(([user, impact]) => {
        const shownEffects = effects.get(impact);
        const { id, name } = known(user);
        return shownEffects ? [{ person: { id, name }, ...shownEffects }] : [];
      }),
      total,
      unattended: left.map((one) => ({ ...effect(one), until: undefined })),
      refusals,
      guardrails,
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
