import { createHash } from 'node:crypto';
import { heldBy, rejectEscalation } from '../authz/escalation.ts';
import type { Judge } from '../authz/judge.ts';
import { type Limits, limitReached } from '../base/config/limits.ts';
import { AppError, missingRelation } from '../base/errors.ts';
import { requireExpiryTerm } from '../base/expiry.ts';
import { mapInSlices, yieldToEventLoop } from '../base/scheduling/slices.ts';
import type { Actor } from '../changes/audit-entry.ts';
import {
  entryOf,
  type FileGuardrail,
  type GuardrailChange,
  type GuardrailPlan,
  guardrailWords,
  namedInAll,
  planGuardrails,
  rejectUnallowedGuardrails,
  requireRoomForGuardrails,
  type WantedGuardrail,
} from '../guardrails/guardrail-file.ts';
import type { AssignmentFile } from './assignment-file.ts';
import {
  type AssignmentPlan,
  type AssignmentsNow,
  assignmentReport,
  entryOfStored,
  planAssignments,
  readAssignments,
  requireAssigner,
  requireRoomForAssignments,
  type WantedAssignment,
} from './assignment-plan.ts';
import { CATALOG } from './catalog.ts';
import { documentOf, type RoleDocument, type RoleEntry, type WrittenDocument } from './role-document.ts';
import { writeYaml } from './role-document-writer.ts';
import type { RoleFileCheck } from './role-file-check.ts';
import { type Change, type Plan, planFor, type RolesNow, type Wanted, wordsFor } from './role-plan.ts';
import { draftOf, grantedAnew, type RoleLimits, requireRoomForTeams, type Setting } from './roles.ts';

/** Everything that a file can be about, at one moment. */
export interface RoleFileNow extends RolesNow {
  readonly assignments: AssignmentsNow;
}

/** What is done about a file. Undefined is what the file says nothing about. */
export interface RoleFileDecision {
  readonly plan: Plan;
  readonly assignments: AssignmentPlan | undefined;
  readonly rules: GuardrailPlan | undefined;
}

export interface RoleFileStore {
  /** What `wanted` names is looked up. */
  read(organizationId: bigint, wanted?: readonly WantedAssignment[]): Promise<RoleFileNow>;
  /**
   * One transaction, during which no other one changes a role of the organization. Undefined if the organization no
   * longer exists.
   */
  change<T extends RoleFileDecision>(
    organizationId: bigint,
    wanted: readonly WantedAssignment[] | undefined,
    decide: (now: RoleFileNow) => Promise<T>,
    actor: Actor,
  ): Promise<T | undefined>;
}

export interface FileSetting extends Setting {
  readonly organizationName: string;
}

export interface ImportOptions {
  readonly isDryRun: boolean;
  readonly prunes: boolean;
  /** Throws if the roles have changed since the caller last saw them. */
  readonly precondition: (version: string) => void;
}

export interface Report {
  readonly changes: readonly Change[];
  readonly unchanged: number;
  /** Roles that are not in the file, and that stay. */
  readonly unmanaged: readonly string[];
  /** Undefined if the file says nothing about them. */
  readonly assignments: ReturnType<typeof assignmentReport> | undefined;
  readonly guardrails: GuardrailReport | undefined;
}

export interface GuardrailReport {
  readonly changes: readonly GuardrailChange[];
  readonly unchanged: number;
  readonly unmanaged: readonly string[];
}

/** What is known about guardrails elsewhere. */
export interface GuardrailReader {
  read(organizationId: bigint, callerId: bigint, inputs: Inputs): Promise<WantedGuardrail[]>;
  /** Whether the caller may see everything that these name. */
  seesAll(organizationId: bigint, callerId: bigint, objects: readonly string[]): Promise<boolean>;
}

type FileLimits = RoleLimits &
  Pick<Limits, 'guardrailsPerOrganization' | 'assignmentsPerOrganization' | 'assignmentsPerPrincipal'>;
type Inputs = readonly FileGuardrail[];

export type RoleFile = ReturnType<typeof createRoleFile>;

/** The relations that a change needs, named as in the routes that change single roles. */
const NEEDED = {
  create: ['can_create_role', 'create_role:org'],
  update: ['can_edit_roles', 'edit:role'],
  delete: ['can_delete_roles', 'delete:role'],
} as const;

