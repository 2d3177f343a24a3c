import { createHash } from 'node:crypto';
import { createYielder, mapInSlices } from '../base/scheduling/slices.ts';
import { entryOf } from '../guardrails/guardrail-file.ts';
import { presentRule } from '../requests/rules/request-rules.routes.ts';
import { writtenEntry } from '../roles/assignment-entry.ts';
import { entryOfStored } from '../roles/assignment-plan.ts';
import { API_VERSION, documentOf } from '../roles/role-document.ts';
import { onLine, writeInList } from '../roles/role-document-writer.ts';
import { ORGANIZATION_KIND, SECTIONS, type SectionName } from './organization-document.ts';
import type { OrganizationNow, StoredTeam } from './organization-now.ts';
import { trustRuleEntryOf } from './plans/trust-rule-plan.ts';

/** What a file says, as plain data. The same organization gives the same content, whatever the order of its rows. */
export type Content = Readonly<Record<string, unknown>>;

interface ContentOptions {
  /** By default all of them. */
  readonly sections?: ReadonlySet<string> | undefined;
  /** Members also by the IDs of their accounts. */
  readonly withIds?: boolean;
  /** The moment of the past that it shows. */
  readonly asOf?: Date;
}

export async function contentOf(
  now: OrganizationNow,
  { sections, withIds = false, asOf }: ContentOptions = {},
): Promise<Content> {
  const { rules, roles, assignments } = now.roleFile;
  const names = new Map(roles.map(({ id, name }) => [id, name]));
  const lasting = assignments.stored.filter(({ isRequested }) => !isRequested);
  const ofRoles = documentOf(
    now.name,
    roles,
    rules.guardrails.map((guardrail) => entryOf(guardrail, rules.names)),
    lasting.map((one) => entryOfStored(one, names.get(one.roleId) ?? '')),
  );
  const { maxDays, expiryRequired } = now.tokenPolicy;
  const parts: Readonly<Record<SectionName, () => unknown>> = {
    teams: () => mapInSlices(sortedBy(now.teams, nameOf), (team) => teamOf(team, withIds)),
    roles: () => ofRoles.roles.map((role) => ({ ...role, permissions: Object.fromEntries(role.permissions) })),
    assignments: () => (ofRoles.assignments ?? []).map(writtenEntry),
    robots: () =>
      sortedBy(now.robots, nameOf).map(({ name, description, trustRules }) => ({
        name,
        ...(description && { description }),
        ...(trustRules.length > 0 && { trust_rules: sortedBy(trustRules, nameOf).map(trustRuleEntryOf) }),
      })),
    guardrails: () =>
      (ofRoles.guardrails ?? []).map(({ name, description, enforce, kind, statement }) => {
        return { name, ...(description && { description }), enforce, [kind]: statement };
      }),
    request_rules: () => now.requestRules.map((rule) => withoutIds(presentRule(rule))),
    webhooks: () =>
      sortedBy(now.webhooks, nameOf).map(({ name, url, types, format, active }) => {
        return { name, url, types, format, active };
      }),
    token_policy: () => ({ max_days: maxDays, expiry_required: expiryRequired }),
    second_factor: () => ({ required: now.secondFactor }),
  };
  const content: Record<string, unknown> = {
    ...{ apiVersion: API_VERSION, kind: ORGANIZATION_KIND, organization: now.name },
    ...(asOf && { as_of: asOf.toISOString() }),
  };
  const yieldIfDue = createYielder();
  for (const section of SECTIONS) {
    await yieldIfDue();
    if (!sections || sections.has(section)) content[section] = await parts[section]();
  }
  return content;
}

function teamOf({ name, description, permission, isBuiltIn, isScim, members }: StoredTeam, withIds: boolean) {
  const own = sortedBy(
    members.filter(({ isProvided }) => !isProvided),
    ({ login }) => login,
  );
  return {
    name,
    ...(description && { description }),
    ...(!isBuiltIn && { permission }),
    ...(isScim && { managed_by: 'scim' }),
    ...(!isScim && {
      members: own.map(({ id, login, expiresAt }) =>
        expiresAt || withIds
          ? {
              user: login,
              ...(withIds && { id: Number(id) }),
              ...(expiresAt && { expires_at: expiresAt.toISOString() }),
            }
          : login,
      ),
    }),
  };
}

