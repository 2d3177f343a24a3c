import { AppError, type FieldFault } from '../base/errors.ts';
import { mapInSlices } from '../base/scheduling/slices.ts';
import { type FileGuardrail, type GuardrailEntry, readGuardrail } from '../guardrails/guardrail-file.ts';
import { type AssignmentEntry, isDateTime, readAssignmentEntry } from './assignment-entry.ts';
import { CATALOG } from './catalog.ts';
import type { RoleDraft } from './roles.ts';

/** A file of roles, as users keep it in git. A field that is left out of a role is empty: the file is complete. */
export interface RoleDocument {
  readonly organization: string;
  readonly roles: readonly RoleEntry[];
  /** Besides the teams of roles. Without it, the file says nothing about them. */
  readonly assignments?: readonly AssignmentEntry[] | undefined;
  /** Without it, the file says nothing about guardrails. */
  readonly guardrails?: readonly FileGuardrail[] | undefined;
}

/** The same as it is written: everything is named. */
export interface WrittenDocument extends Omit<RoleDocument, 'guardrails'> {
  readonly guardrails?: readonly GuardrailEntry[] | undefined;
}

export interface RoleEntry {
  readonly name: string;
  /** What it was called before. */
  readonly was?: string | undefined;
  readonly description: string;
  /** Actions by namespace. */
  readonly permissions: ReadonlyMap<string, readonly string[]>;
  readonly teams: readonly TeamEntry[];
}

/** A team by its name, or also when the assignment ends; null for never. By its name alone, it ends as before. */
export type TeamEntry = string | { readonly name: string; readonly expires_at: string | null };

export const API_VERSION = 'atrium/v1';
export const KIND = 'Roles';

const MAX_FAULTS = 20;
const MAX_ITEMS = 1000;
const DOCUMENT_KEYS = ['apiVersion', 'kind', 'organization', 'roles', 'assignments', 'guardrails'];
const ROLE_KEYS = ['name', 'was', 'description', 'permissions', 'teams'];
const TEAM_KEYS = ['name', 'expires_at'];

type Fields = Readonly<Record<string, unknown>>;

/** Reads parsed JSON or YAML. Nothing unknown is ignored, because it may be a typo. */
export async function readDocument(value: unknown): Promise<RoleDocument> {
  const faults: FieldFault[] = [];
  const fault = (field: string, message: string) => {
    faults.push({ field, message: `${field} ${message}` });
  };

  const document = fieldsOf(value);
  if (!document) throw rejection([{ field: 'body', message: 'body must be a roles document' }]);
  rejectUnknownKeys(document, '', DOCUMENT_KEYS);
  if (document.apiVersion !== API_VERSION) fault('apiVersion', `must be ${API_VERSION}`);
  if (document.kind !== KIND) fault('kind', `must be ${KIND}`);
  const organization = text(document, '', 'organization') ?? '';
  if (organization === '') fault('organization', 'is required');
  const roles = list(document, '', 'roles');
  if (!roles) fault('roles', 'is required');
  const entries = await mapInSlices(roles ?? [], (role, place) => readRole(role, `roles[${place}]`));
  const assignments = list(document, '', 'assignments');
  const assigned = await mapInSlices(assignments ?? [], (entry, place) =>
    readAssignmentEntry(entry, `assignments[${place}]`, organization, fault),
  );
  const guardrails = list(document, '', 'guardrails');
  if (guardrails && guardrails.length > MAX_ITEMS) fault('guardrails', `must have at most ${MAX_ITEMS} items`);
  const rules = guardrails
    ?.slice(0, MAX_ITEMS)
    .map((guardrail, place) => readGuardrail(guardrail, `guardrails[${place}]`, fault));
  const read = {
    ...{ organization, roles: entries },
    ...(assignments && { assignments: assigned.flatMap((entry) => entry ?? []) }),
    ...(rules && { guardrails: rules }),
  };
  if (faults.length > 0) throw rejection(faults.slice(0, MAX_FAULTS));
  return read;

  function readRole(given: unknown, path: string): RoleEntry {
    const role = fieldsOf(given);
    if (!role) fault(path, 'must be a role with a name');
    const fields = role ?? {};
    rejectUnknownKeys(fields, `${path}.`, ROLE_KEYS);
    const name = text(fields, `${path}.`, 'name');
    if (role && name === undefined) fault(`${path}.name`, 'is required');
    const groups = fieldsOf(fields.permissions ?? {});
    if (!groups) fault(`${path}.permissions`, 'must list actions by namespace');
    const permissions = Object.keys(groups ?? {}).map(
      (namespace) => [namespace, texts(groups ?? {}, `${path}.permissions.`, namespace)] as const,
    );
    const was = text(fields, `${path}.`, 'was');
    return {
      name: name ?? '',
      ...(was !== undefined && { was }),
      description: text(fields, `${path}.`, 'description') ?? '',
      permissions: new Map(permissions),
      teams: items(fields, `${path}.`, 'teams', readTeam),
    };
  }

  function readTeam(given: unknown, path: string): TeamEntry[] {
    if (typeof given === 'string') return [given];
    const team = fieldsOf(given);
    if (!team) {
      fault(path, 'must be a string, or have a name and expires_at');
      return [];
    }
    rejectUnknownKeys(team, `${path}.`, TEAM_KEYS);
    const { name, expires_at: end = null } = team;
    const isEnd = end === null || isDateTime(end);
    if (typeof name !== 'string') fault(`${path}.name`, 'must be a string');
    if (!isEnd) fault(`${path}.expires_at`, 'must be a date-time or null');
    return typeof name === 'string' && isEnd ? [{ name, expires_at: end as string | null }] : [];
  }

  function rejectUnknownKeys(fields: Fields, path: string, known: readonly string[]): void {
    for (const key of Object.keys(fields)) {
      if (!known.includes(key))
        fault(`${path}${key.slice(0, 100)}`, `is not a known field; known fields are ${known.join(', ')}`);
    }
  }

  function text(fields: Fields, path: string, key: string): string | undefined {
    const found = fields[key] ?? undefined;
    if (found === undefined || typeof found === 'string') return found;
    fault(`${path}${key}`, 'must be a string');
    return '';
  }

  function list(fields: Fields, path: string, key: string): readonly unknown[] | undefined {
    const found = fields[key] ?? undefined;
    if (found === undefined || Array.isArray(found)) return found;
    fault(`${path}${key}`, 'must be a list');
    return [];
  }

  function texts(fields: Fields, path: string, key: string): string[] {
    return items(fields, path, key, (item, place) => {
      if (typeof item === 'string') return [item];
      fault(place, 'must be a string');
      return [];
    });
  }

  function items<T>(fields: Fields, path: string, key: string, read: (item: unknown, path: string) => T[]): T[] {
    const given = list(fields, path, key) ?? [];
    if (given.length > MAX_ITEMS) fault(`${path}${key}`, `must have at most ${MAX_ITEMS} items`);
    return given.slice(0, MAX_ITEMS).flatMap((item, place) => read(item, `${path}${key}[${place}]`));
  }
}

