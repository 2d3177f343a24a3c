import type { Answer, Item } from '../../client/client.ts';
import { verifyFiles } from '../audit-file.ts';
import { wholeNumber } from '../changes.ts';
import { command, type Group, type ServerCommand } from '../command.ts';
import { writeCsv } from '../csv.ts';
import { EXIT, misuse } from '../failure.ts';
import { momentIn } from '../moments.ts';
import { objectByType } from '../names.ts';
import { type Columns, list, type Shown } from '../output.ts';
import { SERVER_COMMANDS } from '../server-commands.gen.ts';
import type { Session } from '../session.ts';
import { progress } from '../terminal.ts';

type Entry = Item<'GET /orgs/{org}/audit'>;
type Count = Answer<'GET /orgs/{org}/audit/actions'>[number];
const USUAL = 30;
const PAGE = 200;

const columns: Columns<Entry> = {
  time: (row) => row.at.replace('T', ' ').replace(/\.\d+Z$/, 'Z'),
  action: (row) => row.action,
  what: (row) => row.summary,
};
const csvColumns = {
  time: (row: Entry) => row.at,
  actor: (row: Entry) => (row.actor.type === 'robot_ac' ? `robot:${row.actor.name}` : row.actor.name),
  on_behalf_of: (row: Entry) => row.on_behalf_of?.name,
  action: (row: Entry) => row.action,
  object_type: (row: Entry) => row.object.type,
  object_id: (row: Entry) => row.object.id,
  object: (row: Entry) => row.object.name,
  summary: (row: Entry) => row.summary,
  request_id: (row: Entry) => row.request_id,
};

const listing = command({
  summary: 'show who changed what',
  details:
    'Lists the newest entries first. With --export, prints every entry that matches the filters, oldest first, ' +
    'as one JSON object per line. With --verify, the server checks what it keeps and what it has archived.',
  options: {
    actor: { about: 'only changes by this user, or by a robot such as robot:deploy', value: 'USER', kind: 'user' },
    action: { about: 'only this action, such as role.create; role. matches every action on roles', value: 'ACTION' },
    object: {
      about: 'only changes to this object, such as cluster:prod; cluster matches all clusters',
      value: 'OBJECT',
      kind: 'object',
    },
    since: { about: 'only changes since then, such as 7d or 2026-01-31', value: 'WHEN' },
    until: { about: 'only changes before then', value: 'WHEN' },
    limit: { about: `maximum number of entries; ${USUAL} by default`, value: 'N' },
    all: { about: 'list all entries' },
    site: { about: 'for site administrators: the whole deployment' },
    mine: { about: 'changes to your own account and to what you own yourself' },
    export: { about: 'print JSON lines, for another program' },
    ocsf: { about: 'with --export: print events of the Open Cybersecurity Schema Framework, for a SIEM' },
    verify: { about: 'check that no entry was changed or removed since the last check; exits 1 if one was' },
    full: { about: 'with --verify: check every entry from the first one, and all signed checkpoints' },
  },
  examples: [
    'atrium audit --since 7d --actor ann',
    'atrium audit --object cluster:prod --limit 100',
    'atrium audit --export --since 2026-01-01 > audit.ndjson',
    'atrium audit --export --ocsf --since 7d > events.ndjson',
    'atrium audit --mine --since 30d',
    'atrium audit --watch --action role.',
    'atrium audit --verify',
    'atrium audit --since 90d --all -o csv > audit.csv',
    'atrium audit --verify --full',
  ],
  watch: { newestFirst: true },
  hasCsv: true,
  async run(session, { options }) {
    requireOneLog(session, options);
    if (session.isWatching && (options.export || options.verify)) {
      throw misuse('--watch is for the list of entries, without --export and --verify');
    }
    if (options.full && !options.verify) throw misuse('--full is for --verify');
    if (options.ocsf && !options.export) throw misuse('--ocsf is for --export');
    if (options.verify) return await verify(session, options);
    const query = {
      actor: options.actor,
      action: options.action,
      object: options.object === undefined ? undefined : await objectByType(session, options.object),
      since: options.since === undefined ? undefined : momentIn(options.since, -1),
      until: options.until === undefined ? undefined : momentIn(options.until, -1),
    };
    const org = options.site || options.mine ? session.orgOption : session.org();
    const client = session.client();
    if (options.export) {
      if (session.format === 'yaml') throw misuse('--export prints JSON lines and cannot be combined with --yaml');
      const filters = { ...query, format: options.ocsf ? ('ocsf' as const) : undefined };
      const lines = options.mine
        ? client.lines('GET /user/audit/export', { query: filters })
        : options.site
          ? client.lines('GET /admin/audit/export', { query: { ...filters, org } })
          : client.lines('GET /orgs/{org}/audit/export', { path: { org: org ?? '' }, query: filters });
      await copyLines(session, lines);
      return undefined;
    }
    const most = options.all ? Number.POSITIVE_INFINITY : (wholeNumber(options.limit, '--limit') ?? USUAL);
    const limit = Math.max(1, Math.min(most, PAGE));
    const entries = options.mine
      ? client.each('GET /user/audit', { query: { ...query, limit } })
      : options.site
        ? client.each('GET /admin/audit', { query: { ...query, org, limit } })
        : client.each('GET /orgs/{org}/audit', { path: { org: org ?? '' }, query: { ...query, limit } });
    const found = await take(entries, most);
    return { ...list(found, columns, 'none'), csv: writeCsv(found, csvColumns) };
  },
});

