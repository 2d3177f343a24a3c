import { AppError, type FieldFault } from '../base/errors.ts';
import type { FileGuardrail } from '../guardrails/guardrail-file.ts';
import type { RuleInput } from '../requests/rules/request-rules.ts';
import type { AssignmentEntry } from '../roles/assignment-entry.ts';
import { API_VERSION, KIND, type RoleEntry, readDocument } from '../roles/role-document.ts';
import { createFieldReader, type FieldReader } from './field-reader.ts';
import { readRequestRule } from './request-rule-entry.ts';
import { readTrustRuleEntry, type TrustRuleEntry } from './trust-rule-entry.ts';

/** A part of the file. What it does not mention stays, unless it prunes. */
export interface Section<Entry> {
  readonly items: readonly Entry[];
  readonly prunes: boolean;
}

/** A member of a team. Without an end, the membership ends as before. */
export interface MemberEntry {
  readonly login: string;
  /** The account that is meant, in case that the login is another person's by now. */
  readonly id: bigint | undefined;
  readonly expiresAt: string | null | undefined;
}

/** Undefined fields stay as they are. */
export interface TeamEntry {
  readonly name: string;
  readonly was: string | undefined;
  readonly description: string | undefined;
  readonly permission: string | undefined;
  readonly members: readonly MemberEntry[] | undefined;
}

export interface RobotEntry {
  readonly name: string;
  readonly was: string | undefined;
  readonly description: string | undefined;
  readonly trustRules: readonly TrustRuleEntry[] | undefined;
}

export interface WebhookEntry {
  readonly name: string;
  readonly was: string | undefined;
  readonly url: string | undefined;
  readonly types: readonly string[] | undefined;
  readonly format: string | undefined;
  readonly active: boolean | undefined;
}

export interface TokenPolicyEntry {
  readonly maxDays: number | null | undefined;
  readonly expiryRequired: boolean | undefined;
}

/** What the file says about a whole organization. It says nothing about undefined parts. */
export interface OrganizationDocument {
  readonly organization: string;
  readonly teams: Section<TeamEntry> | undefined;
  readonly roles: Section<RoleEntry> | undefined;
  readonly assignments: Section<AssignmentEntry> | undefined;
  readonly robots: Section<RobotEntry> | undefined;
  readonly guardrails: Section<FileGuardrail> | undefined;
  /** In the order in which they are tried, so always whole. */
  readonly requestRules: readonly RuleInput[] | undefined;
  readonly webhooks: Section<WebhookEntry> | undefined;
  readonly tokenPolicy: TokenPolicyEntry | undefined;
  readonly secondFactor: { readonly required: boolean } | undefined;
}

export const ORGANIZATION_KIND = 'Organization';
/** In the order in which they are written. */
export const SECTIONS = [
  'teams',
  'roles',
  'assignments',
  'robots',
  'guardrails',
  'request_rules',
  'webhooks',
  'token_policy',
  'second_factor',
] as const;
/** Those that the audit log tells well enough to show them as of a past moment. */
export const PAST_SECTIONS = ['teams', 'roles', 'assignments', 'guardrails'] as const;
export type SectionName = (typeof SECTIONS)[number];

const HEAD = ['apiVersion', 'kind', 'organization'];
const PRUNABLE = ['teams', 'roles', 'assignments', 'robots', 'guardrails', 'webhooks'] as const;
const OF_ROLES = ['roles', 'assignments', 'guardrails'];
const MAX_FAULTS = 20;
const MAX_ITEMS = 20_000;
const PERMISSIONS = ['none', 'read', 'write', 'admin', 'owner'];

