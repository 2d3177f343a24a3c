import { requireAgreement } from '../../assignments/assignment-input.ts';
import { AppError, invalidField } from '../../base/errors.ts';
import { readLineField } from '../../base/fields.ts';
import type { Actor } from '../../changes/audit-entry.ts';
import { PLACE_TYPES } from '../../changes/object-kinds.ts';
import type { AskedFor, AskedType } from '../access-request.ts';
import { secondsOf } from '../request-term.ts';
import { DEFAULT_LONGEST, MAX_LONGEST, type RequestRule, type RuleApprovers, type RuleMatch } from './request-rule.ts';

export interface RequestRules {
  readonly id: bigint;
  readonly rules: readonly RequestRule[];
  readonly version: number;
}

/** What a caller sends for a rule. Team and roles are given by name. */
export interface RuleInput {
  readonly name?: string | undefined;
  readonly match?:
    | {
        readonly relations?: readonly string[] | undefined;
        readonly objects?: readonly ObjectInput[] | undefined;
        readonly clusterSets?: readonly string[] | undefined;
        readonly roles?: readonly unknown[] | undefined;
        readonly requesters?: unknown;
      }
    | undefined;
  readonly longest?: string | undefined;
  readonly approvals?: number | undefined;
  readonly approvers?: unknown;
  readonly allow?: boolean | undefined;
  readonly breakGlass?: boolean | undefined;
}

export interface ObjectInput {
  readonly type: string;
  readonly id?: bigint | undefined;
  readonly name?: string | undefined;
}

export interface RequestRuleStore {
  get(organizationId: bigint): Promise<RequestRules>;
  put(
    organizationId: bigint,
    actor: Actor,
    rules: readonly RequestRule[],
    decide: (current: RequestRules) => void,
  ): Promise<RequestRules>;
  /** Undefined if the organization has no such object. */
  object(organizationId: bigint, object: ObjectInput): Promise<AskedFor | undefined>;
  /** The names among these that no role, or no team, of the organization has, ignoring case. */
  unknownNames(organizationId: bigint, of: 'role' | 'team', names: readonly string[]): Promise<readonly string[]>;
}

/** What a file creates next to the rules. */
export type CreatedNames = Readonly<Record<'role' | 'team', readonly string[]>>;

const MAX_RULES = 100;
const MAX_NAME = 100;
const MAX_LISTED = 100;
const MAX_APPROVALS = 3;

