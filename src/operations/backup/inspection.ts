import { createHash, type Hash } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import { damaged, readArchive } from './archive-reader.ts';
import { FORMAT, HEAD, type Head, MANIFEST, type Manifest, ROOT_KEY, type Row, tableOf } from './format.ts';

export interface Inspected {
  readonly manifest: Manifest;
  /** The wrapped keys of the key ring, which show whether a root key is the right one. */
  readonly slots: readonly { readonly root: string; readonly ringKeyId: bigint; readonly wrapped: Buffer }[];
  /** The root key, if it is in the file. */
  readonly rootKey?: Buffer | undefined;
}

interface Tally {
  readonly hash: Hash;
  rows: number;
}

const SLOTS = 'key_slot';

/**
 * Reads a backup from start to end and rejects anything that is inconsistent. Nothing is changed before this has
 * finished.
 */
export async function inspect(path: string): Promise<Inspected> {
  const tallies = new Map<string, Tally>();
  const slotRows: Row[] = [];
  let head: Head | undefined;
  let manifest: Manifest | undefined;
  let rootKey: Buffer | undefined;
  for await (const { name, content } of readArchive(path)) {
    if (manifest) throw damaged(path, `${name} comes after the manifest`);
    const table = tableOf(name);
    if (!head && name !== HEAD) throw damaged(path, 'it does not start like a backup of Atrium');
    if (name === HEAD) head = readHead(path, content);
    // The checksum at the end of the file tells another format from a damaged number, so the rest is read all the same.
    else if (head?.format !== FORMAT) continue;
    else if (name === MANIFEST) manifest = parse(path, content) as Manifest;
    else if (name === ROOT_KEY) rootKey = Buffer.from(content.toString('utf8').trim(), 'base64');
    else if (table !== undefined) {
      count(tallies, table, content);
      if (table === SLOTS) slotRows.push(...rowsIn(path, content));
    } else throw damaged(path, `unknown entry ${name}`);
  }
  if (head && head.format !== FORMAT) throw otherFormat(path, head);
  if (!head || !manifest) throw damaged(path, 'its end is missing');
  compare(path, head, manifest, tallies);
  return { manifest, rootKey, slots: slotsIn(manifest, slotRows) };
}

export function rowsIn(path: string, content: Buffer): Row[] {
  const lines = content.toString('utf8').trimEnd();
  return parse(path, `[${lines.replaceAll('\n', ',')}]`) as Row[];
}

function readHead(path: string, content: Buffer): Head {
  const head = parse(path, content) as Partial<Head> | null;
  if (head?.product !== 'atrium') throw damaged(path, 'it is not a backup of Atrium');
  return head as Head;
}

function otherFormat(path: string, { format, version }: Head): AppError {
  return new AppError(
    'conflict',
    `${path} has format ${format}, but this release reads format ${FORMAT}; ` +
      `use the release that wrote it (${version})`,
  );
}

function count(tallies: Map<string, Tally>, table: string, content: Buffer): void {
  const tally = tallies.get(table) ?? { hash: createHash('sha256'), rows: 0 };
  tally.hash.update(content);
  for (let at = content.indexOf(10); at >= 0; at = content.indexOf(10, at + 1)) tally.rows++;
  tallies.set(table, tally);
}

function compare(path: string, head: Head, manifest: Manifest, tallies: ReadonlyMap<string, Tally>): void {
  if (JSON.stringify(head.migrations) !== JSON.stringify(manifest.migrations))
    throw damaged(path, `${HEAD} and ${MANIFEST} do not match`);
  const known = new Set(manifest.tables.map(({ name }) => name));
  for (const name of tallies.keys()) if (!known.has(name)) throw damaged(path, `${name} is not in the manifest`);
  for (const { name, rows, sha256 } of manifest.tables) {
    const tally = tallies.get(name) ?? { hash: createHash('sha256'), rows: 0 };
    if (tally.rows !== rows) throw damaged(path, `${name} should have ${rows} rows but has ${tally.rows}`);
    if (tally.hash.digest('hex') !== sha256) throw damaged(path, `the checksum of ${name} is wrong`);
  }
}

function slotsIn({ tables }: Manifest, rows: readonly Row[]): Inspected['slots'] {
  const columns = tables.find(({ name }) => name === SLOTS)?.columns ?? [];
  const field = (row: Row, name: string) => row[columns.indexOf(name)] ?? '';
  return rows.map((row) => ({
    root: field(row, 'root'),
    ringKeyId: BigInt(field(row, 'ring_key_id')),
    wrapped: Buffer.from(field(row, 'wrapped').slice(2), 'hex'),
  }));
}

function parse(path: string, content: Buffer | string): unknown {
  try {
    return JSON.parse(content.toString('utf8'));
  } catch (error) {
    throw damaged(path, 'a part of it cannot be read', error);
  }
}
