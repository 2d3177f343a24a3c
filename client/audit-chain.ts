/**
 * Recomputes the hashes of an exported audit log, as the documentation of `AuditEntry.hash` describes them. It trusts
 * nothing but the lines, and takes what is hashed from their text: a number beyond 2^53 or an unusual escape would not
 * survive being parsed.
 */

export interface ChainResult {
  readonly entries: number;
  /** The ID of the first entry that does not follow from the one before it. */
  readonly firstBroken: string | undefined;
  /** Of the last entry. Whoever kept it elsewhere notices if the end of the log is cut off. */
  readonly lastHash: string | undefined;
  /** From how many entries a person was erased: their hashes cover texts that are gone. */
  readonly erased: number;
  /** The ID of the first one that nothing attests, which is broken, too. */
  readonly firstUnattested: string | undefined;
  /** Whether there is another reason why an entry is broken. */
  readonly isChanged: boolean;
}

interface Entry {
  readonly id: string;
  readonly previousHash: string;
  readonly hash: string;
  /** The JSON array that is hashed after the bytes of the previous hash. */
  readonly content: string;
  /** What is shown follows from what is hashed and these texts. */
  readonly isShownAsHashed: boolean;
  /** If a person was erased from it. */
  readonly erased: Omit<ErasedEntry, 'left'> | undefined;
  readonly texts: readonly PersonalText[];
}

/** An entry from which a person was erased. */
export interface ErasedEntry {
  readonly organization: string;
  readonly id: string;
  readonly hash: string;
  /** The hash of what is left of it. */
  readonly left: string;
  /** In base64, that the deployment's log attests it. */
  readonly signature: string | undefined;
}

/** Whether it is attested that a person was erased from the entry. */
export type Attests = (entry: ErasedEntry) => boolean | Promise<boolean>;

/** A text that identifies a person, and the salt that it was hashed with. Neither is left of a person who is erased. */
interface PersonalText {
  readonly hash: string;
  readonly salt: string;
  readonly text: string;
}

const START = '0'.repeat(64);
/** Hashed at the same time, because the browser hashes elsewhere and answering takes longer than hashing. */
const BATCH = 250;

/**
 * Hashes every line. `tell` is called now and then with the number of entries so far. What the first entry follows from
 * is told by `start`, if what comes before it is elsewhere; what is attested to be erased, by `attests`.
 */
export async function checkChain(
  lines: AsyncIterable<string> | Iterable<string>,
  tell: (entries: number) => void = () => undefined,
  start: string = START,
  attests: Attests = () => false,
): Promise<ChainResult> {
  let entries = 0;
  let previous: Entry | undefined;
  let isInOrder = true;
  const unlinked: string[] = [];
  const changed: string[] = [];
  const unattested: string[] = [];
  let erased = 0;
  for await (const batch of batches(lines)) {
    const read = batch.map(readEntry);
    const hashes = await Promise.all(read.map(hashOf));
    const tellTheTruth = await Promise.all(read.map(({ texts }) => areTrue(texts)));
    for (const [place, entry] of read.entries()) {
      const isTrue = entry.isShownAsHashed && tellTheTruth[place];
      if (entry.erased !== undefined) {
        erased++;
        if (!(await attests({ ...entry.erased, left: hashes[place] ?? '' }))) unattested.push(entry.id);
      } else if (hashes[place] !== entry.hash || !isTrue) changed.push(entry.id);
      if (entry.previousHash !== (previous?.hash ?? start)) unlinked.push(entry.id);
      if (previous && BigInt(entry.id) <= BigInt(previous.id)) isInOrder = false;
      previous = entry;
    }
    entries += read.length;
    tell(entries);
  }
  // Lines come in the order of their times. A forged time moves an entry, and its neighbors then look broken too.
  const broken = isInOrder || changed.length === 0 ? [...changed, ...unlinked] : changed;
  return {
    ...{ entries, firstBroken: lowest([...broken, ...unattested]), lastHash: previous?.hash },
    ...{ erased, firstUnattested: lowest(unattested), isChanged: broken.length > 0 },
  };
}

/**
 * What entries `user.erase` of the deployment's log attest: other lines may be among these. A changed one attests
 * nothing. Whether it belongs to that log, only the check of that log tells.
 */
