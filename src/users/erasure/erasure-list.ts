import { existsSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { rawMembers } from '../../base/raw-members.ts';

/** A person who is erased, by their number. */
export interface ErasedPerson {
  readonly accountId: bigint;
  readonly erasedAt: Date;
}

interface ErasureListParts {
  readonly dataDir: string;
  /** Everyone who was erased after this moment. */
  readonly erasedAfter: (moment: Date) => Promise<ErasedPerson[]>;
  readonly onFailure: (error: unknown, path: string) => void;
}

export type ErasureList = ReturnType<typeof createErasureList>;

/** Transactions that began before another one can commit after it. */
const OVERLAP_MS = 600_000;

export function erasureListPath(dataDir: string): string {
  return join(dataDir, 'erasures.ndjson');
}

/**
 * The numbers of erased people in a file beside the database, which no backup contains: the restore of a backup from
 * before an erasure erases them again.
 */
export function createErasureList({ dataDir, erasedAfter, onFailure }: ErasureListParts) {
  const path = erasureListPath(dataDir);
  let known: Set<bigint> | undefined;
  let since = new Date(0);
  let hasFailed = false;
  return { keep };

  /** Adds those who are missing. With PostgreSQL there may be no folder; then nothing is written. */
  async function keep(): Promise<void> {
    if (!existsSync(dataDir)) return;
    const found = await erasedAfter(since);
    try {
      known ??= new Set(existsSync(path) ? readErasures(path) : []);
      const missing = found.filter(({ accountId }) => !known?.has(accountId));
      if (missing.length > 0) await append(path, missing);
      for (const { accountId } of missing) known.add(accountId);
      const latest = Math.max(...found.map(({ erasedAt }) => erasedAt.getTime() - OVERLAP_MS), since.getTime());
      since = new Date(latest);
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) onFailure(error, path);
      hasFailed = true;
    }
  }
}

async function append(path: string, people: readonly ErasedPerson[]): Promise<void> {
  const file = await open(path, 'a', 0o600);
  try {
    const lines = people.map(
      ({ accountId, erasedAt }) => `{"account_id":${accountId},"erased_at":"${erasedAt.toISOString()}"}\n`,
    );
    await file.appendFile(lines.join(''));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The numbers in such a list, or in an export of the audit log. */
export function readErasures(path: string): bigint[] {
  if (!existsSync(path)) throw new AppError('notFound', `there is no file ${path}`);
  const lines = readFileSync(path, 'utf8').split('\n');
  const found = lines.flatMap((line, place) => (line.trim() === '' ? [] : idsIn(line, `line ${place + 1} of ${path}`)));
  return [...new Set(found)];
}

function idsIn(line: string, where: string): bigint[] {
  try {
    const members = rawMembers(line);
    const action = members.get('action');
    if (action !== undefined && action !== '"user.erase"') return [];
    const id = action === undefined ? members.get('account_id') : rawMembers(members.get('object') ?? '').get('id');
    if (id !== undefined && /^[1-9]\d{0,17}$/.test(id)) return [BigInt(id)];
  } catch {
    // Named below.
  }
  throw new AppError('invalid', `${where} names no erased person: {"account_id": 17}, or an entry of the audit log`);
}
