import { faultInNamespaces } from '../authz/places/namespaces.ts';
import { AppError, invalidField } from '../base/errors.ts';
import {
  PLACE_TYPES,
  type PlaceType,
  PRINCIPAL_TYPES,
  type PrincipalType,
  RESOURCE_TYPES,
} from '../changes/object-kinds.ts';
import type { Assignment, AssignmentChange, AssignmentInput, Reference } from './assignment.ts';

const MAX_REASON = 1000;
const MAX_SET_NAME = 255;
const MAX_ID = 2n ** 63n - 1n;
/** Names of the others are the same in lower and upper case. */
const EXACT_NAMES: ReadonlySet<string> = new Set(RESOURCE_TYPES);

/** What is wrong with an assignment, whatever there is in the organization. */
export function checkAssignmentInput(input: AssignmentInput): AssignmentInput {
  return {
    role: readRole(input.role),
    to: readTo(input.to),
    on: input.on && readOn(input.on),
    namespaces: readNamespaces(input.namespaces, input.on?.type),
    reason: readReason(input.reason),
    expiresAt: input.expiresAt,
  };
}

/** To whom: by ID or by name. Robots are of the type `robot_ac`, also called `robot`. */
function readTo(reference: Reference<string>): Reference<PrincipalType> {
  const type = typeOf(reference.type, PRINCIPAL_TYPES);
  if (!type) throw invalidField('to', 'to must be a user, a team or a robot_ac');
  requireNamed('to', reference);
  return { ...reference, type };
}

/**
 * On what. A set of clusters has a name and no ID. What a role cannot be assigned on is not found, so its type is left
 * as it is.
 */
function readOn(reference: Reference<string>): Reference<string> {
  const type = typeOf(reference.type, PLACE_TYPES);
  if (type === 'cluster_set') {
    const length = [...(reference.name ?? '')].length;
    if (reference.id !== undefined || length < 1 || length > MAX_SET_NAME) {
      throw invalidField('on', `on must have the name of the set, with 1 to ${MAX_SET_NAME} characters, and no ID`);
    }
  }
  requireNamed('on', reference);
  return type ? { ...reference, type } : reference;
}

/** Each once, in the order in which they were given. */
function readNamespaces(given: readonly string[] | undefined, type = 'organization'): readonly string[] | undefined {
  if (given === undefined) return undefined;
  if (type !== 'cluster' && type !== 'cluster_set') {
    throw invalidField('namespaces', 'namespaces are for assignments on a cluster or a cluster_set');
  }
  const fault = faultInNamespaces(given);
  if (fault) throw invalidField('namespaces', `namespaces ${fault}`);
  return [...new Set(given)];
}

function requireNamed(
  field: string,
  { id, name }: { readonly id?: bigint | undefined; readonly name?: string | undefined },
) {
  if (id === undefined && name === undefined) throw invalidField(field, `${field} must have an id or a name`);
}

function readRole(reference: { readonly id?: bigint | undefined; readonly name?: string | undefined }) {
  requireNamed('role', reference);
  return reference;
}

export function readReason(text: string | undefined): string | undefined {
  if (text !== undefined && [...text].length > MAX_REASON) {
    throw invalidField('reason', `reason must have at most ${MAX_REASON} characters`);
  }
  return text;
}

/** What an object is called must agree with its ID, if both are given. */
export function requireAgreement(
  field: string,
  reference: { readonly type?: string; readonly id?: bigint | undefined; readonly name?: string | undefined },
  found: { readonly id: bigint | undefined; readonly name: string },
): void {
  const { type = '', id, name } = reference;
  if (id === undefined || name === undefined) return;
  const isSame = EXACT_NAMES.has(type) ? found.name === name : found.name.toLowerCase() === name.toLowerCase();
  if (found.id !== id || !isSame) throw invalidField(field, `${field} has an id and a name of two`);
}

/** A change may repeat what cannot be changed. */
export function requireSame({ role, to, on }: Assignment, change: AssignmentChange): void {
  if (change.role && !matches(change.role, role)) throw fixed('role');
  if (change.to && !(typeOf(change.to.type, PRINCIPAL_TYPES) === to.type && matches(change.to, to))) throw fixed('to');
  if (change.namespaces && !isSameList(change.namespaces, on.namespaces ?? [])) throw fixed('namespaces');
  if (!change.on) return;
  const place = on.type === 'cluster_set' ? { id: undefined, name: on.name } : on;
  if (!(typeOf(change.on.type, PLACE_TYPES) === on.type && matches(change.on, place))) throw fixed('on');
}

/** In any order. An empty list is none. */
function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length > 0 && new Set(one).symmetricDifference(new Set(other)).size === 0;
}

function matches(
  { id, name }: { readonly id?: bigint | undefined; readonly name?: string | undefined },
  present: { readonly id: bigint | undefined; readonly name: string },
): boolean {
  if (id === undefined && name === undefined) return false;
  return (id === undefined || id === present.id) && (name === undefined || name === present.name);
}

function fixed(field: string): AppError {
  return invalidField(field, `${field} cannot be changed: assign the role anew`);
}

/** `user:5` or `user:dan`. Digits are an ID, otherwise it is a name. */
export function readFilter<Type extends PrincipalType | PlaceType>(
  field: string,
  text: string | undefined,
  types: readonly Type[],
): Reference<Type> | undefined {
  if (text === undefined) return undefined;
  const [, word = '', rest] = /^(\w+)(?::(.+))?$/s.exec(text) ?? [];
  const type = typeOf(word, types);
  if (!type || (rest === undefined && type !== 'organization')) {
    throw new AppError('invalid', `${field} must be a type and an ID or name, such as ${types[0]}:5`);
  }
  if (rest === undefined) return { type };
  return { type, ...(type === 'cluster_set' ? { name: rest } : readNameOrId(rest)) };
}

export function readNameOrId(text: string): { readonly id?: bigint; readonly name?: string } {
  if (!/^[0-9]+$/.test(text)) return { name: text };
  const id = BigInt(text);
  // No such object can exist.
  return { id: id > MAX_ID ? 0n : id };
}

export const FILTERS = { to: PRINCIPAL_TYPES, on: PLACE_TYPES } as const;

function typeOf<Type extends string>(word: string, types: readonly Type[]): Type | undefined {
  const name = word === 'robot' ? 'robot_ac' : word;
  return types.find((type) => type === name);
}
