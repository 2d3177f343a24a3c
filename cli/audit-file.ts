import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { checkChain } from '../client/audit-chain.ts';
import { EXIT, misuse } from './failure.ts';
import type { Shown } from './output.ts';
import { progress } from './terminal.ts';

const START = '0'.repeat(64);

interface Verdict {
  readonly organization_id: string;
  readonly rows: number;
  readonly ok: boolean;
  readonly first_broken_id: string | null;
  readonly last_hash: string | null;
}

/**
 * Recomputes every hash of an exported log, without a server: `atrium audit verify audit.ndjson`. An export of the whole
 * deployment has a chain for each organization.
 */
export async function verifyFile(file: string): Promise<Shown> {
  const starts = await startsIn(file);
  if (starts.size === 0) throw misuse(`${file} has no entries of an audit log`);
  const bar = progress(Boolean(process.stderr.isTTY));
  const verdicts: Verdict[] = [];
  for (const organization of starts.keys()) {
    const found = await checkChain(linesOf(file, organization), (entries) => bar.tell(`${entries} entries verified…`));
    const { entries: rows, firstBroken = null, lastHash = null } = found;
    const ok = firstBroken === null;
    verdicts.push({ organization_id: organization, rows, ok, first_broken_id: firstBroken, last_hash: lastHash });
  }
  bar.done();
  const isIntact = verdicts.every(({ ok }) => ok);
  return {
    data: verdicts,
    lay: (style) => verdicts.map((one) => (one.ok ? intact(one) : style.bad(broken(one, starts)))),
    exit: isIntact ? 0 : EXIT.rejected,
  };
}

function intact({ organization_id: organization, rows, last_hash: hash }: Verdict): string {
  return `intact: ${counted(rows)} of organization ${organization}, each follows from the one before; the last hash is ${hash}`;
}

function broken({ organization_id: organization, rows, first_broken_id: id }: Verdict, starts: Starts): string {
  const told = `broken at entry ${id} of organization ${organization}; ${counted(rows)} in total`;
  return starts.get(organization) === START
    ? told
    : `${told}; the file does not begin with the first entry: verify an export without filters`;
}

function counted(count: number): string {
  return count === 1 ? '1 entry' : `${count} entries`;
}

/** The previous hash of the first entry of each chain. */
type Starts = ReadonlyMap<string, string>;

async function startsIn(file: string): Promise<Starts> {
  const starts = new Map<string, string>();
  for await (const line of linesOf(file)) {
    const organization = organizationIn(line);
    if (organization === undefined) throw misuse(`${file} is not an export of the audit log, one JSON object per line`);
    if (!starts.has(organization)) starts.set(organization, /"previous_hash":"([0-9a-f]*)"/.exec(line)?.[1] ?? '');
  }
  return starts;
}

async function* linesOf(file: string, organization?: string): AsyncGenerator<string> {
  const lines = createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
  try {
    for await (const text of lines) {
      const line = entryIn(text);
      if (line !== '' && (organization === undefined || organizationIn(line) === organization)) yield line;
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
