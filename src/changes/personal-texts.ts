import { createHash, randomBytes } from 'node:crypto';
import type { AuditEntry } from './audit-entry.ts';

/**
 * What identifies a person in entries of the audit log.
 *
 * 1. An entry contains `sha256:` and the hash of a random salt and the text, instead of the text. The hash of the entry
 *    covers that, so it stays valid when the salt and the text are gone.
 * 2. Names, addresses, and what people write about themselves are such texts; IDs never are. So questions about the past
 *    need none of them.
 * 3. Whom a text identifies is told by the ID next to it. Where there is none, such as the address of an invitation, it
 *    is found by the text itself when the person is erased.
 */
export interface PersonalText {
  readonly organizationId: bigint;
  readonly commitment: Buffer;
  /** UNKNOWN if there is only the text. */
  readonly accountId: bigint;
  readonly salt: Buffer;
  readonly text: string;
}

export const UNKNOWN = 0n;
const SALT_BYTES = 16;
const MARK = 'sha256:';
const COMMITTED = /sha256:([0-9a-f]{64})/g;

/** What a user is called, wherever it is. */
const NAMING = new Set(['username', 'userName', 'fullName', 'displayName', 'login', 'email', 'address', 'invitedBy']);
/** What an entry about a user tells about them. */
const ABOUT_USERS = new Set(['name', 'description', 'website', 'location', 'externalId', 'subject']);
/** Strings below these keys are names of users. */
const LISTS = new Set(['reviewers', 'users']);

type Fields = Readonly<Record<string, unknown>>;
type When = 'before' | 'after';

export interface CommittedEntry {
  readonly entry: AuditEntry;
  readonly texts: readonly PersonalText[];
}

/** What of an entry is searched for texts that identify people. */
export type Identifying = Pick<
  AuditEntry,
  'actor' | 'objectType' | 'objectId' | 'organizationId' | 'before' | 'after'
> & {
  readonly action: string;
};

export function commitTexts(entry: AuditEntry): CommittedEntry {
  const texts = new Map<string, PersonalText>();
  const commit = (accountId: bigint, text: string): string => {
    if (text === '' || accountId < 0n) return text;
    const key = `${accountId} ${text}`;
    const known = texts.get(key) ?? newText(entry.organizationId, accountId, text);
    texts.set(key, known);
    return `${MARK}${known.commitment.toString('hex')}`;
  };
  return { entry: replaceTexts(entry, commit), texts: [...texts.values()] };
}

/** Whose text it is, if that person is to be erased. The ID is UNKNOWN if there is only the text. */
export type Whose = (accountId: bigint, text: string) => bigint | undefined;

export interface ErasedTexts<Entry> {
  readonly entry: Entry;
  readonly people: ReadonlySet<bigint>;
}

/**
 * An entry of an earlier release, which has the texts themselves, without those of some people. Undefined if it has none
 * of theirs.
 */
export function eraseTexts<Entry extends Identifying>(entry: Entry, whose: Whose): ErasedTexts<Entry> | undefined {
  const people = new Set<bigint>();
  const replaced = replaceTexts(entry, (accountId, text) => {
    if (text === '' || text.startsWith(MARK)) return text;
    const id = whose(accountId, text);
    if (id === undefined) return text;
    const erased = shownText({ accountId: id, salt: null, text: null });
    if (text !== erased) people.add(id);
    return erased;
  });
  return people.size === 0 ? undefined : { entry: replaced, people };
}

function replaceTexts<Entry extends Identifying>(entry: Entry, commit: Commit): Entry {
  const { actor, before, after } = entry;
  const named = <Person extends { readonly id: bigint; readonly name: string }>(person: Person): Person =>
    person.id > 0n ? { ...person, name: commit(person.id, person.name) } : person;
  const inside = createStates(entry, commit);
  return {
    ...entry,
    actor: { ...named(actor), ...(actor.sudoBy && { sudoBy: named(actor.sudoBy) }) },
    ...(before && { before: inside(before, 'before') }),
    ...(after && { after: inside(after, 'after') }),
  };
}

