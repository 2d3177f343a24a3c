import { faultInNamespaces } from '../authz/places/namespaces.ts';
import type { FieldFault } from '../base/errors.ts';
import {
  OBJECT_KINDS,
  PLACE_TYPES,
  type PlaceType,
  PRINCIPAL_TYPES,
  type PrincipalType,
} from '../changes/object-kinds.ts';

/** An assignment in a file of roles. Fields that are left out stay as they are. */
export interface AssignmentEntry {
  readonly role: string;
  readonly to: { readonly type: PrincipalType; readonly name: string };
  /** Undefined means the organization. Contracts of the same name are told apart by their ID. */
  readonly on: { readonly type: PlaceType; readonly name: string; readonly id?: bigint } | undefined;
  /** The only namespaces of a cluster or a set in which it counts, each once and in order. Undefined: in all of it. */
  readonly namespaces?: readonly string[] | undefined;
  /** Null for never. */
  readonly expiresAt?: string | null | undefined;
  readonly reason?: string | undefined;
}

type Fault = (field: string, message: string) => void;
type Fields = Readonly<Record<string, unknown>>;

const KEYS = ['role', 'to', 'on', 'namespaces', 'expires_at', 'reason'];
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const MAX_REASON = 1000;
const MAX_SET_NAME = 255;
const PRINCIPALS = wordsOf(PRINCIPAL_TYPES);
const PLACES = wordsOf(PLACE_TYPES);

/** What files call a type: `robot` for `robot_ac`. */
function wordsOf<Type extends PrincipalType | PlaceType>(types: readonly Type[]): ReadonlyMap<string, Type> {
  return new Map(types.map((type) => [OBJECT_KINDS[type].word, type]));
}

export function isDateTime(value: unknown): value is string {
  return typeof value === 'string' && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value));
}

/** Undefined if something is wrong with it, which `fault` is told. */
export function readAssignmentEntry(
  given: unknown,
  path: string,
  organization: string,
  fault: Fault,
): AssignmentEntry | undefined {
  const fields = fieldsOf(given);
  if (!fields) {
    fault(path, 'must be an assignment with role and to');
    return undefined;
  }
  for (const key of Object.keys(fields)) {
    if (!KEYS.includes(key))
      fault(`${path}.${key.slice(0, 100)}`, `is not a known field; known fields are ${KEYS.join(', ')}`);
  }
  const { role, expires_at: end, reason } = fields;
  if (typeof role !== 'string') fault(`${path}.role`, role === undefined ? 'is required' : 'must be a string');
  const to = one(fields.to, `${path}.to`, PRINCIPALS);
  const on = readOn();
  const namespaces = readNamespaces();
  if (end !== undefined && end !== null && !isDateTime(end)) fault(`${path}.expires_at`, 'must be a date-time or null');
  if (reason !== undefined && reason !== null && typeof reason !== 'string') {
    fault(`${path}.reason`, 'must be a string');
  } else if ([...(reason ?? '')].length > MAX_REASON) {
    fault(`${path}.reason`, `must have at most ${MAX_REASON} characters`);
  }
  if (typeof role !== 'string' || !to || typeof to.value !== 'string' || on === 'wrong') return undefined;
  if (namespaces && on?.type !== 'cluster' && on?.type !== 'cluster_set') {
    fault(`${path}.namespaces`, 'are for assignments on a cluster or a cluster_set');
    return undefined;
  }
  if (to.type === 'team' && on === undefined) {
    fault(`${path}.on`, 'is required for a team; a team that has the role in the whole organization is in its teams');
    return undefined;
  }
  return {
    ...{ role, on, namespaces, to: { type: to.type, name: to.value } },
    ...{ expiresAt: end as string | null | undefined, reason: (reason ?? undefined) as string | undefined },
  };

  /** Nothing must become the whole organization by accident, so a null is an error. */
  function readOn(): AssignmentEntry['on'] | 'wrong' {
    if (fields?.on === undefined) return undefined;
    const place = one(fields.on, `${path}.on`, PLACES, 'contract');
    if (!place) return 'wrong';
    const { type, value } = place;
    if (typeof value !== 'string') return { type, name: '', id: value };
    if (type === 'cluster_set' && [...value].length > MAX_SET_NAME) {
      fault(`${path}.on.cluster_set`, `must have at most ${MAX_SET_NAME} characters`);
      return 'wrong';
    }
    if (type !== 'organization') return { type, name: value };
    if (value.toLowerCase() === organization.toLowerCase()) return undefined;
    fault(`${path}.on.organization`, 'must be the organization of the document');
    return 'wrong';
  }

  /** As with `on`, a null is an error: nothing must become the whole cluster by accident. */
  function readNamespaces(): readonly string[] | undefined {
    const given = fields?.namespaces;
    if (given === undefined) return undefined;
    const isList = Array.isArray(given) && given.every((item) => typeof item === 'string');
    const wrong = isList ? faultInNamespaces(given) : 'must be a list of strings';
    if (wrong) fault(`${path}.namespaces`, wrong);
    return isList ? [...new Set<string>(given)].sort() : [];
  }

  /** `{user: dan}`: one type and a name. An object of the type `byId` can also be named by its ID, as a number. */
  function one<Type extends string>(value: unknown, where: string, types: ReadonlyMap<string, Type>, byId?: Type) {
    const named = fieldsOf(value);
    const [key = '', another] = Object.keys(named ?? {});
    const type = types.get(key);
    if (!named || type === undefined || another !== undefined) {
      const words = [...types.keys()].join(', ');
      fault(where, `${value === undefined ? 'is required: it ' : ''}must have one of ${words}, and a name`);
      return undefined;
    }
    const name = named[key];
    if (typeof name === 'string' && name !== '') return { type, value: name };
    if (type === byId && typeof name === 'number' && Number.isSafeInteger(name) && name > 0) {
      return { type, value: BigInt(name) };
    }
    fault(`${where}.${key}`, 'must be a name');
    return undefined;
  }
}

/** What an assignment is for people, such as `cluster-operator to user cat on cluster prod in web, shop-*`. */
export function assignmentWords(
  role: string,
  to: { readonly type: PrincipalType; readonly name: string },
  on: { readonly type: PlaceType; readonly name: string; readonly namespaces?: readonly string[] | null },
): string {
  const where = on.type === 'organization' ? 'the organization' : `${titleOf(on.type)} ${on.name}`;
  return `${role} to ${titleOf(to.type)} ${to.name} on ${where}${namespaceWords(on)}`;
}

export function namespaceWords({ namespaces }: { readonly namespaces?: readonly string[] | null }): string {
  return namespaces ? ` in ${namespaces.join(', ')}` : '';
}

export function titleOf(type: PrincipalType | PlaceType): string {
  return OBJECT_KINDS[type].word.replaceAll('_', ' ');
}

/** An entry as the document has it. */
export function writtenEntry({ role, to, on, namespaces, expiresAt, reason }: AssignmentEntry) {
  return {
    role,
    to: { [OBJECT_KINDS[to.type].word]: to.name },
    ...(on && { on: { [OBJECT_KINDS[on.type].word]: on.id === undefined ? on.name : Number(on.id) } }),
    ...(namespaces && { namespaces }),
    ...(expiresAt && { expires_at: expiresAt }),
    ...(reason && { reason }),
  };
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

export function placeOfFault(place: number, field: string, message: string): FieldFault {
  return { field: `assignments[${place}].${field}`, message: `assignments[${place}].${field}: ${message}` };
}
