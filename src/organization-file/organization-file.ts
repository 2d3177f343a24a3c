import type { Judge } from '../authz/judge.ts';
import type { HeldPlaces } from '../authz/places/held-places.ts';
import { createSeesPlace } from '../authz/places/sees-place.ts';
import type { Historian, TimeMachine } from '../authz/time-machine.ts';
import type { Limits } from '../base/config/limits.ts';
import { AppError, missingRelation } from '../base/errors.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import type { TrustRules } from '../federation/trust-rules.ts';
import { namedInAll, type WantedGuardrail } from '../guardrails/guardrail-file.ts';
import { rejectionOf } from '../guardrails/new-violations.ts';
import type { Impact, ImpactReport } from '../impact/impact.ts';
import type { createRequestRules } from '../requests/rules/request-rules.ts';
import { namespaceWords } from '../roles/assignment-entry.ts';
import { placeKey, readAssignments, type WantedAssignment, type Where } from '../roles/assignment-plan.ts';
import { type GuardrailReader, readRoles } from '../roles/role-file.ts';
import type { SealedNew, Webhooks } from '../webhooks/webhooks.ts';
import type { CallerRights, createCallerRights } from './caller-rights.ts';
import { type Content, contentOf, fingerprintOf, versionOf } from './organization-content.ts';
import { type OrganizationDocument, PAST_SECTIONS } from './organization-document.ts';
import type { OrganizationNow } from './organization-now.ts';
import { type PastOrganizationStore, pastOrganizationOf } from './past/past-organization.ts';
import { type FileChange, type Refusal, refusalsOf } from './plans/file-change.ts';
import type { FileCaller, OrganizationPlan } from './plans/organization-plan.ts';
import { simulatePlan } from './plans/plan-simulation.ts';
import { renameWarnings } from './plans/rename-warnings.ts';
import { planRobots, type RobotTrust } from './plans/robot-plan.ts';
import {
  afterTeamsAndRobots,
  planRoleParts,
  type RolePartPlan,
  rejectHidden,
  roleChanges,
  type WantedRoleParts,
} from './plans/role-part-plan.ts';
import { roomChanges } from './plans/room.ts';
import { settingChanges } from './plans/setting-changes.ts';
import { planTeams } from './plans/team-plan.ts';
import { planWebhooks } from './plans/webhook-plan.ts';

interface Read {
  readonly logins: readonly string[];
  readonly wanted: readonly WantedAssignment[] | undefined;
  /** Of what the plan was made from. */
  readonly fingerprint: string;
}

/** Who applies a file, and what cannot be made inside a transaction. */
export interface Applying extends Pick<FileCaller, 'actor' | 'creator'> {
  /** One for each webhook that the file creates. */
  readonly secrets: readonly SealedNew[];
}

export interface OrganizationFileStore extends PastOrganizationStore {
  read(
    organizationId: bigint,
    logins: readonly string[],
    wanted: readonly WantedAssignment[] | undefined,
  ): Promise<OrganizationNow | undefined>;
  /** One transaction. Stale if anything has changed that the plan was made from. */
  apply(
    organizationId: bigint,
    read: Read,
    plan: OrganizationPlan,
    applying: Applying,
    about: object,
  ): Promise<'applied' | 'stale' | 'gone'>;
}

export interface FileReport {
  readonly changes: readonly FileChange[];
  readonly unchanged: number;
  readonly unmanaged: Readonly<Record<string, readonly string[]>>;
  readonly version: string;
}

export interface PlanReport extends FileReport {
  readonly impact: ImpactReport;
  readonly refusals: readonly Omit<Refusal, 'error'>[];
  readonly warnings: readonly string[];
}

export interface ExportOptions {
  readonly sections?: ReadonlySet<string> | undefined;
  readonly withIds?: boolean;
}

export interface ApplyOptions {
  readonly isDryRun: boolean;
  /** Throws if the organization is not as the caller last saw it. */
  readonly precondition: (version: string) => void;
  /** Of the file, for the audit log. */
  readonly digest: string;
}