function createStates({ actor, action, objectType, objectId, organizationId }: Identifying, commit: Commit) {
  const isAboutUser = objectType === 'user' && objectId > 0n;
  const isOwn = organizationId === actor.id && actor.id > 0n;
  const subject = isAboutUser ? objectId : isOwn ? actor.id : UNKNOWN;
  const isDenied = action === 'access.denied';
  const isOfHolder = isAboutUser || action.startsWith('factor.') || action.startsWith('linked_account.');
  const holder = isAboutUser || isOwn ? subject : organizationId;
  return (state: object, when: When) => within(state as Fields, when, undefined, true);

  function within(fields: Fields, when: When, list: string | undefined, isTop: boolean): object {
    const person = personIn(fields);
    const entries = Object.entries(fields).map(([key, value]) => {
      if (typeof value === 'string') return [key, named(key, value)];
      return [key, further(value, when, LISTS.has(key) || (isDenied && key === 'path') ? key : list)];
    });
    return Object.fromEntries(entries);

    function named(key: string, value: string): string {
      if (isDenied && (key === 'sudo' || list === 'path')) return isNameIn(key) ? commit(UNKNOWN, value) : value;
      if (person?.key === key) return commit(person.id, value);
      if (NAMING.has(key)) return commit(person?.id ?? subject, value);
      if (isTop && isOfHolder && ABOUT_USERS.has(key)) return commit(holder, value);
      if (key === 'comment' && isTop) return commit(when === 'after' ? writer() : UNKNOWN, value);
      if (key === 'reason' && isTop && !isAboutUser) {
        return commit(idOf(fields.by, 'user') ?? (when === 'after' ? writer() : UNKNOWN), value);
      }
      return value;
    }
  }

  function further(value: unknown, when: When, list: string | undefined): unknown {
    if (typeof value === 'string' && list !== undefined && list !== 'path') return commit(UNKNOWN, value);
    if (Array.isArray(value)) return value.map((one: unknown) => further(one, when, list));
    return isFields(value) ? within(value, when, list, false) : value;
  }

  /** A robot and the server identify no person. */
  function writer(): bigint {
    const { id } = actor.sudoBy ?? actor;
    return id > 0n ? id : -1n;
  }
}

type Commit = (accountId: bigint, text: string) => string;

/** The object of an entry is often an organization, whose name is not that of a person. */
function isNameIn(key: string): boolean {
  return key === 'sudo' || /user|member|name|login|email/i.test(key);
}

/** `{type: 'user', id, name}`, or `{userId, username}`. */
function personIn(fields: Fields): { readonly id: bigint; readonly key: string } | undefined {
  const id = idOf(fields, 'user');
  if (id !== undefined) return { id, key: 'name' };
  const userId = numberOf(fields.userId);
  return userId === undefined ? undefined : { id: userId, key: 'username' };
}

function idOf(value: unknown, type: string): bigint | undefined {
  return isFields(value) && value.type === type ? numberOf(value.id) : undefined;
}

function numberOf(value: unknown): bigint | undefined {
  if (typeof value !== 'bigint' && !(typeof value === 'number' || typeof value === 'string')) return undefined;
  return /^\d{1,19}$/.test(String(value)) ? BigInt(value) : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function newText(organizationId: bigint, accountId: bigint, text: string): PersonalText {
  const salt = randomBytes(SALT_BYTES);
  return { organizationId, commitment: commitmentOf(salt, text), accountId, salt, text };
}

export function commitmentOf(salt: Buffer, text: string): Buffer {
  return createHash('sha256').update(salt).update(text, 'utf8').digest();
}

/** The hashes in an element of an entry that may be those of personal texts. */
export function commitmentsIn(text: string | null): string[] {
  return text === null ? [] : Array.from(text.matchAll(COMMITTED), ([, hash = '']) => hash);
}

/** A text of an entry that is shown, or that it is gone. */
export interface KnownText {
  readonly accountId: bigint;
  readonly salt: Buffer | null;
  readonly text: string | null;
}

export function shownText({ accountId, text }: KnownText): string {
  return text ?? `erased user ${accountId}`;
}

/** By their hash in hexadecimal. */
export type KnownTexts = ReadonlyMap<string, KnownText>;

/** The name of an actor, as it is shown. */
export function revealName(name: string, texts: KnownTexts): string {
  const known = name.startsWith(MARK) ? texts.get(name.slice(MARK.length)) : undefined;
  return known ? shownText(known) : name;
}

/** A state as it is shown: its JSON with the texts in place of their hashes. */
export function revealState(state: string, texts: KnownTexts): string {
  return state.replace(/"sha256:([0-9a-f]{64})"/g, (whole, hash: string) => {
    const known = texts.get(hash);
    return known ? JSON.stringify(shownText(known)) : whole;
  });
}
