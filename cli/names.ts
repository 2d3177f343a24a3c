import { OBJECT_KINDS } from '../client/object-kinds.gen.ts';
import {
  ADDRESSED_TYPES,
  type AddressedType,
  NAMED_TYPES,
  type NamedWord,
  titleOf,
  typeNamed,
  wordOf,
} from '../client/object-kinds.ts';
import { misuse, rejected } from './failure.ts';
import type { Session } from './session.ts';
import { didYouMean } from './suggest.ts';

export interface Named {
  readonly id: bigint;
  readonly name: string;
}

/** The types of resources that have a name within an organization. */
export const RESOURCE_KINDS = NAMED_TYPES.map(wordOf) as NamedWord[];
/** The types on which permissions can be queried. Roles have names too, but callers hold no relations on them. */
export const OBJECT_WORDS: readonly string[] = ['organization', ...ADDRESSED_TYPES.map(wordOf)];
const NAMED_WORDS: readonly string[] = [...new Set([...OBJECT_WORDS, ...RESOURCE_KINDS])];

/** `robots` of `robot`. */
const PLURALS = Object.fromEntries(
  ADDRESSED_TYPES.map((type) => [OBJECT_KINDS[type].word, OBJECT_KINDS[type].plural]),
) as Readonly<Record<Exclude<NamedWord, 'role'>, (typeof OBJECT_KINDS)[AddressedType]['plural']>>;

const MAX_ID = 2n ** 63n - 1n;

/** All resources of a kind in the organization. */
export async function listResources(session: Session, kind: NamedWord): Promise<readonly Named[]> {
  const client = session.client();
  if (kind === 'cluster' && session.orgIfAny() === undefined) {
    return await client.call('GET /user/clusters', { query: { all: 'true' } });
  }
  const org = session.org();
  if (kind === 'role') return await client.call('GET /authz/roles', { query: { org } });
  const lists: AsyncIterable<Named> = client.each(`GET /orgs/{org}/${PLURALS[kind]}`, { path: { org } });
  return await all(lists);
}

/** The ID of the resource with that name. A word of digits is an ID itself and needs no lookup. */
export async function idOf(session: Session, kind: NamedWord, text: string, at?: string): Promise<bigint> {
  return (await findResource(session, kind, text, at)).id;
}

/** The resource with that name or ID. A role can also be found by the name that it had at a past moment. */
export async function findResource(session: Session, kind: NamedWord, text: string, at?: string): Promise<Named> {
  if (/^\d+$/.test(text)) return { id: readId(text), name: text };
  const found =
    kind === 'role' && at !== undefined
      ? await session.client().call('GET /authz/roles', { query: { org: session.org(), at } })
      : await narrowed(session, kind, text);
  const exact = found.filter(({ name }) => name === text);
  const similar = found.filter(({ name }) => name.toLowerCase() === text.toLowerCase());
  const matches = exact.length > 0 ? exact : similar;
  const [one, another] = matches;
  if (one && !another) return one;
  if (one && another) {
    const ids = matches.map(({ id }) => id).join(', ');
    throw rejected(
      `more than one ${titleOf(typeOf(kind))} is named ${JSON.stringify(text)}; use an ID instead: ${ids}`,
    );
  }
  const names = (await listResources(session, kind)).map(({ name }) => name);
  const where = session.orgIfAny() === undefined ? ' that you can see' : ` in ${session.org()}`;
  throw rejected(
    `there is no ${titleOf(typeOf(kind))} named ${JSON.stringify(text)}${where}${didYouMean(text, names)}`,
  );
}

/** The names of resources, for people. One that the caller may not list is shown by its ID, such as `team 7`. */
export async function namesById(session: Session, kind: NamedWord, ids: readonly bigint[]): Promise<string[]> {
  const isForPeople = session.format === 'text' || session.format === 'wide';
  const known = ids.length === 0 || !isForPeople ? [] : await listResources(session, kind).catch(() => []);
  const names = new Map(known.map(({ id, name }) => [id, name]));
  return ids.map((id) => names.get(id) ?? `${titleOf(typeOf(kind))} ${id}`);
}

/** The server searches clusters by name, because there may be thousands of them. */
async function narrowed(session: Session, kind: NamedWord, name: string): Promise<readonly Named[]> {
  if (kind !== 'cluster' || session.orgIfAny() === undefined) return await listResources(session, kind);
  const client = session.client();
  return await all(client.each('GET /orgs/{org}/clusters', { path: { org: session.org() }, query: { name } }));
}

export function readId(text: string): bigint {
  const id = /^\d{1,19}$/.test(text) ? BigInt(text) : 0n;
  if (id < 1n || id > MAX_ID)
    throw misuse(`${JSON.stringify(text.slice(0, 40))} is not an ID; an ID is a whole number, 1 or greater`);
  return id;
}

export interface ObjectRef {
  readonly type: string;
  readonly id: bigint;
  /** The name shown to the user. */
  readonly name: string;
  readonly org: string;
}

/** The type that a word names, as the server calls it: `robot` or `org`. Any other word stays as it is. */
export function typeOf(word: string): string {
  return word === 'org' ? 'organization' : typeNamed(word);
}

/** `cluster:prod`, `team:7`, `org:acme`: an object of the authorization model, by name or ID. */
export async function findObject(
  session: Session,
  text: string,
  words: readonly string[] = OBJECT_WORDS,
): Promise<ObjectRef> {
  const colon = text.indexOf(':');
  if (colon < 1 || colon === text.length - 1) {
    throw misuse(`${JSON.stringify(text)} is not an object; use a type and a name, such as cluster:prod`);
  }
  const typed = text.slice(0, colon).toLowerCase();
  const name = text.slice(colon + 1);
  const type = typeOf(typed);
  const kind = wordOf(type);
  if (!words.includes(kind)) {
    const hint = didYouMean(typed, words);
    const problem = words === NAMED_WORDS ? 'names cannot be looked up for' : 'permissions cannot be queried on';
    throw misuse(`${problem} ${JSON.stringify(typed)}${hint}; use one of ${words.join(', ')}`);
  }
  if (type === 'organization') return await findOrganization(session, name);
  const found = await findResource(session, kind as NamedWord, name);
  return { type, id: found.id, name: found.name, org: session.org() };
}

/** The form that the audit log uses: type and ID. A type alone, an ID, and objects without names stay as they are. */
export async function objectByType(session: Session, text: string): Promise<string> {
  const [typed = '', name] = text.split(/:(.*)/s);
  const type = typeOf(typed);
  if (name === undefined || name === '' || /^\d+$/.test(name)) return text.replace(typed, type);
  const found = await findObject(session, text, NAMED_WORDS);
  return `${found.type}:${found.id}`;
}

async function findOrganization(session: Session, name: string): Promise<ObjectRef> {
  if (/^\d+$/.test(name)) return { type: 'organization', id: readId(name), name, org: session.org() };
  const { id, username } = await session.client().call('GET /orgs/{org}', { path: { org: name } });
  return { type: 'organization', id, name: username, org: username };
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  return await Array.fromAsync(items);
}
