import type { Config } from '../../base/config/config.ts';
import { AppError } from '../../base/errors.ts';
import { OPEN_FILES_ADVICE, openFilesLimit, WANTED_OPEN_FILES } from '../../base/open-files.ts';
import { MIGRATIONS } from '../../base/release.ts';
import { chainHash } from '../../changes/audit-chain.store.ts';
import type { Db } from '../../db/db.ts';
import { migrationStatus } from '../../db/migrate.ts';
import { VIEW } from '../../db/migration-files.ts';
import { createRingStore } from '../../vault/ring.store.ts';
import { rejectEmptyDatabase } from '../../vault/root-key.ts';
import { examineBuckets } from './bucket-checks.ts';
import { type AuditRow, createDatabaseStore } from './database.store.ts';
import { examineAbsence, type Finding, fault, look, ok, warning } from './finding.ts';
import { brokenInvariants, INVARIANT_COUNT } from './invariants.store.ts';
import { examineNames } from './name-checks.ts';
import { examineSchemaCatalogue } from './schema-checks.ts';
import { examineSecrets } from './secret-checks.ts';
import { examineConnections } from './worker-checks.ts';

type Store = ReturnType<typeof createDatabaseStore>;

const OLDEST_POSTGRES = 150_000;
const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;
/** Twice the number that a server keeps when it prunes. */
const MANY_CHANGES = 200_000;
const AUDIT_SAMPLE = 1000;
/** The built-in database held 213 to 256 files open under load, and a server needs some of its own. */
const FILES_OF_PGLITE = 300;

/** The checks that need an open database. They only read. */
export async function examineInside(db: Db, config: Config, isNew = false): Promise<Finding[]> {
  const store = createDatabaseStore(db.query);
  const asked = Date.now();
  const server = await store.server();
  const drift = server.now.getTime() - (asked + Date.now()) / 2;
  const schema = await examineSchema(db, isNew);
  const findings = [
    ...examineServer(db, server),
    ...examineConnections(config, server.mostConnections),
    ...schema.findings,
    ...examineTime(drift),
    ...examineOpenFiles(db),
  ];
  findings.push(...(await look('keys', () => examineKeyOfEmpty(db, config))));
  if (!schema.isPresent) return findings;
  const looks = [
    () => look('schema', async () => (schema.isExact ? await examineSchemaCatalogue(db) : [])),
    () => look('invariants', async () => (schema.isExact ? await examineInvariants(db) : [])),
    () => look('revisions', () => examineRevision(store)),
    () => look('locks', () => examineLocks(db, store)),
    () => look('audit', async () => [examineAudit(await store.newestAudit(AUDIT_SAMPLE))]),
    () =>
      look('audit storage', async () =>
        schema.isExact ? await examineBuckets(db.query, store.hasCredential, config) : [],
      ),
    () => look('organizations', () => examineNames(store, config)),
    () => look('address ranges', () => examineRanges(store, config)),
    () => look('keys', () => examineSecrets(db, store, config)),
  ];
  for (const one of looks) findings.push(...(await one()));
  return findings;
}

function examineServer(
  { capabilities }: Db,
  { version, number, isStandby }: Awaited<ReturnType<Store['server']>>,
): Finding[] {
  const text = capabilities.isBuiltIn
    ? `the built-in database answers (PostgreSQL ${version})`
    : `PostgreSQL ${version} answers`;
  if (isStandby) return [fault('database', `${text}, but it is a standby`, 'Point DATABASE_URL at the primary.')];
  if (number < OLDEST_POSTGRES) return [fault('database', text, 'Use PostgreSQL 15 or newer.')];
  return [ok('database', text)];
}

/** Exact: neither older nor newer than this release. */
async function examineSchema(
  db: Db,
  isNew: boolean,
): Promise<{ isPresent: boolean; isExact?: boolean; findings: Finding[] }> {
  try {
    const { applied, pending, isAhead } = await db.transaction((query) => migrationStatus(query, MIGRATIONS));
    const last = applied.at(-1)?.name ?? 'none';
    if (isAhead) {
      const text = `the database is at ${last}, which is newer than this release but compatible with it`;
      return { isPresent: true, findings: [warning('schema', text, 'Finish the upgrade: start the newer release.')] };
    }
    // A view that is missing or differs is a fault, which the comparison with the catalogue finds.
    if (applied.length > 0 && pending.every((name) => name === VIEW))
      return {
        isPresent: true,
        isExact: true,
        findings: [ok('schema', `all ${applied.length} migrations are applied, the last is ${last}`)],
      };
    if (applied.length === 0)
      return { isPresent: false, findings: [examineAbsence('schema', 'the database is empty', isNew)] };
    const advice = 'Create a backup, then run "atrium migrate" or start the server.';
    const finding = warning('schema', `the database is at ${last}; pending: ${pending.join(', ')}`, advice);
    return { isPresent: false, findings: [finding] };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return {
      isPresent: false,
      findings: [fault('schema', error.message, 'Start the release that matches the database, or restore a backup.')],
    };
  }
}

export async function examineInvariants({ query }: Db): Promise<Finding[]> {
  const broken = await brokenInvariants(query);
  if (broken.length === 0) return [ok('invariants', `all ${INVARIANT_COUNT} hold`)];
  return broken.map(({ count, wrong, ids, advice }) =>
    fault('invariants', `${count} ${wrong} (${ids.join(', ')}${count > ids.length ? ', …' : ''})`, advice),
  );
}

