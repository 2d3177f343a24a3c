import { createPublicKey, verify } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Attests, attestationsBy, attestationsIn, checkChain, isAttesting } from '../client/audit-chain.ts';
import { EXIT, misuse } from './failure.ts';
import type { Shown } from './output.ts';
import { progress } from './terminal.ts';

const START = '0'.repeat(64);

/** Entries of one log that a file has one after the other. An archive has the end of each, signed. */
interface Part {
  readonly file: string;
  readonly organization: string;
  /** Where it begins, in bytes, and how many lines there are from there up to its end. */
  readonly start: number;
  lines: number;
  readonly first: string;
  readonly previousHash: string;
  count: number;
  last: string;
  lastHash: string;
  close?: string;
}

interface Verdict {
  readonly organization_id: string;
  readonly rows: number;
  readonly ok: boolean;
  readonly first_broken_id: string | null;
  readonly last_hash: string | null;
  /** How many parts of it are archived and signed. Whether the signatures were checked: only with a key. */
  readonly segments: number;
  readonly signed: boolean | null;
  /** From how many entries of earlier releases a person was erased. */
  readonly erased: number;
  readonly problem: string | null;
}

/**
 * Recomputes every hash of exports and archives, without a server: `atrium audit verify audit.ndjson`. A file of the whole
 * deployment has a log for each organization.
 */
export async function verifyFiles(files: readonly string[], key: string | undefined): Promise<Shown> {
  const isSigned = key === undefined ? undefined : signatureCheck(key);
  const parts: Part[] = [];
  const attesting: string[] = [];
  for (const file of files) parts.push(...(await partsIn(file, attesting)));
  const [listed, signed] = [await attestationsIn(attesting), await attestationsBy(key === undefined ? [] : [key])];
  const attests: Attests = async (entry) => (await listed(entry)) || (await signed(entry));
  const bar = progress(Boolean(process.stderr.isTTY));
  const verdicts: Verdict[] = [];
  let told = 0;
  for (const [organization, some] of Map.groupBy(parts, (part) => part.organization)) {
    verdicts.push(
      await verifyLog(organization, some, { isSigned, attests }, (entries) =>
        bar.tell(`${told + entries} entries verified…`),
      ),
    );
    told += some.reduce((sum, { count }) => sum + count, 0);
  }
  bar.done();
  return {
    data: verdicts,
    lay: (style) => verdicts.map((one) => (one.ok ? intact(one) : style.bad(broken(one)))),
    exit: verdicts.every(({ ok }) => ok) ? 0 : EXIT.rejected,
  };
}

interface Proofs {
  readonly isSigned: ((close: string) => boolean) | undefined;
  readonly attests: Attests;
}

async function verifyLog(
  organization: string,
  parts: readonly Part[],
  { isSigned, attests }: Proofs,
  tell: (entries: number) => void,
): Promise<Verdict> {
  let rows = 0;
  let erased = 0;
  let lastHash: string | null = null;
  let found: Pick<Verdict, 'first_broken_id' | 'problem'> = { first_broken_id: null, problem: null };
  const note = (id: string, problem: string) => {
    if (found.first_broken_id === null) found = { first_broken_id: id, problem };
  };
  const ordered = inOrder(parts);
  for (const part of ordered) {
    const follows = part.previousHash === (lastHash ?? START);
    if (!follows && lastHash === null)
      note(
        part.first,
        'the file does not begin with the first entry: verify an export without filters, and every archive',
      );
    if (!follows && lastHash !== null) note(part.first, 'entries are missing before it');
    const found = await checkChain(linesOf(part), (count) => tell(rows + count), part.previousHash, attests);
    const { firstBroken, firstUnattested } = found;
    rows += found.entries;
    erased += found.erased;
    lastHash = found.lastHash ?? lastHash;
    if (firstBroken !== undefined) note(firstBroken, firstBroken === firstUnattested ? UNATTESTED : UNLINKED);
    if (part.close !== undefined && !closes(part)) note(part.first, 'its segment is not closed for these entries');
    if (part.close !== undefined && isSigned?.(part.close) === false)
      note(part.first, 'its segment was signed with another key');
  }
  const segments = ordered.filter(({ close }) => close !== undefined).length;
  const signed = isSigned === undefined || segments === 0 ? null : found.problem === null;
  const verdict = { organization_id: organization, rows, ok: found.problem === null, last_hash: lastHash };
  return { ...verdict, ...found, segments, signed, erased };
}

const UNLINKED = 'it does not follow from the one before it';
const UNATTESTED =
  'a person was erased from it, and nothing here attests that: give the key of the deployment with --key, or add an export of its own log';

/** The longest of what begins at the same entry, and nothing that is in another one. */
function inOrder(parts: readonly Part[]): Part[] {
  const sorted = parts.toSorted((one, other) => compare(one.first, other.first) || compare(other.last, one.last));
  const kept: Part[] = [];
  for (const part of sorted) {
    const before = kept.at(-1);
    if (before === undefined || compare(part.last, before.last) > 0) kept.push(part);
  }
  return kept;
}

function compare(one: string, other: string): number {
  return BigInt(one) < BigInt(other) ? -1 : one === other ? 0 : 1;
}

/** Whether what was signed at the end of the part is what the part has. */
function closes({ organization, first, last, count, previousHash, lastHash, close = '' }: Part): boolean {
  const told = `"organization_id":${organization},"first":${first},"last":${last},"count":${count},`;
  return close.startsWith(`{"close":{${told}"first_previous_hash":"${previousHash}","last_hash":"${lastHash}",`);
}