/** The roles of an organization as one document: exported, and imported as a whole or not at all. */
export function createRoleFile(
  store: RoleFileStore,
  judge: Pick<Judge, 'allowed'>,
  limits: FileLimits,
  reader: GuardrailReader,
  assignmentFile: AssignmentFile,
  check: RoleFileCheck,
) {
  return { exportRoles, importRoles };

  /** A part with something that the caller may not see could not be imported again. A file without it changes nothing there. */
  async function exportRoles(organizationId: bigint, organizationName: string, callerId: bigint) {
    const now = await store.read(organizationId);
    const whole = documentNow(organizationName, now);
    const version = versionOf(await writeYaml(whole));
    const seesRules = await reader.seesAll(organizationId, callerId, namedInAll(now.rules.guardrails));
    const seesPlaces = await assignmentFile.seesAll(organizationId, callerId, now.assignments.stored);
    const document = {
      ...whole,
      ...(!seesRules && { guardrails: undefined }),
      ...(!seesPlaces && { assignments: undefined }),
    };
    return { document, yaml: await writeYaml(document), version };
  }

  async function importRoles(setting: FileSetting, document: RoleDocument, options: ImportOptions): Promise<Report> {
    const { organizationId, organizationName, actor } = setting;
    const today = new Date();
    const wanted = await readRoles(document, organizationName, today);
    const assigned = document.assignments && readAssignments(document.assignments, today);
    const held = await heldBy(judge, actor.id, organizationId);
    const guardrails = document.guardrails && (await reader.read(organizationId, actor.id, document.guardrails));
    if (options.isDryRun) {
      const now = await store.read(organizationId, assigned);
      const decision = await decide(now);
      const approval = await approve(now, decision);
      await check(organizationId, actor.id, decision);
      return reportOn(decision, now, approval?.seen);
    }
    // What the caller may see and give cannot be asked within the transaction.
    const before = assigned && (await store.read(organizationId, assigned));
    const approval = before && (await approve(before, await decide(before)));
    const done = await store.change(
      organizationId,
      assigned,
      async (now) => {
        const decision = await decide(now);
        if (decision.assignments) approval?.require(decision.assignments);
        return { ...decision, report: reportOn(decision, now, approval?.seen) };
      },
      actor,
    );
    if (!done) throw new AppError('notFound', 'organization does not exist', { reason: 'organization_not_found' });
    return done.report;

    async function decide(now: RoleFileNow): Promise<RoleFileDecision> {
      options.precondition(versionOf(await writeYaml(documentNow(organizationName, now))));
      const rules = guardrails && planGuardrails(now.rules, guardrails, options.prunes);
      if (rules) rejectUnallowedGuardrails(rules, held);
      if (rules) requireRoomForGuardrails(rules, now.rules, limits);
      const plan = planFor(now, wanted, options.prunes);
      requireRelations(plan, held);
      rejectEscalations(plan, held);
      requireWithinLimits(plan, now, limits);
      await yieldToEventLoop();
      const after = { roles: now.roles, plan, organizationId };
      const assignments = assigned && planAssignments(now.assignments, after, assigned, options.prunes, today);
      if (assignments) requireAssigner(assignments, held, actor.id);
      if (assignments) requireRoomForAssignments(assignments, now.assignments, limits);
      await yieldToEventLoop();
      return { plan, assignments, rules };
    }

    async function approve({ assignments: { stored } }: RoleFileNow, decision: RoleFileDecision) {
      const { assignments } = decision;
      return assignments && (await assignmentFile.approve(organizationId, actor.id, assignments, stored));
    }
  }
}

/** Depends only on the content of the document, as YAML, so that it is the same for the same roles. */
function versionOf(yaml: string): string {
  return createHash('sha256').update(yaml).digest('hex').slice(0, 32);
}

function rejectOther({ organization }: RoleDocument, name: string): void {
  if (organization.toLowerCase() === name.toLowerCase()) return;
  throw new AppError('invalid', `the document is for organization ${quote(organization)}, not for ${quote(name)}`);
}

/** The roles that a document for this organization asks for; throws if they are not valid. */
export async function readRoles(document: RoleDocument, organizationName: string, now: Date): Promise<Wanted[]> {
  rejectOther(document, organizationName);
  const wanted = await mapInSlices(document.roles, (entry, place) =>
    aboutRole(entry.name, place, () => readEntry(entry, now)),
  );
  const places = new Map<string, number>();
  for (const [place, { draft }] of wanted.entries()) {
    const key = draft.name.toLowerCase();
    if (places.has(key)) {
      const message = `two roles are called ${quote(draft.name)}: roles[${places.get(key)}] and roles[${place}]`;
      throw new AppError('malformed', message, { errors: [{ field: `roles[${place}].name`, message }] });
    }
    places.set(key, place);
  }
  return wanted;
}

