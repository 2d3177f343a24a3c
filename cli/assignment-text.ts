import type { Answer } from '../client/client.ts';
import { PLACE_TYPES, PRINCIPAL_TYPES } from '../client/object-kinds.gen.ts';
import { wordOf } from '../client/object-kinds.ts';
import { misuse } from './failure.ts';
import { readId, typeOf } from './names.ts';
import { didYouMean } from './suggest.ts';

export type Assignment = Answer<'GET /authz/assignments/{id}'>;

/** To whom a role can be assigned, and on what, as commands call them. */
export const PRINCIPAL_WORDS: readonly string[] = PRINCIPAL_TYPES.map(wordOf);
export const PLACE_WORDS: readonly string[] = PLACE_TYPES.map(wordOf);

/** An object in the body of a request. The server looks names up. */
export interface Reference {
  readonly type: string;
  readonly id?: bigint;
  readonly name?: string;
}

/** `user:dan`, `team:7` or `robot:deploy`. */
export function readPrincipal(text: string): Reference {
  const { type, rest } = split(text, PRINCIPAL_WORDS, 'the option --to', 'user:dan');
  return { type, ...nameOrId(rest, text, 'user:dan') };
}

/** `cluster:prod`, `cluster_set:eu`, or `organization`, which needs no name. Undefined means the organization. */
export function readPlace(text: string): Reference | undefined {
  const { type, rest } = split(text, PLACE_WORDS, 'the option --on', 'cluster:prod');
  if (type === 'organization' && rest === undefined) return undefined;
  // A set of clusters has no ID, so its name may be digits.
  if (type === 'cluster_set' && rest) return { type, name: rest };
  return { type, ...nameOrId(rest, text, 'cluster:prod') };
}

/** The same as filters of the list take them. */
export function filterText({ type, id, name }: Reference): string {
  return `${type}:${id ?? name}`;
}

export const ORGANIZATION = 'organization';

/** A role in the body of a request, by name or ID. */
export function readRole(text: string): { readonly id: bigint } | { readonly name: string } {
  return /^\d+$/.test(text) ? { id: readId(text) } : { name: text };
}

function split(text: string, words: readonly string[], where: string, example: string) {
  const [typed = '', rest] = text.split(/:(.*)/s);
  const type = typeOf(typed.toLowerCase().replaceAll('-', '_'));
  if (words.includes(wordOf(type))) return { type, rest };
  const hint = didYouMean(typed, words);
  throw misuse(
    `${JSON.stringify(text)} is not for ${where}${hint}; use one of ${words.join(', ')}, and a name, such as ${example}`,
  );
}

function nameOrId(rest: string | undefined, text: string, example: string) {
  if (!rest) throw misuse(`${JSON.stringify(text)} has no name; use a type and a name, such as ${example}`);
  return /^\d+$/.test(rest) ? { id: readId(rest) } : { name: rest };
}

interface Shown {
  readonly type: string;
  readonly name: string;
}

/** `user:dan`, as it is typed. */
export function principalText({ type, name }: Shown): string {
  return `${wordOf(type)}:${name}`;
}

/** `cluster:prod`, as it is typed. The organization is the usual place, and which one it is, is known. */
export function placeText({ type, name }: Shown): string {
  return type === ORGANIZATION ? ORGANIZATION : `${wordOf(type)}:${name}`;
}

/** `cluster-operator to user:dan on cluster:prod` */
export function assignmentText({ role, to, on }: Pick<Assignment, 'role' | 'to' | 'on'>): string {
  return `${role.name} to ${principalText(to)} on ${placeText(on)}`;
}