export async function attestationsIn(lines: Iterable<string>): Promise<Attests> {
  const found = new Set<string>();
  for (const line of lines) {
    if (!isAttesting(line)) continue;
    const entry = readEntry(line);
    if (entry.erased !== undefined || !entry.isShownAsHashed || (await hashOf(entry)) !== entry.hash) continue;
    const told = JSON.parse(line) as { action: string; after: { entries?: readonly Attestation[] } | null };
    const entries = told.action === 'user.erase' ? (told.after?.entries ?? []) : [];
    for (const { organizationId, id, hash } of entries) found.add(`${organizationId} ${id} ${hash}`);
  }
  return ({ organization, id, hash }) => found.has(`${organization} ${id} ${hash}`);
}

/**
 * What is signed with one of these keys, such as `whpk_…`: those with the use `audit` that the deployment publishes.
 * Nothing, where Ed25519 is unknown.
 */
export async function attestationsBy(keys: readonly string[]): Promise<Attests> {
  const imported = await Promise.allSettled(
    keys.map(
      async (key) =>
        await crypto.subtle.importKey('raw', bytesIn(key.replace(/^whpk_/, '')), 'Ed25519', false, ['verify']),
    ),
  );
  const known = imported.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  return async ({ organization, id, hash, left, signature }) => {
    if (signature === undefined) return false;
    const text = new TextEncoder().encode(JSON.stringify(['erased entry', organization, id, hash, left]));
    const given = bytesIn(signature);
    for (const key of known) if (await crypto.subtle.verify('Ed25519', key, given, text)) return true;
    return false;
  };
}