interface Choice {
  readonly site: boolean;
  readonly mine: boolean;
  readonly verify: boolean;
}

/** An account has one log, an organization another one. */
function requireOneLog({ orgOption }: Session, { site, mine, verify: isCheck }: Choice): void {
  if (mine && site) throw misuse('use --mine or --site, not both');
  if (mine && orgOption !== undefined)
    throw misuse('--mine is about your own account and cannot be combined with --org');
  if (mine && isCheck) throw misuse('--verify checks the log of an organization and cannot be combined with --mine');
}

const actions = command({
  summary: 'count the entries of the last 90 days by action',
  options: { site: { about: 'for site administrators: the whole deployment' } },
  examples: ['atrium audit actions', 'atrium audit actions --site'],
  async run(session, { options: { site } }) {
    const client = session.client();
    const found = site
      ? await client.call('GET /admin/audit/actions', { query: { org: session.orgOption } })
      : await client.call('GET /orgs/{org}/audit/actions', { path: { org: session.org() } });
    const shown: Columns<Count> = {
      action: (row) => row.action,
      times: (row) => (row.more ? `${row.count}+` : row.count),
      meaning: (row) => row.description,
    };
    return list(found, shown, 'none');
  },
});

const verifying = command({
  summary: 'check exports and archives of the log, without a server',
  details:
    'Takes exports of either format and archives, in any order. Each entry must follow from the one before it, also from ' +
    'one file to the next. Exits 1 if an entry was changed, or is missing in between.',
  args: { file: { about: 'exports and archives', many: true, kind: 'file' } },
  options: {
    key: {
      about:
        'also check who signed archives and attests erased entries: the key with the use audit, from /.well-known/webhook-keys',
      value: 'whpk_…',
    },
  },
  examples: [
    'atrium audit verify audit.ndjson',
    'atrium audit verify audit-2024.ndjson audit-2025.ndjson audit.ndjson',
    'atrium audit verify audit-2025.ndjson --key whpk_7BR3sNbmYJbqGcMZyJ0jlbyXAfKfWhjfmVCqZyuXLcs=',
  ],
  async run(_session, { args, options }) {
    return await verifyFiles(args.file, options.key);
  },
});

/** A command that only the server's own program can run, described in that program's own words. */
function onServer(name: string, summary: string): ServerCommand {
  const told = SERVER_COMMANDS.find((one) => one.name === 'audit');
  const has = (line: string) => line.includes(`audit ${name}`);
  const usage = told?.usage.filter(has) ?? [];
  const isUsed = (option: string) => usage.some((line) => line.includes(option));
  const options = told?.options?.filter((option) => isUsed(option.name)) ?? [];
  return { summary, usage, options, examples: told?.examples?.filter(has) ?? [], onServer: true };
}