/** As `byName` has them, but each name is prepared once: a team may have fifty thousand members. */
function sortedBy<T>(items: readonly T[], nameOfItem: (item: T) => string): T[] {
  const keyed = items.map((item) => ({ item, name: nameOfItem(item), key: nameOfItem(item).toLowerCase() }));
  const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
  return keyed.sort((a, b) => compare(a.key, b.key) || compare(a.name, b.name)).map(({ item }) => item);
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

/** Objects of rules by name: IDs say nothing in another organization. */
function withoutIds(rule: ReturnType<typeof presentRule>) {
  const { objects, ...match } = rule.match;
  const named = objects?.map(({ type, name }) => ({ type: type === 'robot_ac' ? 'robot' : type, name }));
  return { ...rule, match: { ...match, ...(named && { objects: named }) } };
}

/** Depends on what the file says, not on when or how it came to be. */
export async function versionOf(now: OrganizationNow): Promise<string> {
  return createHash('sha256')
    .update(await writeContent(await contentOf(now)))
    .digest('hex')
    .slice(0, 32);
}

/** Changes whenever anything does that a plan was made from. */
export async function fingerprintOf({ teams, roleFile, ...rest }: OrganizationNow): Promise<string> {
  const { roles, assignments, ...other } = roleFile;
  const { stored, found, ...counts } = assignments;
  const hash = createHash('sha256');
  const yieldIfDue = createYielder();
  for (const part of [rest, other, counts, ...teams, ...roles, ...stored, ...found]) {
    hash.update(JSON.stringify(part, plain));
    await yieldIfDue();
  }
  return hash.digest('hex');
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Map || value instanceof Set ? [...value] : value;
}

/** As YAML that a person would write, by hand so that every version of every dependency gives the same bytes. */
export async function writeContent(content: Content): Promise<string> {
  const lines: string[] = [];
  const yieldIfDue = createYielder();
  for (const [key, value] of Object.entries(content)) {
    if (!Array.isArray(value) || value.length === 0) lines.push(...linesOf(key, value));
    else {
      lines.push(`${key}:`);
      for (const item of value) {
        lines.push(...itemOf(item));
        await yieldIfDue();
      }
    }
  }
  return `${lines.join('\n')}\n`;
}

/** As `JSON.stringify` would, in slices. */
export async function writeContentAsJson(content: Content): Promise<string> {
  const parts: string[] = [];
  const yieldIfDue = createYielder();
  for (const [key, value] of Object.entries(content)) {
    const items: string[] = [];
    for (const item of Array.isArray(value) ? value : []) {
      items.push(indented(item, '    '));
      await yieldIfDue();
    }
    const text = items.length > 0 ? `[\n    ${items.join(',\n    ')}\n  ]` : indented(value, '  ');
    parts.push(`  ${JSON.stringify(key)}: ${text}`);
  }
  return `{\n${parts.join(',\n')}\n}\n`;
}

function indented(value: unknown, by: string): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${by}`);
}

function linesOf(key: string, value: unknown): string[] {
  const name = writeInList(key);
  if (isScalar(value)) return [`${name}: ${scalar(value)}`];
  if (Array.isArray(value) && value.every(isShort)) return [`${name}: [${value.map(short).join(', ')}]`];
  if (Array.isArray(value)) return [`${name}:`, ...value.flatMap(itemOf)];
  const entries = Object.entries(value as object).filter(([, one]) => one !== undefined);
  if (entries.length === 0) return [`${name}: {}`];
  return [`${name}:`, ...entries.flatMap(([one, own]) => linesOf(one, own)).map((line) => `  ${line}`)];
}

function itemOf(item: unknown): string[] {
  if (isScalar(item)) return [`  - ${scalar(item)}`];
  const entries = Object.entries(item as object).filter(([, one]) => one !== undefined);
  const lines = entries.flatMap(([key, value]) => linesOf(key, value));
  return lines.map((line, place) => (place === 0 ? `  - ${line}` : `    ${line}`));
}

function isScalar(value: unknown): value is string | number | boolean | bigint | null {
  return value === null || typeof value !== 'object';
}

function scalar(value: string | number | boolean | bigint | null): string {
  return typeof value === 'string' ? onLine(value) : String(value);
}

/** What fits in a list on one line: words, and mappings of words. */
function isShort(value: unknown): boolean {
  if (isScalar(value)) return true;
  return !Array.isArray(value) && Object.values(value as object).every((one) => one === undefined || isScalar(one));
}

function short(value: unknown): string {
  if (isScalar(value)) return typeof value === 'string' ? writeInList(value) : String(value);
  const entries = Object.entries(value as object).filter(([, one]) => one !== undefined);
  return `{${entries.map(([key, one]) => `${writeInList(key)}: ${short(one)}`).join(', ')}}`;
}