interface Parts {
  readonly store: OrganizationFileStore;
  readonly judge: Pick<Judge, 'allowed' | 'holds'>;
  readonly held: Pick<HeldPlaces, 'notHeld'>;
  readonly rightsOf: ReturnType<typeof createCallerRights>;
  readonly guardrails: GuardrailReader;
  readonly requestRules: Pick<ReturnType<typeof createRequestRules>, 'read' | 'objectNamed'>;
  readonly impact: Pick<Impact, 'report'>;
  readonly webhooks: Pick<Webhooks, 'check' | 'sealNew'>;
  readonly trustRules: Pick<TrustRules, 'read' | 'requireChange'>;
  readonly timeMachine: Pick<TimeMachine, 'requireReader' | 'changesSince'>;
  readonly limits: Limits;
}

export type OrganizationFile = ReturnType<typeof createOrganizationFile>;

/** A file is never partial because its reader may not see something: what it leaves out would then be deleted. */
const READERS = [
  ['can_edit', 'edit:org'],
  ['can_view_teams', 'view_teams:org'],
  ['can_view_members', 'view_members:org'],
  ['can_view_roles', 'view_roles:org'],
  ['can_view_robots', 'view_robots:org'],
] as const;
const TRIES = 3;

/**
 * An organization as one file.
 *
 * 1. Every change needs what its own call needs, by the rights that the caller had before the file.
 * 2. A plan is made from one moment. It is applied to the same state, or not at all.
 * 3. Guardrails are asked about the state after the whole file.
 */
