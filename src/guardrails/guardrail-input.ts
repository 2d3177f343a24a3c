import type { Model } from '../../packages/rebac/src/rebac.ts';
import { AppError, invalidField } from '../base/errors.ts';
import { readLineField } from '../base/fields.ts';
import { principalOfRobot } from '../changes/principal.ts';
import {
  byPrincipal,
  GUARDED_TYPES,
  type GuardedType,
  type GuardrailDraft,
  type GuardrailKind,
  type GuardrailRule,
  type RememberedNames,
} from './guardrail.ts';

/** What a caller sends, or keeps in a file; on update, a field that is left out stays as it is. */
export interface GuardrailInput {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly enforce?: boolean | undefined;
  readonly statement?: StatementInput | undefined;
}

export interface StatementInput {
  readonly kind: GuardrailKind;
  /** Login names. */
  readonly users?: readonly string[] | undefined;
  /** Names of robots. */
  readonly robots?: readonly string[] | undefined;
  /** By ID or name. */
  readonly team?: bigint | string | undefined;
  readonly relation: string;
  readonly object?: ObjectInput | undefined;
  readonly count?: number | undefined;
}

export interface ObjectInput {
  readonly type: string;
  readonly id?: bigint | undefined;
  readonly name?: string | undefined;
}

export interface Reference {
  readonly id: bigint;
  readonly name: string;
}

/** Finds what a statement names. */
export interface References {
  users(logins: readonly string[]): Promise<Reference[]>;
  /** By ID or name, ignoring case. */
  teams(organizationId: bigint, which: bigint | string): Promise<Reference[]>;
  /** Names need not be unique. */
  objects(organizationId: bigint, type: GuardedType, which: bigint | string): Promise<Reference[]>;
}

const MAX_NAME = 100;
const MAX_DESCRIPTION = 1000;
const MAX_USERS = 100;
const MAX_COUNT = 1_000_000;

/** The guardrail that the input describes; throws if it is not valid. */
export async function readDraft(
  references: References,
  model: Model,
  organizationId: bigint,
  current: GuardrailDraft | undefined,
  input: GuardrailInput,
): Promise<GuardrailDraft> {
  const name =
    input.name === undefined && current ? current.name : readLineField('name', input.name ?? '', MAX_NAME, 1);
  const description = input.description === undefined ? (current?.description ?? '') : readText(input.description);
  const enforce = input.enforce ?? current?.enforce ?? true;
  const rule = input.statement ? await readStatement(references, model, organizationId, input.statement) : current;
  if (!rule) throw invalidField('never', 'one of never, always, at_least and at_most is required');
  return { ...rule, name, description, enforce };
}

async function readStatement(
  references: References,
  model: Model,
  organizationId: bigint,
  input: StatementInput,
): Promise<GuardrailRule & { names: RememberedNames }> {
  const { kind } = input;
  const field = (part: string) => `${kind}.${part}`;
  const { type, which } = readObject(input.object, organizationId, kind, field);
  const relation = readRelation(model, type, input.relation, field);
  const count = readCount(kind, input.count, field);
  const isCounted = kind === 'at_least' || kind === 'at_most';
  const logins = [...new Set((input.users ?? []).map((login) => login.toLowerCase()))];
  const robotNames = [...new Set(input.robots ?? [])];
  if (isCounted && (logins.length > 0 || robotNames.length > 0 || input.team !== undefined)) {
    throw invalidField(field('users'), `${kind} counts all users: it takes no users, no robots and no team`);
  }
  if (!isCounted && logins.length === 0 && robotNames.length === 0 && input.team === undefined) {
    throw invalidField(field('users'), `${field('users')}, ${field('robots')} or ${field('team')} is required`);
  }
  if (robotNames.length > MAX_USERS) throw invalidField(field('robots'), `at most ${MAX_USERS} robots`);
  if (logins.length > MAX_USERS) throw invalidField(field('users'), `at most ${MAX_USERS} users; use a team instead`);
  const users = await references.users(logins);
  const known = new Set(users.map((user) => user.name.toLowerCase()));
  const unknown = logins.filter((login) => !known.has(login));
  if (unknown.length > 0) {
    throw invalidField(field('users'), `user does not exist: ${unknown.map(quote).join(', ')}`, 'user_not_found');
  }
  const robots = await findRobots(references, organizationId, robotNames, field);
  const team = input.team === undefined ? undefined : await readTeam(references, organizationId, input.team, field);
  const object = which === undefined ? undefined : await findObject(references, organizationId, type, which, field);
  return {
    kind,
    userIds: [...users.map(({ id }) => id), ...robots.map(({ id }) => principalOfRobot(id))].sort(byPrincipal),
    teamId: team?.id,
    relation,
    objectType: type,
    objectId: object?.id,
    count,
    names: {
      ...Object.fromEntries(users.map(({ id, name }) => [`user:${id}`, name])),
      ...Object.fromEntries(robots.map(({ id, name }) => [`robot_ac:${id}`, name])),
      ...(team && { [`team:${team.id}`]: team.name }),
      ...(object && { [`${type}:${object.id}`]: object.name }),
    },
  };
}

