import { statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { endAssignmentsOfLeavers } from './authz/places/end-assignments.store.ts';
import type { Config } from './base/config/config.ts';
import { limitsOf } from './base/config/limits.ts';
import { AppError } from './base/errors.ts';
import { findRoot } from './base/keys.ts';
import { countReady, createMetrics } from './base/metrics.ts';
import { createOutages, type Outages } from './base/outages.ts';
import { MIGRATIONS, RELEASE_VERSION } from './base/release.ts';
import { yieldToEventLoop } from './base/scheduling/slices.ts';
import { within } from './base/scheduling/within.ts';
import { collectStartGarbage } from './base/start-memory.ts';
import { createSpanExporter } from './base/tracing/span-exporter.client.ts';
import { createQuotas } from './changes/quotas.store.ts';
import { createRevisionStore } from './changes/revision.store.ts';
import { createRevisions } from './changes/revision.ts';
import type { WriteGuard } from './changes/write.ts';
import { isDatabaseLost } from './db/database-errors.ts';
import { type DbOptions, loadDriver, ping } from './db/db.ts';
import { lastBackupAge } from './db/last-backup.store.ts';
import { type Migrated, migrate } from './db/migrate.ts';
import { createTracedDb } from './db/traced-db.ts';
import { type AdminServer, openAdmin } from './http/admin-port.ts';
import { createDrain } from './http/drain.ts';
import { type Brake, createBrake } from './http/limits/brake.ts';
import { type Share, unshared } from './http/limits/rate-limit.ts';
import { warmUpCompilers } from './http/schema-compiler.ts';
import { createIdempotencyStore } from './idempotency/idempotency.store.ts';
import { createIdempotency } from './idempotency/idempotency.ts';
import { wireIdentity } from './identity/identity.wiring.ts';
import type { Infrastructure } from './infrastructure.ts';
import { endRequests } from './requests/ended-requests.store.ts';
import { SEALED_COLUMNS } from './sealed-columns.ts';
import { createRingStore } from './vault/ring.store.ts';
import { openRing, type Ring } from './vault/ring.ts';
import { findRootKey, type RootKey } from './vault/root-key.ts';
import { createRotationStore } from './vault/rotation.store.ts';
import { createRotation } from './vault/rotation.ts';
import { createVaultStore } from './vault/vault.store.ts';
import { createVault } from './vault/vault.ts';

/** A replica that is further behind than this forgets everything and starts over. */
const CHANGES_KEPT = 100_000n;
const UPKEEP_EVERY_MS = 60_000;
const READY_WITHIN_MS = 2000;

export type Instance = Awaited<ReturnType<typeof openInstance>>;

interface Surroundings {
  readonly log: Logger;
  /** Progress for a user at a terminal. */
  readonly say: (line: string) => void;
  /** The built-in database stopped for good: only another process can open it again. */
  readonly onStopped?: (error: Error) => void;
  readonly startPglite?: DbOptions['startPglite'];
  readonly patience?: DbOptions['patience'];
  /** What this process shares with other processes that serve the same ports. */
  readonly common?: { readonly brake: Brake; readonly share: Share } | undefined;
}

/** The composition root: config → database → stores → rules → app. The only file that knows them all. */
export async function openInstance(config: Config, surroundings: Surroundings) {
  const { log, say, onStopped, startPglite, patience, common } = surroundings;
  // Only looks: a damaged key file is reported before a database is opened.
  findRoot(config.ATRIUM_KEY, config.DATA_DIR);
  let outages: Outages | undefined;
  const { open, hasThread } = await loadDriver({
    databaseUrl: config.DATABASE_URL,
    dataDir: config.DATA_DIR,
    poolSize: config.DATABASE_POOL,
    isPooled: config.DATABASE_POOLER === 'transaction',
    queryTimeoutMs: config.DATABASE_TIMEOUT_MS,
    startPglite,
    patience,
    say,
    onError: (error) =>
      outages ? outages.countConnection(error) : log.error({ err: error }, 'database connection failed'),
    onStopped(error) {
      log.fatal({ err: error }, 'the built-in database stopped');
      onStopped?.(error);
    },
  });
  // The built-in database opens in its thread while the routes load, which takes half of a start. PostgreSQL takes
  // little, and would time out meanwhile on a busy machine.
  const opening = hasThread ? open() : undefined;
  opening?.catch(() => undefined);
  const [{ createApp, createListenerApp }, { wireFeatures }] = await Promise.all([
    import('./app.ts'),
    import('./features.ts'),
  ]);
  const opened = await (opening ?? open());
  const collector = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  const db = collector === undefined ? opened : createTracedDb(opened);
  const ringStore = createRingStore(db);
  let root: RootKey;
  let ring: Ring;
  let migrated: Migrated;
  try {
    root = await findRootKey(ringStore, config.ATRIUM_KEY, config.DATA_DIR);
    migrated = await migrate(db, MIGRATIONS, say);
    ring = await openRing(ringStore, root.keys);
    root.keep();
  } catch (error) {
    await db.close();
    throw error;
  }

  if (migrated.isAhead) say(`the database is newer than this release (${migrated.version}), but compatible with it`);
  // The disk of the built-in database is not an outage that ends by itself.
  if (!db.capabilities.isBuiltIn) outages = createOutages({ log, isLost: isDatabaseLost, answers: pingSoon });
  const writeGuards: WriteGuard[] = [];
  const revisions = createRevisions(createRevisionStore(db, writeGuards, [endAssignmentsOfLeavers, endRequests]));
  const { keys } = ring;
  const quotas = createQuotas(limitsOf(config));
  const identity = wireIdentity(db, revisions, quotas, keys, {
    policy: config.SECOND_FACTOR,
    hasPasswords: config.PASSWORDS === 'on',
    sessionPolicy: {
      hours: config.SESSION_HOURS,
      rememberedDays: config.SESSION_REMEMBERED_DAYS,
      idleMinutes: config.SESSION_IDLE_MINUTES,
    },
  });
  const metrics = createMetrics(() => revisions.queries);
  // Before atrium_ready, which uses a connection itself.
  metrics.connections(() => db.connections());
  const { writes } = revisions;
  metrics.gauge('atrium_writes_under_way', 'Changes that have begun; they wait for each other.', () => writes.underWay);
  metrics.counter('atrium_writes_total', 'Changes that have ended, committed or not.', () => writes.ended);
  metrics.counter('atrium_write_seconds_total', 'How long these changes took together.', () => writes.seconds);
  const backup = 'Seconds since atrium backup last wrote a file; -1: never.';
  metrics.stored('atrium_backup_age_seconds', backup, () => lastBackupAge(db.query));
  metrics.gauge('atrium_ready', 'Whether /readyz is green: 1 or 0.', async () =>
    isLeaving ? 0 : await countReady(ready),
  );
  const spans =
    collector === undefined
      ? undefined
      : createSpanExporter({
          endpoint: collector,
          headers: config.OTEL_EXPORTER_OTLP_HEADERS,
          serviceName: config.OTEL_SERVICE_NAME,
          version: RELEASE_VERSION,
          registry: metrics.registry,
          onFailure: (error) => log.warn({ err: error }, 'the collector takes no traces; they are dropped'),
        });
  const brake = common?.brake ?? createBrake(config.AUTH_FAILURES);
  let baseUrl = config.BASE_URL ?? '';
  const vault = createVault(createVaultStore(db), ring, () => metrics.vaultFaults.inc());
  const idempotency = createIdempotency(createIdempotencyStore(db), vault, keys.derive('idempotency'));
  const infrastructure = {
    ...{ config, keys, vault, db, revisions, writeGuards, quotas, log, metrics },
    version: RELEASE_VERSION,
    share: common?.share ?? unshared,
    baseUrl: () => baseUrl,
  } satisfies Infrastructure;
  const wired = await wireFeatures(infrastructure, identity, brake);
  const { features, relations, mounts, denials, verification, noteRejection } = wired;
  const { marketplace, bus, openFga, events } = features;
  const parts = {
    ...{ config, log, outages, metrics, relations, brake, mounts, noteRejection, idempotency },
    callers: identity.callers,
    secondFactors: identity.secondFactors,
    tokenUsage: identity.tokenUsage,
    sessionUsage: identity.sessionUsage,
    tracing: spans && { ratio: config.OTEL_TRACES_SAMPLER_ARG, note: spans.add },
    version: RELEASE_VERSION,
    baseUrl: () => baseUrl,
    share: common?.share,
  };
  const { app, routes } = createApp(parts);
  const isMarketplace = config.DEPLOYMENT === 'marketplace';
  const listener = isMarketplace && config.MARKETPLACE_PORT !== undefined ? createListenerApp(parts) : undefined;
  const rotateKeys = createRotation({
    store: createRotationStore(db),
    ringStore,
    ring,
    root: root.keys,
    columns: SEALED_COLUMNS,
    knowsAllColumns: !migrated.isAhead,
  });
  const drains = [app, ...(listener ? [listener] : [])].map(({ server }) => createDrain(server));
  let admin: AdminServer | undefined;
  let isLeaving = false;
  let closing: Promise<void> | undefined;
  let warming: Promise<unknown> | undefined;
  const upkeep = setInterval(() => {
    // Without requests, this is what notices that something has expired.
    revisions.current().catch((error) => log.warn({ err: error }, 'the revision was not read'));
    revisions.prune(CHANGES_KEPT).catch((error) => log.warn({ err: error }, 'changes were not pruned'));
    void flushUsage();
    void denials.flush(new Date());
    features.tokenNotices.send().catch((error) => log.warn({ err: error }, 'expiring tokens were not looked up'));
    verification.advance().catch((error) => log.warn({ err: error }, 'the audit log was not verified'));
    identity.sessions.sweep().catch((error) => log.warn({ err: error }, 'expired sessions were not swept'));
    features.sweepIssuedTokens().catch((error) => log.warn({ err: error }, 'issued tokens were not swept'));
    features.finishErasures().catch((error) => log.warn({ err: error }, 'an erasure was not finished'));
    features.sweepRequests().catch((error) => log.warn({ err: error }, 'old access requests were not swept'));
    features.retainAudit(new Date()).catch((error) => log.error({ err: error }, 'the audit log was not archived'));
    features.pushAudit(new Date()).catch((error) => log.error({ err: error }, 'the audit log was not pushed'));
    features.addUpCounts().catch((error) => log.warn({ err: error }, 'counts were not added up'));
    features.reviews.settleDue().catch((error) => log.warn({ err: error }, 'reviews that are due were not closed'));
    idempotency.sweep(new Date()).catch((error) => log.warn({ err: error }, 'idempotency keys were not swept'));
  }, UPKEEP_EVERY_MS).unref();

  return {
    version: RELEASE_VERSION,
    config,
    db,
    revisions,
    writeGuards,
    quotas,
    metrics,
    vault,
    identity,
    features,
    rotateKeys,
    idempotency,
    routes,
    /** The port of the marketplace listener, if it has its own. */
    listenerPort: () => (listener?.server.address() as AddressInfo | undefined)?.port,
    listen,
    warmUp,
    ready,
    leave,
    close,
  };

  /** Starts to listen; returns the address under which clients reach the server. */
  async function listen(): Promise<string> {
    if (config.PASSWORDS === 'off' && !(await features.providers.anyEnabled())) {
      const advice = 'set OIDC_PROVIDERS, or add or enable a provider while PASSWORDS is on';
      const why = 'because there is no provider that is enabled';
      throw new AppError('invalid', `PASSWORDS=off would lock all users out, ${why}: ${advice}`);
    }
    const { AUDIT_RETENTION: keep, AUDIT_ARCHIVE: archive } = config;
    if (
      keep &&
      archive &&
      !archive.startsWith('s3://') &&
      !statSync(archive, { throwIfNoEntry: false })?.isDirectory()
    ) {
      throw new AppError(
        'invalid',
        `AUDIT_ARCHIVE must be a folder that exists, for what AUDIT_RETENTION archives: ${archive}`,
      );
    }
    if (isMarketplace) await marketplace.prepare();
    await app.listen({ host: config.HOST, port: config.PORT });
    const { port } = app.server.address() as AddressInfo;
    const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST;
    baseUrl ||= `http://${host}:${port}`;
    await listener?.listen({ host: config.HOST, port: config.MARKETPLACE_PORT ?? 0 });
    if (isMarketplace) marketplace.sweep.start();
    if (config.ADMIN_PORT !== 0) {
      const { registry } = metrics;
      admin = await openAdmin(
        { host: config.ADMIN_HOST, port: config.ADMIN_PORT },
        { ready, metrics: async () => ({ type: registry.contentType, text: await registry.metrics() }) },
      );
    }
    openFga?.start();
    bus.start();
    features.webhooks.sender.start();
    return `http://${host}:${port}`;
  }

  /**
   * For a process that stays. The server answers meanwhile, but is not ready before it is over. It does not compete with
   * what is left of the start.
   */
  function warmUp(started: Promise<unknown>): void {
    const begin = () => {
      warmUpCompilers();
      return Promise.allSettled([revisions.current(), wired.warmUp()]).then(collectStartGarbage);
    };
    warming = started.then(yieldToEventLoop).then(begin, begin);
  }

  async function pingSoon(): Promise<void> {
    await within(READY_WITHIN_MS, ping(db), 'no answer');
  }

  /** Rejects if requests would fail or be slow, and says why. */
  async function ready(): Promise<void> {
    try {
      await pingSoon();
    } catch (cause) {
      throw new Error('the database does not answer', { cause });
    }
    try {
      if (openFga) await within(READY_WITHIN_MS, openFga.ready(), 'no answer');
    } catch (cause) {
      throw new Error(cause instanceof AppError ? cause.message : 'OpenFGA does not answer', { cause });
    }
    await within(READY_WITHIN_MS, Promise.resolve(warming), 'the server is warming up');
  }

  /** From now on the server is not ready, and clients are told to send their next request elsewhere. */
  function leave(isReplaced = false): void {
    isLeaving = true;
    admin?.drain();
    for (const drain of drains) {
      drain.announce();
      if (isReplaced) drain.decline();
    }
  }

  /** Lets running requests finish, accepts no new ones, and leaves the database in order. */
  function close(patienceMs = 8000): Promise<void> {
    if (closing && patienceMs === 0) for (const drain of drains) drain.cut();
    closing ??= closeOnce(patienceMs);
    return closing;
  }

  async function closeOnce(patienceMs: number): Promise<void> {
    clearInterval(upkeep);
    outages?.stop();
    leave();
    for (const drain of drains) drain.start(patienceMs);
    events.close();
    await Promise.all([app.close(), listener?.close()]);
    for (const drain of drains) drain.stop();
    if (isMarketplace) await marketplace.stop();
    await admin?.close();
    await bus.close();
    await openFga?.close();
    await features.webhooks.sender.stop();
    await features.background.close();
    await denials.close(new Date());
    await flushUsage();
    await spans?.close();
    await db.close();
  }

  async function flushUsage(): Promise<void> {
    const { tokenUsage, sessionUsage } = identity;
    await tokenUsage.flush().catch((error) => log.warn({ err: error }, 'the last use of tokens was not written'));
    await sessionUsage.flush().catch((error) => log.warn({ err: error }, 'the last use of sessions was not written'));
    await features.flushAccessUses().catch((error) => log.warn({ err: error }, 'uses of access were not written'));
  }
}