/** None if it is not base64. */
function bytesIn(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

interface Attestation {
  readonly organizationId: string;
  readonly id: string;
  readonly hash: string;
}

/** Whether it may be an entry that attests something: `attestationsIn` looks closer. */
export function isAttesting(line: string): boolean {
  return /^\{"id":\d+,"at":"[^"]*","organization_id":0,.*"action":"user\.erase"/.test(line);
}

async function* batches(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const line of lines) {
    if (line === '') continue;
    batch.push(line);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function lowest(ids: readonly string[]): string | undefined {
  return ids.reduce<string | undefined>(
    (least, id) => (least === undefined || BigInt(id) < BigInt(least) ? id : least),
    undefined,
  );
}

function readEntry(line: string): Entry {
  const entry = membersOf(line);
  const raw = (name: string) => required(entry, name);
  const [actor, object] = [membersOf(raw('actor')), membersOf(raw('object'))];
  const other = entry.get('on_behalf_of');
  const behalf = other === undefined ? undefined : membersOf(other);
  const type = actor.get('type');
  const via = entry.get('via');
  const previousHash = textIn(raw('previous_hash'));
  const covered = membersOf(entry.get('hashed') ?? '{}');
  const texts = textsIn(entry.get('texts') ?? '[]');
  const shown = new Map<string, string>();
  const cover = (name: string, raw: string) => {
    const instead = covered.get(name);
    if (instead !== undefined) shown.set(raw, instead);
    return instead ?? raw;
  };
  const hashed = [
    textIn(raw('at')),
    raw('organization_id'),
    required(actor, 'id'),
    textIn(cover('actor', required(actor, 'name'))),
    textIn(raw('action')),
    textIn(required(object, 'type')),
    required(object, 'id'),
    stateIn(cover('before', raw('before'))),
    stateIn(cover('after', raw('after'))),
    textIn(raw('request_id')),
    previousHash,
    ...(behalf ? [required(behalf, 'id'), textIn(cover('on_behalf_of', required(behalf, 'name')))] : []),
    ...(type === undefined ? [] : [textIn(type)]),
    ...(via === undefined ? [] : [via]),
  ];
  const hash = textIn(raw('hash'));
  const told = {
    organization: raw('organization_id'),
    id: raw('id'),
    hash,
    signature: signatureIn(entry.get('attested')),
  };
  const erased = entry.get('erased') === 'true' ? told : undefined;
  const isShownAsHashed = [...shown].every(([told, instead]) => withTexts(instead, texts.shown) === told);
  return {
    ...{ id: raw('id'), previousHash, hash, content: JSON.stringify(hashed) },
    ...{ isShownAsHashed, erased, texts: texts.known },
  };
}

function signatureIn(attested: string | undefined): string | undefined {
  const raw = attested === undefined ? undefined : membersOf(attested).get('signature');
  return raw === undefined ? undefined : textIn(raw);
}

function textsIn(json: string) {
  const known: PersonalText[] = [];
  const shown = new Map<string, string>();
  const list = JSON.parse(json) as { sha256: string; user: number; salt?: string; text?: string }[];
  for (const { sha256: hash, user, salt, text } of list) {
    shown.set(hash, text ?? `erased user ${user}`);
    if (text !== undefined) known.push({ hash, salt: salt ?? '', text });
  }
  return { known, shown };
}

/** A hashed element with the texts in place of their hashes. */
function withTexts(json: string, shown: ReadonlyMap<string, string>): string {
  return json.replace(/"sha256:([0-9a-f]{64})"/g, (whole, hash: string) => {
    const text = shown.get(hash);
    return text === undefined ? whole : JSON.stringify(text);
  });
}

async function areTrue(texts: readonly PersonalText[]): Promise<boolean> {
  const hashes = await Promise.all(
    texts.map(async ({ salt, text }) => await sha256(joined(salt, new TextEncoder().encode(text)))),
  );
  return texts.every(({ hash }, place) => hashes[place] === hash);
}

/** A hash that is no hash cannot be followed, so it yields none. */
async function hashOf({ previousHash, content }: Entry): Promise<string> {
  if (!/^[0-9a-f]{64}$/.test(previousHash)) return '';
  return await sha256(joined(previousHash, new TextEncoder().encode(content)));
}

/** The bytes that are told in hexadecimal, followed by the others. */
function joined(hexadecimal: string, rest: Uint8Array): Uint8Array<ArrayBuffer> {
  const first = hexadecimal.length >> 1;
  const bytes = new Uint8Array(first + rest.length);
  for (let place = 0; place < first; place++) {
    bytes[place] = Number.parseInt(hexadecimal.slice(2 * place, 2 * place + 2), 16);
  }
  bytes.set(rest, first);
  return bytes;
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function required(members: ReadonlyMap<string, string>, name: string): string {
  const raw = members.get(name);
  if (raw === undefined) throw new Error(`an entry of the log has no ${name}`);
  return raw;
}

function textIn(raw: string): string {
  return String(JSON.parse(raw));
}

function stateIn(raw: string): string | null {
  return raw === 'null' ? null : raw;
}

/** The members of a JSON object, each as the text that it has there. */
export function membersOf(json: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  let place = skipSpace(json, 0);
  if (json[place] !== '{') throw unreadable();
  place = skipSpace(json, place + 1);
  while (json[place] !== '}') {
    const nameEnd = endOfValue(json, place);
    const name = JSON.parse(json.slice(place, nameEnd)) as string;
    place = skipSpace(json, nameEnd);
    if (json[place] !== ':') throw unreadable();
    const start = skipSpace(json, place + 1);
    const end = endOfValue(json, start);
    members.set(name, json.slice(start, end));
    place = skipSpace(json, end);
    if (json[place] === ',') place = skipSpace(json, place + 1);
    else if (json[place] !== '}') throw unreadable();
  }
  return members;
}

/** The place after the value that starts here: a string, a number, a word, an object or a list. */
function endOfValue(json: string, start: number): number {
  let depth = 0;
  for (let place = start; place < json.length; place++) {
    const character = json[place];
    if (character === '"') {
      place = endOfString(json, place) - 1;
      if (depth === 0) return place + 1;
    } else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') {
      if (depth === 0) return place;
      depth--;
      if (depth === 0) return place + 1;
    } else if (depth === 0 && /[\s,:]/.test(character ?? '')) return place;
  }
  throw unreadable();
}

function endOfString(json: string, start: number): number {
  for (let place = start + 1; place < json.length; place++) {
    if (json[place] === '\\') place++;
    else if (json[place] === '"') return place + 1;
  }
  throw unreadable();
}

function skipSpace(json: string, start: number): number {
  let place = start;
  while (place < json.length && /\s/.test(json[place] ?? '')) place++;
  return place;
}

function unreadable(): Error {
  return new Error('the server sent an entry that cannot be read');
}
