import type { ExplainStore } from '../authz/explain/question.ts';
import type { PersonRef } from '../authz/explain/who-can.ts';
import { byId, idOf } from '../authz/object-ref.ts';
import { requireExpiryTerm } from '../base/expiry.ts';
import { type Principal, principalOf, principalOfSubject, subjectOfPrincipal } from '../changes/principal.ts';
import type { GuardrailCheck, GuardrailChecks } from '../guardrails/guardrail-check.ts';
import type { ToldViolation } from '../guardrails/new-violations.ts';
import { CATALOG, type CatalogEntry } from '../roles/catalog.ts';
import { compare, type Held } from '../simulation/comparison.ts';
import { typeOf } from '../simulation/object-classes.ts';
import type { Simulation } from '../simulation/simulation.ts';
import { makeChanges, namesIn } from './changes/changes.ts';
import type { ChangeParts } from './changes/changing.ts';
import type { PlannedChange, Rejection } from './changes/planned-change.ts';
import { type ShownImpact, viewOf, visibleImpact } from './visible-impact.ts';

/** How the changes are looked at. */
export interface PreviewOptions {
  /** Otherwise only what is held on the organization is compared. */
  readonly withObjects: boolean;
  /** Also applies everything that expires before this time. */
  readonly at: Date | undefined;
}

/** Who asks about which organization. */
export interface PreviewCaller {
  readonly organizationId: bigint;
  readonly organizationName: string;
  readonly callerId: bigint;
}

export interface NamedObject {
  readonly type: string;
  readonly id: bigint;
  readonly name: string;
}

/** What the caller is told about a user or a robot. */
export interface ImpactOn {
  readonly person: PersonRef;
  readonly impact: ShownImpact;
  /** Of a robot that gains something: the holder of one of its tokens gains it, too. */
  readonly tokens: LiveTokens | undefined;
}

/** The tokens of a robot that are accepted. */
export interface LiveTokens {
  readonly count: number;
  /** As far as the caller may see them. */
  readonly creators: readonly (Principal & { readonly name: string })[];
}

/** By the ID of the robot: how many of its tokens are accepted, and who created them, as the numbers of principal.ts. */
export type TokenCreators = (
  robotIds: readonly bigint[],
) => Promise<ReadonlyMap<bigint, { readonly tokens: number; readonly creators: readonly bigint[] }>>;

export interface ImpactReport {
  /** Ordered by ID; those after the first thousand are left out. Users who are alike share what is said. */
  readonly people: readonly ImpactOn[];
  readonly total: number;
  /** What users could do before, and no user except site administrators after. */
  readonly unattended: readonly Held[];
  readonly refusals: readonly Rejection[];
  /** Guardrails that would hold no longer, or for fewer people, also those that are only watched. */
  readonly guardrails: readonly ToldViolation[];
  nameOf(object: string): NamedObject;
  /** The permission of the catalog that a relation on the organization is, if it is one. */
  permissionOf(held: Held): CatalogEntry | undefined;
}

interface ImpactParts extends Omit<ChangeParts, 'organizationName' | 'check'> {
  readonly checks: GuardrailChecks;
  readonly open: OpenSimulation;
  readonly names: Pick<ExplainStore, 'names'>;
  readonly tokenCreators: TokenCreators;
}

export type OpenSimulation = (organizationId: bigint, callerId: bigint) => Promise<Simulation>;

const MAX_UNATTENDED = 1000;
const PERMISSIONS = new Map(CATALOG.map((entry) => [entry.relation, entry]));

export type Impact = ReturnType<typeof createImpact>;