/** Ed25519 over the text of `close` as it is in the file, without the signature. */
function signatureCheck(key: string): (close: string) => boolean {
  const [, base64 = ''] = /^whpk_([A-Za-z0-9+/]{43}=)$/.exec(key) ?? [];
  if (base64 === '') throw misuse('--key must be a public key such as whpk_… from /.well-known/webhook-keys');
  const x = Buffer.from(base64, 'base64').toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return (close) => {
    const [, text = '', signature = ''] = /^\{"close":(\{.*),"signature":"([A-Za-z0-9+/=]*)"\}\}$/.exec(close) ?? [];
    return verify(null, Buffer.from(`${text}}`), publicKey, Buffer.from(signature, 'base64'));
  };
}

function intact({ organization_id: organization, rows, last_hash: hash, segments, signed, erased }: Verdict): string {
  const attested = erased === 0 ? '' : `; people were erased from ${erased} of them, as the deployment attests`;
  const told = `intact: ${counted(rows)} of organization ${organization}, each follows from the one before; the last hash is ${hash}${attested}`;
  if (segments === 0) return told;
  const archived = segments === 1 ? '1 archived segment' : `${segments} archived segments`;
  return `${told}; ${archived}, ${signed === null ? 'whose signatures only --key checks' : 'signed with the key'}`;
}

function broken({ organization_id: organization, rows, first_broken_id: id, problem }: Verdict): string {
  return `broken at entry ${id} of organization ${organization}; ${counted(rows)} in total; ${problem}`;
}

function counted(count: number): string {
  return count === 1 ? '1 entry' : `${count} entries`;
}

/** `attesting` gets the lines that attest what was erased. */
async function partsIn(file: string, attesting: string[]): Promise<Part[]> {
  const parts: Part[] = [];
  // An export has the entries of all logs by their times, an archive those of one log after the other.
  const open = new Map<string, Part>();
  let isArchive: boolean | undefined;
  let [begin, end, number] = [0, 0, 0];
  for await (const line of rawLines(file)) {
    number++;
    // In an archive, nothing but lines that are separated by one byte. Everything else is read from its beginning.
    if (isArchive) [begin, end] = [end, end + Buffer.byteLength(line) + 1];
    if (isArchive === undefined && line.startsWith('{"kind":"AuditSegments"')) {
      isArchive = true;
      end = Buffer.byteLength(line) + 1;
      continue;
    }
    isArchive ??= false;
    const closed = isArchive ? /^\{"close":\{"organization_id":(\d+),/.exec(line)?.[1] : undefined;
    if (closed !== undefined) {
      const part = open.get(closed);
      if (!part) throw misuse(`${file}: a segment of organization ${closed} has no entries`);
      part.close = line;
      open.delete(closed);
      continue;
    }
    const organization = organizationIn(line);
    if (organization === undefined) {
      throw misuse(`${file} is not an export of the audit log, one JSON object per line, and not an archive of it`);
    }
    if (isAttesting(line)) attesting.push(line);
    const id = /^\{"id":(\d+)/.exec(line)?.[1] ?? '';
    const lastHash = /"hash":"([0-9a-f]*)"\}$/.exec(line)?.[1] ?? '';
    const part = open.get(organization);
    if (part)
      Object.assign(part, { lines: isArchive ? part.lines + 1 : number, count: part.count + 1, last: id, lastHash });
    else {
      const previousHash = /"previous_hash":"([0-9a-f]*)","hash":"[0-9a-f]*"\}$/.exec(line)?.[1] ?? '';
      const place = { file, organization, start: begin, lines: isArchive ? 1 : number };
      const next = { ...place, first: id, previousHash, count: 1, last: id, lastHash };
      open.set(organization, next);
      parts.push(next);
    }
  }
  if (parts.length === 0) throw misuse(`${file} has no entries of an audit log`);
  const unclosed = isArchive ? [...open.values()][0] : undefined;
  if (unclosed) throw misuse(`${file} is cut off: the segment that begins with entry ${unclosed.first} is not closed`);
  return parts;
}

async function* linesOf({ file, organization, start, lines }: Part): AsyncGenerator<string> {
  let left = lines;
  for await (const line of rawLines(file, start)) {
    if (organizationIn(line) === organization) yield line;
    if (--left === 0) return;
  }
}

async function* rawLines(file: string, start = 0): AsyncGenerator<string> {
  const lines = createInterface({
    input: createReadStream(file, { encoding: 'utf8', start }),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  try {
    for await (const text of lines) {
      const line = entryIn(text);
      if (line !== '') yield line;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw misuse(`cannot read ${file}: ${code === 'ENOENT' ? 'no such file' : code}`);
  }
}

/** The entry as it was exported, also if it is inside an event of OCSF that another program has written again. */
function entryIn(line: string): string {
  if (!line.includes('"class_uid"') || organizationIn(line) !== undefined) return line;
  try {
    const { unmapped } = JSON.parse(line) as { unmapped?: { entry?: unknown } };
    return typeof unmapped?.entry === 'string' ? unmapped.entry : line;
  } catch {
    return line;
  }
}

/** It comes before everything that users can write, so the first occurrence is the member itself. */
function organizationIn(line: string): string | undefined {
  return /^\{"id":\d+,"at":"[^"]*","organization_id":(\d+),/.exec(line)?.[1];
}
