import { createYielder, mapInSlices } from '../base/scheduling/slices.ts';
import type { GuardrailEntry } from '../guardrails/guardrail-file.ts';
import { type AssignmentEntry, writtenEntry } from './assignment-entry.ts';
import { API_VERSION, KIND, type TeamEntry, type WrittenDocument } from './role-document.ts';

/** Written by hand, so that the same roles give the same bytes with every version of every dependency. */
export async function writeYaml({
  organization,
  roles,
  assignments = [],
  guardrails = [],
}: WrittenDocument): Promise<string> {
  const inList = remembered(writeInList);
  const listOf = (items: readonly string[]) => `[${items.map(inList).join(', ')}]`;
  const teamOf = (team: TeamEntry) =>
    typeof team === 'string' ? inList(team) : `{name: ${inList(team.name)}, expires_at: "${team.expires_at}"}`;
  const lines = [`apiVersion: ${API_VERSION}`, `kind: ${KIND}`, `organization: ${inList(organization)}`];
  lines.push(roles.length === 0 ? 'roles: []' : 'roles:');
  const yieldIfDue = createYielder();
  for (const role of roles) {
    await yieldIfDue();
    lines.push(`  - name: ${onLine(role.name)}`, `    description: ${onLine(role.description)}`);
    lines.push(`    permissions:${role.permissions.size === 0 ? ' {}' : ''}`);
    for (const [namespace, actions] of role.permissions) lines.push(`      ${namespace}: ${listOf(actions)}`);
    lines.push(`    teams: [${role.teams.map(teamOf).join(', ')}]`);
  }
  if (assignments.length > 0) lines.push('assignments:');
  for (const entry of assignments) {
    await yieldIfDue();
    lines.push(...assignmentLines(entry, inList));
  }
  if (guardrails.length > 0) lines.push('guardrails:', ...guardrails.flatMap(guardrailLines));
  return `${lines.join('\n')}\n`;
}

function assignmentLines(entry: AssignmentEntry, inList: (text: string) => string): string[] {
  const { role, to, on, namespaces, expires_at: end, reason } = writtenEntry(entry);
  const mapping = (one: Readonly<Record<string, string | number>>) => {
    const fields = Object.entries(one).map(([key, value]) => {
      return `${key}: ${typeof value === 'number' ? value : inList(value)}`;
    });
    return `{${fields.join(', ')}}`;
  };
  return [
    ...[`  - role: ${onLine(role)}`, `    to: ${mapping(to)}`],
    ...(on ? [`    on: ${mapping(on)}`] : []),
    ...(namespaces ? [`    namespaces: [${namespaces.map(inList).join(', ')}]`] : []),
    ...(end ? [`    expires_at: "${end}"`] : []),
    ...(reason ? [`    reason: ${onLine(reason)}`] : []),
  ];
}

function guardrailLines({ name, description, enforce, kind, statement }: GuardrailEntry): string[] {
  const { users, robots, team, count, relation, object } = statement;
  const called = object.name === undefined ? '' : `, name: ${writeInList(object.name)}`;
  return [
    `  - name: ${onLine(name)}`,
    `    description: ${onLine(description)}`,
    `    enforce: ${enforce}`,
    `    ${kind}:`,
    ...(users === undefined ? [] : [`      users: [${users.map(writeInList).join(', ')}]`]),
    ...(robots === undefined ? [] : [`      robots: [${robots.map(writeInList).join(', ')}]`]),
    ...(team === undefined ? [] : [`      team: ${onLine(team)}`]),
    ...(count === undefined ? [] : [`      count: ${count}`]),
    `      relation: ${relation}`,
    `      object: { type: ${object.type}${called} }`,
  ];
}

/** As `JSON.stringify` with an indent of two would write it. */
export async function writeJsonDocument(document: WrittenDocument): Promise<string> {
  const { organization, roles, assignments = [], guardrails = [] } = document;
  const entries = await mapInSlices(roles, (role) => {
    const text = JSON.stringify({ ...role, permissions: Object.fromEntries(role.permissions) }, null, 2);
    return `    ${text.replaceAll('\n', '\n    ')}`;
  });
  const head = JSON.stringify({ apiVersion: API_VERSION, kind: KIND, organization }, null, 2).slice(0, -2);
  const rules = guardrails.map(({ name, description, enforce, kind, statement }) => {
    return { name, description, enforce, [kind]: statement };
  });
  const assigned = await mapInSlices(assignments, (entry) => {
    return `    ${JSON.stringify(writtenEntry(entry), null, 2).replaceAll('\n', '\n    ')}`;
  });
  const middle = assigned.length === 0 ? '' : `,\n  "assignments": [\n${assigned.join(',\n')}\n  ]`;
  const tail = rules.length === 0 ? '' : `,\n  "guardrails": ${indented(rules)}`;
  return `${head},\n  "roles": ${entries.length === 0 ? '[]' : `[\n${entries.join(',\n')}\n  ]`}${middle}${tail}\n}\n`;
}

function indented(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
}

/** Many roles have the same teams and permissions, and looking at each letter of them again would take long. */
function remembered(write: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const written = known.get(text) ?? write(text);
    known.set(text, written);
    return written;
  };
}

/**
 * Text that every YAML parser accepts without quotes: it begins with a letter and has no character with a special
 * meaning.
 */
const PLAIN = /^\p{L}(?:[\p{L}\p{M}\p{N} _.()/&+-]*[\p{L}\p{M}\p{N}_.()/+])?$/u;
const PLAIN_LINE = /^\p{L}(?:[\p{L}\p{M}\p{N} _.()/&+,;'"!?-]*[\p{L}\p{M}\p{N}_.()/+,;'"!?])?$/u;
/** Older parsers do not read these words as text. */
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

export function writeInList(text: string): string {
  return PLAIN.test(text) && !WORDS.test(text) ? text : quoted(text);
}

export function onLine(text: string): string {
  return PLAIN_LINE.test(text) && !WORDS.test(text) ? text : quoted(text);
}

/** A JSON string is also a YAML string, except for characters that are not printable in YAML. */
function quoted(text: string): string {
  const hidden = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
  return JSON.stringify(text).replace(hidden, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