/** A role with its teams by name, as in the file. */
export type NamedRole = Pick<RoleDraft, 'name' | 'description' | 'permissions'> & {
  readonly teamNames: readonly string[];
  /** When assignments end, by the name of the team. */
  readonly teamEnds?: ReadonlyMap<string, Date>;
};

/** The same roles give the same document, whatever the order in which they were created. */
export function documentOf(
  organization: string,
  roles: readonly NamedRole[],
  guardrails: readonly GuardrailEntry[] = [],
  assignments: readonly AssignmentEntry[] = [],
): WrittenDocument {
  const inOrder = sorterOf(roles.flatMap((role) => role.teamNames));
  const entries = roles.map((role) => ({
    name: role.name,
    description: role.description,
    permissions: byNamespace(role),
    teams: inOrder(role.teamNames).map((name) => {
      const end = role.teamEnds?.get(name);
      return end ? { name, expires_at: end.toISOString() } : name;
    }),
  }));
  const sorted = entries.sort((a, b) => byName(a.name, b.name));
  // Without any, the document is the same as before there were assignments and guardrails.
  return {
    ...{ organization, roles: sorted },
    ...(assignments.length > 0 && { assignments: sortedAssignments(assignments) }),
    ...(guardrails.length > 0 && { guardrails: guardrails.toSorted((a, b) => byName(a.name, b.name)) }),
  };
}

function sortedAssignments(assignments: readonly AssignmentEntry[]): AssignmentEntry[] {
  const wordsOf = ({ role, to, on, namespaces }: AssignmentEntry) =>
    [role, to.type, to.name, on?.type ?? '', on?.name ?? '', String(on?.id ?? ''), namespaces?.join() ?? ''] as const;
  return assignments.toSorted((a, b) => {
    const [one, other] = [wordsOf(a), wordsOf(b)];
    const differs = one.findIndex((word, place) => word !== other[place]);
    return differs === -1 ? 0 : byName(one[differs] ?? '', other[differs] ?? '');
  });
}

/** Compares without case first, then with case, independent of the locale of the machine. */
export function byName(a: string, b: string): number {
  const [one, other] = [a.toLowerCase(), b.toLowerCase()];
  if (one !== other) return one < other ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Sorts lists of these names. The names are compared once: a thousand roles may have the same hundred teams. */
export function sorterOf(names: readonly string[]): (list: readonly string[]) => string[] {
  const places = new Map([...new Set(names)].sort(byName).map((name, place) => [name, place]));
  return (list) => list.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
}

function byNamespace({ permissions }: NamedRole): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const one of CATALOG) {
    if (permissions.includes(one)) groups.set(one.namespace, [...(groups.get(one.namespace) ?? []), one.action]);
  }
  return groups;
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function rejection(errors: readonly FieldFault[]): AppError {
  return new AppError('malformed', errors.map(({ message }) => message).join('; '), { errors });
}