/** An assignment whose end has passed is none: the file of yesterday must not bring it back. */
function readEntry({ name, was, description, permissions, teams }: RoleEntry, now: Date): Wanted {
  for (const namespace of permissions.keys()) {
    if (!CATALOG.some((one) => one.namespace === namespace)) {
      throw new AppError('invalid', `unknown permission namespace: ${quote(namespace)}`);
    }
  }
  const pairs = [...permissions].flatMap(([namespace, actions]) => actions.map((action) => ({ namespace, action })));
  const entries = teams.map((team) => {
    if (typeof team === 'string') return { team, end: undefined };
    return { team: team.name, end: team.expires_at === null ? null : new Date(team.expires_at) };
  });
  const lasting = entries.filter(({ end }) => !end || end > now);
  for (const { end } of lasting) requireExpiryTerm(end, now);
  return {
    draft: draftOf(undefined, { name, description, permissions: pairs }),
    was,
    teams: lasting.map(({ team }) => team),
    ends: new Map(lasting.flatMap(({ team, end }) => (end === undefined ? [] : [[team, end]]))),
  };
}

/**
 * Applies the same rules as for a single role. The error names the role, so that it can be found in a file of a
 * thousand.
 */
function aboutRole<T>(name: string, place: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const errors = error.detail.errors?.map(({ field, message }) => ({ field: `roles[${place}].${field}`, message }));
    throw new AppError(error.kind, `role ${quote(name)}: ${error.message}`, {
      ...error.detail,
      ...(errors && { errors }),
    });
  }
}

export function requireRelations({ creates, updates, deletes }: Plan, held: ReadonlySet<string>): void {
  const counts = { create: creates.length, update: updates.length, delete: deletes.length };
  for (const [kind, [relation, named]] of Object.entries(NEEDED)) {
    if (counts[kind as keyof typeof counts] > 0 && !held.has(relation)) {
      throw missingRelation(named);
    }
  }
}

export function rejectEscalations({ creates, updates }: Plan, held: ReadonlySet<string>): void {
  for (const draft of creates) aboutRole(draft.name, 0, () => rejectEscalation(draft.permissions, held));
  for (const { current, next } of updates) {
    aboutRole(next.name, 0, () => rejectEscalation(grantedAnew(current, next), held));
  }
}

/** No other transaction can create a role meanwhile, so the number of roles is what it is. */
export function requireWithinLimits(
  { creates, updates, deletes }: Plan,
  now: Pick<RolesNow, 'roles'>,
  limits: RoleLimits,
): void {
  const after = now.roles.length + creates.length - deletes.length;
  if (after > limits.rolesPerOrganization && after > now.roles.length) {
    throw limitReached('rolesPerOrganization', limits.rolesPerOrganization, now.roles.length);
  }
  for (const draft of creates) aboutRole(draft.name, 0, () => requireRoomForTeams(limits, draft));
  for (const { current, next } of updates) aboutRole(next.name, 0, () => requireRoomForTeams(limits, next, current));
}

function reportOn(
  { plan, assignments, rules }: RoleFileDecision,
  now: RoleFileNow,
  seen: ReadonlySet<string> = new Set(),
): Report {
  const guardrails = rules && {
    changes: guardrailWords(rules, now.rules.names),
    unchanged: rules.unchanged,
    unmanaged: rules.unmanaged,
  };
  return {
    ...{ changes: wordsFor(plan, now), unchanged: plan.unchanged, unmanaged: plan.unmanaged, guardrails },
    assignments: assignments && assignmentReport(assignments, now.roles, seen),
  };
}

function documentNow(organizationName: string, { roles, assignments, rules }: RoleFileNow): WrittenDocument {
  const entries = rules.guardrails.map((guardrail) => entryOf(guardrail, rules.names));
  const names = new Map(roles.map(({ id, name }) => [id, name]));
  const assigned = assignments.stored.filter(({ isRequested }) => !isRequested);
  return documentOf(
    organizationName,
    roles,
    entries,
    assigned.map((one) => entryOfStored(one, names.get(one.roleId) ?? '')),
  );
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