export const audit: Group = {
  summary: 'show who changed what, verify the log, and archive what is old',
  byDefault: 'list',
  commands: {
    list: listing,
    actions,
    verify: verifying,
    archive: onServer('archive', 'move old entries into an archive, and remove them from the database'),
    restore: onServer('restore', 'put archived entries back into the database'),
  },
};

type Found = Answer<'GET /orgs/{org}/audit/verify'>;
const MAX_TRIES = 5;

/** Checks the chain: each entry contains the hash of the one before it. Goes on if the connection is lost. */
async function verify(session: Session, { site, full }: { site: boolean; full: boolean }): Promise<Shown> {
  const bar = progress(Boolean(process.stderr.isTTY));
  let found: Found | undefined;
  let cursor: string | undefined;
  for (let time = 1; found === undefined; time++) {
    const query = cursor === undefined ? (full ? { from: 'beginning' as const } : {}) : { cursor };
    try {
      for await (const line of verdictLines(session, site, query)) {
        const told = JSON.parse(line) as Found | { readonly rows: number; readonly cursor: string };
        if ('ok' in told) found = told;
        else {
          cursor = told.cursor;
          bar.tell(`${counted(told.rows)} checked…`);
        }
      }
      if (found === undefined) throw new Error('the server ended the check before it was over');
    } catch (error) {
      if (cursor === undefined || time >= MAX_TRIES) throw error;
    }
  }
  bar.done();
  const { ok, rows, first_broken_id: broken, checkpoint, segments, erased, problem } = found;
  const lines = ok
    ? [`intact: ${counted(rows)}, each follows from the one before`]
    : [`broken at entry ${broken}; ${counted(rows)} in total`];
  if (segments.length > 0) {
    const archived = segments.reduce((sum, { count }) => sum + count, 0);
    lines.push(`${counted(archived)} before them ${archived === 1 ? 'is' : 'are'} archived`);
  }
  if (checkpoint)
    lines.push(`${checkpoint.rows} of them were checked before ${checkpoint.at}: --full checks them again`);
  if (erased > 0 && problem !== 'erasure_unattested')
    lines.push(`people were erased from ${erased} of them, as the deployment's log attests`);
  if (problem) lines.push(PROBLEMS[problem]);
  return { data: found, lay: () => lines, exit: ok ? 0 : EXIT.rejected };
}

const PROBLEMS: Readonly<Record<NonNullable<Found['problem']>, string>> = {
  checkpoint_forged: 'a checkpoint was not signed by this deployment',
  checkpoint_contradicted: 'the entries are not those that a checkpoint was signed for',
  erasure_unattested: "a person was erased from an entry, and the deployment's log does not attest it",
  segment_forged: 'an archived segment was not signed by this deployment',
  segment_missing: 'entries before it are neither kept nor archived',
};

function verdictLines(session: Session, isSite: boolean, query: { from?: 'beginning'; cursor?: string }) {
  const client = session.client();
  const headers = { Accept: 'application/x-ndjson' };
  if (!isSite) return client.lines('GET /orgs/{org}/audit/verify', { path: { org: session.org() }, query, headers });
  return client.lines('GET /admin/audit/verify', { query: { ...query, org: session.orgOption }, headers });
}

async function take(entries: AsyncIterable<Entry>, most: number): Promise<Entry[]> {
  const taken: Entry[] = [];
  const bar = progress(Boolean(process.stderr.isTTY));
  if (most === 0) return taken;
  for await (const entry of entries) {
    taken.push(entry);
    bar.tell(`${counted(taken.length)} read…`);
    if (taken.length >= most) break;
  }
  bar.done();
  return taken;
}

/** Copies as fast as the reader reads, and never holds all lines in memory. */
async function copyLines(session: Session, lines: AsyncIterable<string>): Promise<void> {
  const bar = progress(Boolean(process.stderr.isTTY && !process.stdout.isTTY));
  let count = 0;
  for await (const line of lines) {
    count++;
    bar.tell(`${counted(count)} written…`);
    if (!session.screen.writeDocument(line)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
  bar.done();
  if (count === 0 && process.stdout.isTTY) session.screen.note('none');
}

function counted(count: number): string {
  return count === 1 ? '1 entry' : `${count} entries`;
}