/** Reads parsed JSON or YAML. Nothing unknown is ignored, because it may be a typo. */
export async function readOrganizationDocument(value: unknown): Promise<OrganizationDocument> {
  const faults: FieldFault[] = [];
  const reader = createFieldReader((field, message) => faults.push({ field, message: `${field} ${message}` }));
  const document = reader.fields(value);
  if (!document) throw rejection([{ field: 'body', message: 'body must be the file of an organization' }]);
  // The file of roles is a part of the file.
  const isOfRoles = document.kind === KIND;
  if (document.as_of !== undefined) {
    reader.fault(
      'as_of',
      'is that of a past moment, which no file can bring back: plan and apply a file without as_of',
    );
  }
  reader.only(document, '', [...HEAD, 'as_of', ...(isOfRoles ? OF_ROLES : SECTIONS)]);
  if (document.apiVersion !== API_VERSION) reader.fault('apiVersion', `must be ${API_VERSION}`);
  if (!isOfRoles && document.kind !== ORGANIZATION_KIND) reader.fault('kind', `must be ${ORGANIZATION_KIND}`);
  const organization = reader.text(document, '', 'organization') ?? '';
  if (organization === '') reader.fault('organization', 'is required');
  const lists = new Map(PRUNABLE.map((name) => [name, sectionOf(reader, document[name], name)] as const));
  const [teams, roles, assignments] = [lists.get('teams'), lists.get('roles'), lists.get('assignments')];
  const [robots, guardrails, webhooks] = [lists.get('robots'), lists.get('guardrails'), lists.get('webhooks')];
  const rules = document.request_rules ?? undefined;
  if (rules !== undefined && !Array.isArray(rules)) reader.fault('request_rules', 'must be a list');
  const read = {
    organization,
    teams: teams && entriesIn(teams, (item, place) => readTeam(reader, item, `teams[${place}]`)),
    robots: robots && entriesIn(robots, (item, place) => readRobot(reader, item, `robots[${place}]`)),
    requestRules: Array.isArray(rules)
      ? rules.slice(0, MAX_ITEMS).map((rule, place) => readRequestRule(reader, rule, `request_rules[${place}]`, place))
      : undefined,
    webhooks: webhooks && entriesIn(webhooks, (item, place) => readWebhook(reader, item, `webhooks[${place}]`)),
    tokenPolicy: readTokenPolicy(reader, document.token_policy),
    secondFactor: readSecondFactor(reader, document.second_factor),
  };
  const ofRoles = await readRoleParts(organization, { roles, assignments, guardrails }, faults);
  if (faults.length > 0) throw rejection(faults.slice(0, MAX_FAULTS));
  return {
    ...read,
    roles: roles && { items: ofRoles?.roles ?? [], prunes: roles.prunes },
    assignments: assignments && { items: ofRoles?.assignments ?? [], prunes: assignments.prunes },
    guardrails: guardrails && { items: ofRoles?.guardrails ?? [], prunes: guardrails.prunes },
  };
}

/** What the file of roles has, too, is read as that is. */
async function readRoleParts(
  organization: string,
  parts: Readonly<Record<'roles' | 'assignments' | 'guardrails', Section<unknown> | undefined>>,
  faults: FieldFault[],
) {
  const { roles, assignments, guardrails } = parts;
  try {
    return await readDocument({
      ...{ apiVersion: API_VERSION, kind: KIND, organization: organization || 'unnamed', roles: roles?.items ?? [] },
      ...(assignments && { assignments: assignments.items }),
      ...(guardrails && { guardrails: guardrails.items }),
    });
  } catch (error) {
    if (!(error instanceof AppError) || !error.detail.errors) throw error;
    faults.push(...error.detail.errors);
    return undefined;
  }
}

function sectionOf(reader: FieldReader, given: unknown, name: string): Section<unknown> | undefined {
  if (given === undefined || given === null) return undefined;
  const fields = reader.fields(given);
  // Without its items, a section that prunes would remove everything: a list may have got lost.
  const items = fields ? fields.items : given;
  if (fields) reader.only(fields, `${name}.`, ['prune', 'items']);
  const prunes = fields?.prune ?? false;
  if (typeof prunes !== 'boolean') reader.fault(`${name}.prune`, 'must be true or false');
  if (!Array.isArray(items)) {
    reader.fault(name, 'must be a list, or have prune and items');
    return undefined;
  }
  if (items.length > MAX_ITEMS) reader.fault(name, `must have at most ${MAX_ITEMS} items`);
  return { items: items.slice(0, MAX_ITEMS), prunes: prunes === true };
}

function entriesIn<T>({ items, prunes }: Section<unknown>, read: (item: unknown, place: number) => T): Section<T> {
  return { items: items.map(read), prunes };
}