/** What changes would change, and for whom, before anything is written. The answers come from the same engine. */
export function createImpact({ open, names, checks, tokenCreators, ...parts }: ImpactParts) {
  return { preview, report };

  async function preview(
    caller: PreviewCaller,
    changes: readonly PlannedChange[],
    options: PreviewOptions,
  ): Promise<ImpactReport> {
    const { organizationName } = caller;
    const isForFile = changes.some(({ action }) => action === 'roles.import');
    return await report(caller, { ...options, isForFile }, (simulation, check) =>
      makeChanges(simulation, changes, { ...parts, organizationName, check }),
    );
  }

  /** What it is about is made in the simulation by `make`, which returns why it would be rejected. */
  async function report(
    { organizationId, organizationName, callerId }: PreviewCaller,
    { withObjects, at, isForFile }: PreviewOptions & { readonly isForFile: boolean },
    make: (simulation: Simulation, check: GuardrailCheck | undefined) => Promise<readonly Rejection[]>,
  ): Promise<ImpactReport> {
    const moment = at && requireExpiryTerm(at, new Date(), 'at');
    const simulation = await open(organizationId, callerId);
    const check = await checks.open(organizationId, callerId, { copy: simulation.copy, isForFile });
    const refusals = await make(simulation, check);
    if (moment) await simulation.passTime(moment);
    const guardrails = (await check?.outcome(namesIn(simulation))) ?? [];
    const comparison = await compare(simulation, withObjects);
    const view = viewOf(simulation, comparison);
    const lost = view.seesPeople ? await comparison.unattended() : [];
    const { shown, total } = await visibleImpact(simulation, comparison, view);
    const order = byObject(simulation.organization);
    const left = lost
      .sort(order)
      .filter(({ object }) => view.sees(object))
      .slice(0, MAX_UNATTENDED);
    const effects = [...new Set(shown.values())].flatMap(({ gains, loses, keeps }) => [...gains, ...loses, ...keeps]);
    const objects = [...left, ...effects].map(({ object }) => object);
    const growing = [...shown]
      .filter(([user, { gains }]) => isRobot(user) && gains.length > 0)
      .map(([user]) => idOf(user));
    const tokens = await tokenCreators(growing);
    const isShown = (creator: bigint) => view.seesPeople || creator === callerId;
    const creators = [...tokens.values()].flatMap((one) => one.creators).filter(isShown);
    const wanted = [...shown.keys(), ...objects, ...creators.map(subjectOfPrincipal)];
    const nameOf = await namesFor(simulation, organizationName, wanted);
    const liveOf = (user: string): LiveTokens | undefined => {
      const live = isRobot(user) ? tokens.get(idOf(user)) : undefined;
      const known = live?.creators.filter(isShown).sort((a, b) => (a < b ? -1 : 1)) ?? [];
      const named = known.map((one) => ({ ...principalOf(one), name: nameOf(subjectOfPrincipal(one)).name }));
      return live && { count: live.tokens, creators: named };
    };
    return {
      people: [...shown].map(([user, impact]) => ({
        person: { id: principalOfSubject(user), name: nameOf(user).name },
        impact,
        tokens: liveOf(user),
      })),
      total,
      unattended: left,
      refusals,
      guardrails,
      nameOf,
      permissionOf: ({ object, relation }) =>
        object === simulation.organization ? PERMISSIONS.get(relation) : undefined,
    };
  }

  async function namesFor({ before, after, organization }: Simulation, name: string, wanted: readonly string[]) {
    const own = new Map<string, string>([[organization, name]]);
    for (const { teams, roles } of [after, before]) {
      for (const team of teams.values()) own.set(`team:${team.id}`, team.name);
      for (const role of roles.values()) own.set(`role:${role.id}`, role.name);
    }
    const found = await names.names([...new Set(wanted)].filter((object) => !own.has(object)));
    return (object: string): NamedObject => ({
      type: typeOf(object),
      id: idOf(object),
      name: own.get(object) ?? found.get(object) ?? '',
    });
  }
}

function isRobot(user: string): boolean {
  return user.startsWith('robot_ac:');
}

/** The organization first, then by type and number; what is said about one object stays in the order of the model. */
function byObject(organization: string) {
  const place = (object: string) => (object === organization ? '' : object);
  return ({ object: one }: Held, { object: other }: Held): number => {
    const [first, second] = [place(one), place(other)];
    if (first === second) return 0;
    const [type, otherType] = [typeOf(first), typeOf(second)];
    return type === otherType ? byId(first, second) : type < otherType ? -1 : 1;
  };
}