type FieldOf = (part: string) => string;

function readObject(
  object: ObjectInput | undefined,
  organizationId: bigint,
  kind: GuardrailKind,
  field: FieldOf,
): { type: GuardedType; which: bigint | string | undefined } {
  const type = GUARDED_TYPES.find((one) => one === (object?.type ?? 'organization'));
  if (!type) {
    throw invalidField(field('object.type'), `${field('object.type')} must be one of ${GUARDED_TYPES.join(', ')}`);
  }
  const which = object?.id ?? object?.name;
  if (type === 'organization') return { type, which: which ?? organizationId };
  if (type === 'token' && which !== undefined) {
    throw invalidField(field('object.id'), 'a statement cannot be about a single token');
  }
  if (which === undefined && (kind === 'at_least' || kind === 'always')) {
    throw invalidField(field('object.id'), `${field('object.id')} is required: ${kind} is about one object`);
  }
  return { type, which };
}

/** As the API shows it, or without its prefix: `can_connect` or `connect`. */
function readRelation(model: Model, type: GuardedType, text: string, field: FieldOf): string {
  const known = model.typeIndex.get(type)?.relationIndex;
  const relation = [text, `can_${text}`].find((one) => one.startsWith('can_') && known?.has(one));
  if (relation !== undefined) return relation;
  throw invalidField(field('relation'), `${type} has no relation ${quote(text)}`, 'unknown_relation');
}

function readCount(kind: GuardrailKind, count: number | undefined, field: FieldOf): number | undefined {
  if (kind !== 'at_least' && kind !== 'at_most') {
    if (count === undefined) return undefined;
    throw invalidField(field('count'), `${kind} takes no count`);
  }
  const min = kind === 'at_least' ? 1 : 0;
  if (count !== undefined && Number.isInteger(count) && count >= min && count <= MAX_COUNT) return count;
  throw invalidField(field('count'), `${field('count')} must be a whole number between ${min} and ${MAX_COUNT}`);
}

async function readTeam(references: References, organizationId: bigint, which: bigint | string, field: FieldOf) {
  const [team] = await references.teams(organizationId, which);
  if (team) return team;
  throw invalidField(field('team'), `not a team of the organization: ${told(which)}`, 'team_not_found');
}

/** Names of robots are case-sensitive. A robot that the caller may not see does not exist for them. */
async function findRobots(
  references: References,
  organizationId: bigint,
  names: readonly string[],
  field: FieldOf,
): Promise<Reference[]> {
  const found: Reference[] = [];
  const unknown: string[] = [];
  for (const name of names) {
    const robot = (await references.objects(organizationId, 'robot_ac', name)).find((one) => one.name === name);
    if (robot) found.push(robot);
    else unknown.push(name);
  }
  if (unknown.length === 0) return found;
  throw invalidField(field('robots'), `robot does not exist: ${unknown.map(quote).join(', ')}`, 'robot_not_found');
}

async function findObject(
  references: References,
  organizationId: bigint,
  type: GuardedType,
  which: bigint | string,
  field: FieldOf,
): Promise<Reference> {
  const found = await references.objects(organizationId, type, which);
  const [object] = found;
  if (!object) throw invalidField(field('object'), `not a ${type} of the organization: ${told(which)}`, 'not_found');
  if (found.length > 1) {
    throw invalidField(field('object'), `several objects of type ${type} are called ${told(which)}: give the ID`);
  }
  return object;
}

function readText(text: string): string {
  if ([...text].length <= MAX_DESCRIPTION) return text;
  throw invalidField('description', `description must have at most ${MAX_DESCRIPTION} characters`);
}

function told(which: bigint | string): string {
  return typeof which === 'bigint' ? String(which) : quote(which);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}

/** A fault of one guardrail of several, such as those of a file. */
export function aboutGuardrail(name: string, place: number, error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const errors = error.detail.errors?.map(({ field, message }) => ({
    field: `guardrails[${place}].${field}`,
    message,
  }));
  return new AppError(error.kind, `guardrail ${quote(name)}: ${error.message}`, {
    ...error.detail,
    ...(errors && { errors }),
  });
}