function readTeam(reader: FieldReader, item: unknown, path: string): TeamEntry {
  const team = reader.entry(item, path, ['name', 'was', 'description', 'permission', 'managed_by', 'members']);
  const permission = reader.text(team, `${path}.`, 'permission');
  if (permission !== undefined && !PERMISSIONS.includes(permission)) {
    reader.fault(`${path}.permission`, 'must be one of none, read, write, admin');
  }
  const members = team.members ?? undefined;
  if (members !== undefined && !Array.isArray(members)) reader.fault(`${path}.members`, 'must be a list');
  return {
    ...named(reader, team, path),
    permission,
    members: Array.isArray(members)
      ? members.slice(0, MAX_ITEMS).map((one, place) => readMember(reader, one, `${path}.members[${place}]`))
      : undefined,
  };
}

function readMember(reader: FieldReader, item: unknown, path: string): MemberEntry {
  if (typeof item === 'string') return { login: item, id: undefined, expiresAt: undefined };
  const member = reader.entry(item, path, ['user', 'id', 'expires_at'], 'a login, or a mapping with user');
  const login = reader.text(member, `${path}.`, 'user');
  if (login === undefined) reader.fault(`${path}.user`, 'is required');
  return { login: login ?? '', id: reader.id(member, path), expiresAt: reader.end(member, path) };
}

function readRobot(reader: FieldReader, item: unknown, path: string): RobotEntry {
  const robot = reader.entry(item, path, ['name', 'was', 'description', 'trust_rules']);
  const rules = robot.trust_rules ?? undefined;
  if (rules !== undefined && !Array.isArray(rules)) reader.fault(`${path}.trust_rules`, 'must be a list');
  return {
    ...named(reader, robot, path),
    trustRules: Array.isArray(rules)
      ? rules.slice(0, MAX_ITEMS).map((one, place) => readTrustRuleEntry(reader, one, `${path}.trust_rules[${place}]`))
      : undefined,
  };
}

/** It has no key for a secret. */
function readWebhook(reader: FieldReader, item: unknown, path: string): WebhookEntry {
  const webhook = reader.entry(item, path, ['name', 'was', 'url', 'types', 'format', 'active']);
  return {
    ...former(reader, webhook, path),
    url: reader.text(webhook, `${path}.`, 'url'),
    types: reader.texts(webhook, path, 'types'),
    format: reader.text(webhook, `${path}.`, 'format'),
    active: reader.flag(webhook, path, 'active'),
  };
}

function named(reader: FieldReader, fields: Readonly<Record<string, unknown>>, path: string) {
  return { ...former(reader, fields, path), description: reader.text(fields, `${path}.`, 'description') };
}

function former(reader: FieldReader, fields: Readonly<Record<string, unknown>>, path: string) {
  const name = reader.text(fields, `${path}.`, 'name');
  if (name === undefined) reader.fault(`${path}.name`, 'is required');
  return { name: name ?? '', was: reader.text(fields, `${path}.`, 'was') };
}

function readTokenPolicy(reader: FieldReader, given: unknown): TokenPolicyEntry | undefined {
  if (given === undefined || given === null) return undefined;
  const fields = reader.entry(given, 'token_policy', ['max_days', 'expiry_required']);
  const maxDays = fields.max_days;
  const isDays =
    maxDays === null ||
    maxDays === undefined ||
    (Number.isInteger(maxDays) && Number(maxDays) >= 1 && Number(maxDays) <= 3650);
  if (!isDays) reader.fault('token_policy.max_days', 'must be a number from 1 to 3650, or null');
  const expiryRequired = reader.flag(fields, 'token_policy', 'expiry_required');
  return { maxDays: isDays ? (maxDays as number | null | undefined) : null, expiryRequired };
}

function readSecondFactor(reader: FieldReader, given: unknown): { readonly required: boolean } | undefined {
  if (given === undefined || given === null) return undefined;
  const fields = reader.entry(given, 'second_factor', ['required']);
  const required = reader.flag(fields, 'second_factor', 'required');
  if (required === undefined) reader.fault('second_factor.required', 'is required');
  return { required: required ?? false };
}

export function rejection(errors: readonly FieldFault[]): AppError {
  return new AppError('malformed', errors.map(({ message }) => message).join('; '), { errors });
}