/** The rules of an organization for access requests. The first one that matches decides. */
export function createRequestRules(store: RequestRuleStore, isRelation: (relation: string) => boolean) {
  return { get: store.get, put, read, objectNamed };

  async function put(
    organizationId: bigint,
    actor: Actor,
    inputs: readonly RuleInput[],
    precondition: (current: RequestRules) => void,
  ): Promise<RequestRules> {
    return await store.put(organizationId, actor, await read(organizationId, inputs), precondition);
  }

  /** `created` are names that are there by the time that the rules are stored. */
  async function read(
    organizationId: bigint,
    inputs: readonly RuleInput[],
    created: CreatedNames = { role: [], team: [] },
  ): Promise<RequestRule[]> {
    if (inputs.length > MAX_RULES) {
      const message = `an organization can have at most ${MAX_RULES} request rules`;
      throw new AppError('malformed', message, { reason: 'limit_reached', errors: [{ field: 'body', message }] });
    }
    const rules: RequestRule[] = [];
    for (const [place, input] of inputs.entries()) rules.push(await readRule(organizationId, input, `[${place}]`));
    const seen = new Set<string>();
    for (const [place, { name }] of rules.entries()) {
      if (seen.has(name.toLowerCase())) throw invalidField(`[${place}].name`, 'two rules have the same name');
      seen.add(name.toLowerCase());
    }
    const names = { organizationId, created, rules };
    await requireNames(names, 'role', ({ match }) => match.roles ?? [], 'match.roles');
    await requireNames(names, 'team', ({ match }) => listOf(match.requesters), 'match.requesters');
    await requireNames(names, 'team', ({ approvers }) => listOf(teamOf(approvers)), 'approvers');
    return rules;
  }

  async function requireNames(
    { organizationId, created, rules }: { organizationId: bigint; created: CreatedNames; rules: RequestRule[] },
    of: 'role' | 'team',
    namesIn: (rule: RequestRule) => readonly string[],
    field: string,
  ): Promise<void> {
    const isNew = (name: string) => created[of].some((one) => one.toLowerCase() === name.toLowerCase());
    const named = [...new Set(rules.flatMap(namesIn))].filter((name) => !isNew(name));
    const unknown = await store.unknownNames(organizationId, of, named);
    const place = rules.findIndex((rule) => namesIn(rule).some((name) => unknown.includes(name)));
    const name = unknown[0]?.slice(0, MAX_NAME);
    if (place >= 0) throw invalidField(`[${place}].${field}`, `the organization has no ${of} ${JSON.stringify(name)}`);
  }

  async function readRule(organizationId: bigint, input: RuleInput, at: string): Promise<RequestRule> {
    const name = readLineField(`${at}.name`, input.name ?? '', MAX_NAME);
    if (name === '') throw invalidField(`${at}.name`, 'a rule must have a name, for the audit log');
    const longest = input.longest ?? DEFAULT_LONGEST;
    const longestSeconds = secondsOf(longest);
    if (longestSeconds === undefined || longestSeconds < 60 || longestSeconds > MAX_LONGEST) {
      throw invalidField(`${at}.longest`, 'longest must be a duration from PT1M to P90D');
    }
    const approvals = input.approvals ?? 1;
    if (!Number.isInteger(approvals) || approvals < 0 || approvals > MAX_APPROVALS) {
      throw invalidField(`${at}.approvals`, `approvals must be a number from 0 to ${MAX_APPROVALS}`);
    }
    const approvers = readApprovers(input.approvers, `${at}.approvers`);
    return {
      ...{ name, match: await readMatch(organizationId, input.match ?? {}, `${at}.match`), longest, longestSeconds },
      ...{ approvals, allow: input.allow ?? true, breakGlass: input.breakGlass ?? false },
      ...(approvers !== undefined && { approvers }),
    };
  }

  async function readMatch(
    organizationId: bigint,
    { relations, objects, clusterSets, roles, requesters }: NonNullable<RuleInput['match']>,
    at: string,
  ): Promise<RuleMatch> {
    const unknown = relations?.find((relation) => !isRelation(relation));
    if (unknown !== undefined) {
      throw invalidField(`${at}.relations`, `there is no relation ${JSON.stringify(unknown.slice(0, MAX_NAME))}`);
    }
    for (const [field, list] of Object.entries({ relations, objects, cluster_sets: clusterSets, roles })) {
      if (list && (list.length < 1 || list.length > MAX_LISTED)) {
        throw invalidField(`${at}.${field}`, `${field} must have 1 to ${MAX_LISTED} entries, or be left out`);
      }
    }
    const found: AskedFor[] = [];
    for (const object of objects ?? []) found.push(await readObject(organizationId, object, `${at}.objects`));
    const team = requesters === undefined ? undefined : readTeam(requesters, `${at}.requesters`);
    if (clusterSets?.includes('')) throw invalidField(`${at}.cluster_sets`, 'the name of a set must not be empty');
    return {
      ...(relations && { relations: [...relations] }),
      ...(objects && { objects: found }),
      ...(clusterSets && { clusterSets: [...clusterSets] }),
      ...(roles && { roles: roles.map((role) => readName(role, `${at}.roles`, 'a role')) }),
      ...(team !== undefined && { requesters: team }),
    };
  }

  /** Undefined if the organization has no such object. */
  async function objectNamed(organizationId: bigint, object: ObjectInput): Promise<AskedFor | undefined> {
    const isNamed = object.id !== undefined || object.name !== undefined;
    return isNamed && isAskedType(object.type) ? await store.object(organizationId, object) : undefined;
  }

  async function readObject(organizationId: bigint, object: ObjectInput, field: string): Promise<AskedFor> {
    if (object.id === undefined && object.name === undefined) {
      throw invalidField(field, 'an object must have an id or a name');
    }
    const found = await objectNamed(organizationId, object);
    if (!found) throw invalidField(field, `${object.type.slice(0, MAX_NAME)} does not exist in this organization`);
    requireAgreement(field, object, found);
    return found;
  }
}

export function isAskedType(type: string): type is AskedType {
  return type !== 'cluster_set' && (PLACE_TYPES as readonly string[]).includes(type);
}

function readApprovers(given: unknown, field: string): RuleApprovers | undefined {
  if (given === undefined || given === null) return undefined;
  if (given === 'manager') return given;
  if (typeof given === 'object' && 'team' in given) return { team: readName(given.team, field, 'a team') };
  throw invalidField(field, 'approvers must be "manager", or name a team, such as {"team": "leads"}');
}

function teamOf(approvers: RuleApprovers | undefined): string | undefined {
  return typeof approvers === 'object' ? approvers.team : undefined;
}

/** The name of a team, or an object that has it. */
function readTeam(given: unknown, field: string): string {
  return readName(typeof given === 'object' && given && 'team' in given ? given.team : given, field, 'a team');
}

function readName(given: unknown, field: string, what: string): string {
  if (typeof given === 'string' && given !== '') return given;
  throw invalidField(field, `${field} must name ${what}: an ID is not accepted`);
}

function listOf(name: string | undefined): readonly string[] {
  return name === undefined ? [] : [name];
}