/** In the process that has the database open, which is the server if one runs. */
function examineOpenFiles({ capabilities }: Db): Finding[] {
  const limit = openFilesLimit();
  const text = limit === undefined ? 'there is no limit' : `this process may open ${limit} files`;
  if (limit === undefined || limit >= WANTED_OPEN_FILES) return [ok('open files', text)];
  const advice = `${OPEN_FILES_ADVICE[0]?.toUpperCase()}${OPEN_FILES_ADVICE.slice(1)}.`;
  if (capabilities.isBuiltIn && limit < FILES_OF_PGLITE) {
    return [fault('open files', `${text}, and the built-in database alone needs ${FILES_OF_PGLITE}`, advice)];
  }
  return [warning('open files', `${text}; each connection of a client needs one`, advice)];
}

/** A key file without its data: the database may be the wrong one. */
async function examineKeyOfEmpty(db: Db, { ATRIUM_KEY, DATA_DIR }: Config): Promise<Finding[]> {
  if (ATRIUM_KEY !== undefined) return [];
  try {
    await rejectEmptyDatabase(createRingStore(db), DATA_DIR);
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [fault('keys', error.message, 'Do not start the server before this is clear.')];
  }
}

function examineTime(driftMs: number): Finding[] {
  const seconds = Math.abs(driftMs / SECOND_MS);
  const text = `this machine and the database differ by ${seconds.toFixed(1)} s`;
  const advice = 'Synchronize both machines with the same NTP servers.';
  if (seconds > 60) return [fault('time', `${text}: tokens and links expire at the wrong time`, advice)];
  return [seconds > 2 ? warning('time', text, advice) : ok('time', text)];
}

async function examineRevision(store: Store): Promise<Finding[]> {
  const revisions = await store.revision();
  const again = 'Restore a backup: only that moves the revisions ahead of what servers remember.';
  if (!revisions) return [fault('revisions', 'the revision is missing: no request can be answered', again)];
  const { value, pruned, newest, changes } = revisions;
  if ((newest !== null && newest > value) || pruned > value) {
    return [
      fault(
        'revisions',
        `the revision went back to ${value}: servers may trust outdated data`,
        `Stop all servers. ${again}`,
      ),
    ];
  }
  if (changes > MANY_CHANGES) {
    const advice = 'Search the log of a server for "changes were not pruned".';
    return [
      warning('revisions', `the revision is ${value}, and ${changes} changes are kept: they are not pruned`, advice),
    ];
  }
  return [ok('revisions', `the revision is ${value}, ${changes} changes are kept`)];
}

async function examineLocks({ capabilities }: Db, store: Store): Promise<Finding[]> {
  if (capabilities.hasOneConnection) return [];
  const { connections, waiting, idle } = await store.activity();
  const advice = 'Find the session that blocks in pg_stat_activity, and terminate it.';
  const findings: Finding[] = [];
  if (waiting > 0)
    findings.push(warning('locks', `${waiting} sessions have waited for a lock for more than 10 s`, advice));
  if (idle > 0)
    findings.push(warning('locks', `${idle} transactions have been left open for more than a minute`, advice));
  if (findings.length === 0) findings.push(ok('locks', `no session waits; servers have ${connections} connections`));
  return findings;
}

/**
 * The hash of each entry must match its content and, if the previous entry of the same organization is in the sample,
 * follow from that entry.
 */
function examineAudit(rows: readonly AuditRow[]): Finding {
  const later = new Map<bigint, AuditRow>();
  const broken: bigint[] = [];
  for (const row of rows) {
    const next = later.get(row.organization_id);
    // What attests an erased entry may be older than these: the verification of the log looks for it.
    if (!row.is_erased && !chainHash(row).equals(row.hash)) broken.push(row.id);
    else if (next && !next.previous_hash.equals(row.hash)) broken.push(next.id);
    later.set(row.organization_id, row);
  }
  if (broken.length === 0) return ok('audit', `the newest ${rows.length} entries of the audit log are intact`);
  const advice =
    'The audit log was changed outside the server: compare with a backup, and find out who can write to the database.';
  return fault(
    'audit',
    `${broken.length} of the newest ${rows.length} entries are not intact (${broken.slice(0, 5).join(', ')})`,
    advice,
  );
}

async function examineRanges(store: Store, { DEPLOYMENT, CLOUD_A_RANGES, CLOUD_A_ALLOW }: Config): Promise<Finding[]> {
  if (DEPLOYMENT !== 'marketplace') return [];
  const check = 'address ranges';
  if (CLOUD_A_RANGES === undefined) {
    if (CLOUD_A_ALLOW.length > 0) return [ok(check, 'only CLOUD_A_ALLOW is used')];
    return [
      fault(
        check,
        'none are known: every call from marketplace A fails',
        'Set CLOUD_A_RANGES to the published file or its URL.',
      ),
    ];
  }
  const seenAt = await store.rangesSeenAt(CLOUD_A_RANGES);
  const advice =
    'Search the log for "the address ranges were not renewed", and check that CLOUD_A_RANGES can be reached from here.';
  if (!seenAt) return [fault(check, 'none have been read yet: every call from marketplace A fails', advice)];
  const hours = (Date.now() - seenAt.getTime()) / HOUR_MS;
  const text = `last confirmed ${hours.toFixed(1)} hours ago`;
  if (hours > 72) return [fault(check, text, advice)];
  return [hours > 24 ? warning(check, text, advice) : ok(check, text)];
}