export function createOrganizationFile(parts: Parts) {
  const { store, judge, limits } = parts;
  const sees = createSeesPlace(judge);
  return { exportFile, exportThen, plan, apply };

  async function exportFile(
    caller: FileCaller,
    options: ExportOptions,
  ): Promise<{ content: Content; version: string }> {
    const now = await readNow(caller, [], undefined);
    const rights = await rightsIn(now, caller);
    await requireWhole(now, caller, rights);
    return { content: await contentOf(now, options), version: await versionOf(now) };
  }

  /** As it was, without the other sections. What does not exist any more is for readers of the audit log. */
  async function exportThen(caller: FileCaller, historian: Historian, at: Date, options: ExportOptions) {
    await parts.timeMachine.requireReader(historian);
    const past = await pastOrganizationOf(store, caller.organizationId, at);
    if (!past) throw gone();
    const { now, then, places, named } = past;
    await requireWhole(now, caller, await rightsIn(now, caller));
    await requireSeen(caller, places, named);
    const sections = options.sections ?? new Set<string>(PAST_SECTIONS);
    const content = await contentOf(then, { ...options, sections, asOf: at });
    return { content, since: await parts.timeMachine.changesSince(historian, at) };
  }

  async function plan(caller: FileCaller, document: OrganizationDocument): Promise<PlanReport> {
    const { now, made, changes, report } = await planFrom(caller, document);
    const found = await refusalsOf([...changes, ...roomChanges(now, made, limits)]);
    const refusals: Omit<Refusal, 'error'>[] = found.map(({ error: _, ...refusal }) => refusal);
    const impact = await impactOf(caller, made, refusals);
    return { ...report, impact, refusals, warnings: renameWarnings(made) };
  }

  async function apply(caller: FileCaller, document: OrganizationDocument, options: ApplyOptions): Promise<FileReport> {
    const { organizationId, actor, creator } = caller;
    for (let tries = 0; tries < TRIES; tries++) {
      const { now, made, changes, report, read } = await planFrom(caller, document);
      options.precondition(report.version);
      const [refusal] = await refusalsOf([...changes, ...roomChanges(now, made, limits)]);
      if (refusal) throw inWords(refusal);
      if (options.isDryRun) await rejectViolations(caller, made);
      if (options.isDryRun || changes.length === 0) return report;
      const counts = { sha256: options.digest, changes: changes.length, unchanged: report.unchanged };
      const outcome = await store.apply(
        organizationId,
        read,
        made,
        { actor, creator, secrets: await secretsFor(made) },
        counts,
      );
      if (outcome === 'gone') throw gone();
      if (outcome === 'applied') {
        const after = await readNow(caller, [], undefined);
        return { ...report, version: await versionOf(after) };
      }
    }
    throw new AppError('stale', 'the organization keeps changing at the same time: send the file again');
  }

  function robotTrust(caller: FileCaller, rights: CallerRights, now: Date): RobotTrust {
    const { organizationId: ownerId, credential, isRobot } = caller;
    return {
      reader: {
        read: async (wanted) => await parts.trustRules.read({ ...credential, ownerId }, wanted, now),
        objectNamed: async (object) => await parts.requestRules.objectNamed(ownerId, object),
      },
      async requireChange(robotId, drafts) {
        if (isRobot) {
          throw new AppError('forbidden', 'robots do not change trust rules', { reason: 'not_for_robots' });
        }
        rights.requireProof();
        await parts.trustRules.requireChange({ ...credential, ownerId, robotId }, drafts);
      },
    };
  }

  async function secretsFor({ organizationId, webhooks }: OrganizationPlan): Promise<SealedNew[]> {
    const secrets: SealedNew[] = [];
    for (const { current } of webhooks.webhooks)
      if (!current) secrets.push(await parts.webhooks.sealNew(organizationId));
    return secrets;
  }

  /** Everything that the file asks for, compared with what is there. */
  async function planFrom(caller: FileCaller, document: OrganizationDocument) {
    const { organizationId, organizationName } = caller;
    const today = new Date();
    rejectOther(document.organization, organizationName);
    const wanted = document.assignments && readAssignments(document.assignments.items, today);
    const logins = [...new Set(document.teams?.items.flatMap(({ members = [] }) => members.map(loginKey)))];
    const now = await readNow(caller, logins, wanted);
    const rights = await rightsIn(now, caller);
    await requireWhole(now, caller, rights);
    const teams = planTeams(now, document.teams, rights, today);
    const robots = await planRobots(now.robots, document.robots, rights, robotTrust(caller, rights, today));
    const webhooks = planWebhooks(now.webhooks, document.webhooks, rights, parts.webhooks.check);
    const roleParts = await readRoleParts(caller, document, wanted, today);
    const after = afterTeamsAndRobots(now, teams, robots);
    const roles = await asFaults('roles', async () => planRoleParts(organizationId, after, roleParts, today));
    const seen = await seenOf(caller, [...after.assignments.stored.map(({ on }) => on), ...namedIn(roles)]);
    if (roles.assignments) rejectHidden(roles.assignments, (place) => seen.has(placeKey(place)));
    const settings = await settingChanges(now, document, { ...parts, caller, rights, teams, roles: roles.roles });
    const changes = [
      ...teams.changes,
      ...robots.changes,
      ...(await roleChanges(after, roles, { rights, organizationId, held: parts.held, seen })),
      ...settings.changes,
      ...webhooks.changes,
    ];
    const made: OrganizationPlan = {
      ...{ organizationId, today, teams, robots, webhooks, roleParts, after, roles },
      ...settings.made,
    };
    const read = { logins, wanted, fingerprint: await fingerprintOf(now) };
    return { now, made, changes, report: await reportOn(now, made, changes), read };
  }

  async function readRoleParts(
    { organizationId, organizationName, actor }: FileCaller,
    { organization, roles, assignments, guardrails }: OrganizationDocument,
    wanted: readonly WantedAssignment[] | undefined,
    today: Date,
  ): Promise<WantedRoleParts> {
    const read = async (items: NonNullable<OrganizationDocument['roles']>['items']) =>
      await asFaults('roles', () => readRoles({ organization, roles: items }, organizationName, today));
    const rules: WantedGuardrail[] = guardrails
      ? await parts.guardrails.read(organizationId, actor.id, guardrails.items)
      : [];
    return {
      roles: roles && { items: await read(roles.items), prunes: roles.prunes },
      assignments: assignments && { items: wanted ?? [], prunes: assignments.prunes },
      guardrails: guardrails && { items: rules, prunes: guardrails.prunes },
    };
  }

  async function reportOn(
    now: OrganizationNow,
    { teams, robots, webhooks, roles: { roles, assignments, guardrails }, after }: OrganizationPlan,
    changes: readonly FileChange[],
  ): Promise<FileReport> {
    const names = new Map(after.roles.map(({ id, name }) => [id, name]));
    const unmanaged = {
      ...{ teams: teams.unmanaged, roles: roles.unmanaged },
      assignments: (assignments?.unmanaged ?? []).map(
        ({ roleId, to, on }) => `${names.get(roleId)} to ${to.name} on ${on.name || now.name}${namespaceWords(on)}`,
      ),
      ...{ robots: robots.unmanaged, guardrails: guardrails?.unmanaged ?? [], webhooks: webhooks.unmanaged },
    };
    const unchanged = [teams, robots, webhooks, roles, assignments, guardrails].reduce(
      (sum, one) => sum + (one?.unchanged ?? 0),
      0,
    );
    return { changes, unchanged, unmanaged, version: await versionOf(now) };
  }

  /** Who gains and loses what. Guardrails that the whole file would violate are noted among the rejections. */
  async function impactOf(
    { organizationId, organizationName, actor }: FileCaller,
    made: OrganizationPlan,
    refusals: Omit<Refusal, 'error'>[],
    withObjects = true,
  ): Promise<ImpactReport> {
    const rules = made.roles.guardrails;
    const asker = { organizationId, organizationName, callerId: actor.id };
    const options = { withObjects, at: undefined, isForFile: rules !== undefined };
    return await parts.impact.report(asker, options, async (simulation, check) => {
      const renamed = await simulatePlan(simulation, made);
      for (const told of (await check?.rejected(renamed, rules)) ?? []) {
        const { kind, message } = rejectionOf(told);
        refusals.push({ section: 'guardrails', name: told.name, kind, reason: 'guardrail_violated', message });
      }
      return [];
    });
  }

  async function rejectViolations(caller: FileCaller, made: OrganizationPlan): Promise<void> {
    const refusals: Omit<Refusal, 'error'>[] = [];
    await impactOf(caller, made, refusals, false);
    const [first] = refusals;
    if (first) throw new AppError('conflict', first.message, { reason: first.reason });
  }

  async function readNow(
    { organizationId }: FileCaller,
    logins: readonly string[],
    wanted: readonly WantedAssignment[] | undefined,
  ): Promise<OrganizationNow> {
    const now = await store.read(organizationId, logins, wanted);
    if (!now) throw gone();
    return now;
  }

  async function rightsIn(now: OrganizationNow, { actor, requireProof }: FileCaller): Promise<CallerRights> {
    return await parts.rightsOf(now, actor.id, requireProof);
  }

  async function requireWhole(now: OrganizationNow, caller: FileCaller, rights: CallerRights): Promise<void> {
    for (const [relation, named] of READERS) rights.require(relation, named);
    const { assignments, rules } = now.roleFile;
    const places = assignments.stored.map(({ on }) => on);
    await requireSeen(caller, places, namedInAll(rules.guardrails));
  }

  async function requireSeen(caller: FileCaller, places: readonly Where[], named: readonly string[]): Promise<void> {
    const seen = await seenOf(caller, places);
    const isSeen = places.every((place) => place.type === 'organization' || seen.has(placeKey(place)));
    if (isSeen && (await parts.guardrails.seesAll(caller.organizationId, caller.actor.id, named))) return;
    throw missingRelation('view_clusters:org', ': the file names objects that you may not see');
  }

  async function seenOf({ organizationId, actor }: FileCaller, places: readonly Where[]): Promise<Set<string>> {
    const seen = new Set<string>();
    const yieldIfDue = createYielder();
    for (const [key, place] of new Map(places.map((one) => [placeKey(one), one]))) {
      if (await sees(actor.id, organizationId, place)) seen.add(key);
      await yieldIfDue();
    }
    return seen;
  }
}

/** What the calls of roles reject with another status is here a fault of the file. */
async function asFaults<T>(field: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'invalid') throw error;
    const { message, detail } = error;
    throw new AppError('malformed', message, { ...detail, errors: detail.errors ?? [{ field, message }] });
  }
}

function namedIn({ assignments }: RolePartPlan): Where[] {
  return (assignments?.named ?? []).map(({ on }) => on).filter(({ id }) => id === undefined || id > 0n);
}

function loginKey({ login }: { readonly login: string }): string {
  return login.toLowerCase();
}

function rejectOther(organization: string, name: string): void {
  if (organization.toLowerCase() === name.toLowerCase()) return;
  const message = `the file is for organization ${JSON.stringify(organization.slice(0, 100))}, not for ${JSON.stringify(name)}`;
  throw new AppError('malformed', message, { errors: [{ field: 'organization', message }] });
}

/** The error of the change, with what it is about. */
function inWords({ section, name, error }: Refusal): AppError {
  return new AppError(error.kind, `${section} ${JSON.stringify(name)}: ${error.message}`, error.detail);
}

function gone(): AppError {
  return new AppError('notFound', 'organization does not exist', { reason: 'organization_not_found' });
}
