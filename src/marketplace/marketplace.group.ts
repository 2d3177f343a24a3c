import type { Ground } from '../ground.ts';
import type { Scope } from '../http/server.ts';
import { createArchiver } from './archive.ts';
import { createCentral } from './central.ts';
import { claimRoutes } from './claims.routes.ts';
import { createBuiltInCentral, createClaimStore } from './claims.store.ts';
import { createClaims } from './claims.ts';
import { deliveryRoutes } from './deliveries.routes.ts';
import { createDeliveryStore } from './deliveries.store.ts';
import { createDeliveries } from './deliveries.ts';
import { createEvents } from './events.ts';
import { createGate } from './gate.ts';
import { createInstallerStore } from './installers.store.ts';
import { createInstallers } from './installers.ts';
import { createJournalStore } from './journal.store.ts';
import { createJournal } from './journal.ts';
import { linkRoutes } from './links.routes.ts';
import { createLinks } from './links.ts';
import { readDepth } from './measures.store.ts';
import { createMeasures } from './measures.ts';
import { notificationRoutes } from './notifications.routes.ts';
import { createOutboxStore } from './outbox.store.ts';
import { createOutbox, tellByWebhook } from './outbox.ts';
import { fetchRanges } from './range-source.ts';
import { createRangeStore } from './ranges.store.ts';
import { createRanges } from './ranges.ts';
import { createRedelivery } from './redelivery.ts';
import { createSealedOptionsStore } from './sealed-options.store.ts';
import { createSealedOptions } from './sealed-options.ts';
import { createSecretStore } from './secrets.store.ts';
import { createSecrets } from './secrets.ts';
import { createSigner } from './signing.ts';
import { createSweep } from './sweep.ts';

export type Marketplace = ReturnType<typeof createMarketplace>;

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** A source that is slow or away must not keep the server from starting. */
const FIRST_DOWNLOAD_MS = 5 * SECOND_MS;

/** Group 3, put together: the marketplace listener. */
export function createMarketplace({ config, db, clock, keys, vault, log, metrics, version, baseUrl }: Ground) {
  const { write } = clock;
  const report = (problem: string, error: unknown) => log.error({ err: error }, problem);
  const signer = createSigner(keys.derive('installer-signature'));
  const links = createLinks(keys.derive('installer-link'), baseUrl);
  const secrets = createSecrets(createSecretStore(db.query, write), config, keys.derive('marketplace-secret'));
  const ranges = createRanges(createRangeStore(db.query), fetchRanges, {
    source: config.CLOUD_A_RANGES,
    allow: config.CLOUD_A_ALLOW,
    report,
  });
  const journalStore = createJournalStore(db.query, write);
  const journal = createJournal(journalStore);
  const sealedOptions = createSealedOptions(createSealedOptionsStore(db.query), vault);
  const installers = createInstallers(createInstallerStore(db.query, write), links, sealedOptions);
  const builtIn = createBuiltInCentral(db.query);
  const central = config.CENTRAL_MARKETPLACE_URL;
  const claimStore = createClaimStore(db.query);
  const claims = createClaims(claimStore, central === undefined ? builtIn.ask : createCentral(central));
  const measures = createMeasures(metrics, {
    depth: () => readDepth(db.query),
    rangesAge: () => ranges.age(new Date()),
  });
  const store = createDeliveryStore(db.query, write);
  const act = createEvents({ version, baseUrl });
  const deliveries = createDeliveries({ store, act, links, sealedOptions, observe: measures.observe });
  const gate = createGate({
    secrets,
    ranges,
    isDev: config.RUN_MODE === 'dev',
    refused: (marketplace, reason, source) => {
      measures.observe(marketplace, reason);
      journal.countRefusal(marketplace, reason, source, new Date());
    },
  });
  const told = config.MARKETPLACE_EVENTS_URL;
  const signature = Buffer.from((config.MARKETPLACE_EVENTS_SECRET ?? '').replace(/^whsec_/, ''), 'base64');
  const outbox = createOutbox(
    createOutboxStore(db.query),
    told === undefined ? undefined : tellByWebhook(told, signature),
  );
  const isDownload = /^https?:/.test(config.CLOUD_A_RANGES ?? '');
  const sweep = createSweep({
    store,
    deliveries,
    report,
    chores: [
      { name: 'secrets', everyMs: 0, run: () => secrets.refresh() },
      { name: 'refusals', everyMs: 0, run: () => journal.flush() },
      { name: 'outbox', everyMs: 0, run: (now) => outbox.relay(now) },
      { name: 'address ranges', everyMs: isDownload ? 10 * MINUTE_MS : MINUTE_MS, run: (now) => ranges.refresh(now) },
      { name: 'options in clear', everyMs: 0, run: () => sealedOptions.sealOlder() },
      { name: 'pruning', everyMs: 60 * MINUTE_MS, run: (now) => journal.prune(now) },
    ],
  });

  const linkParts = { installers, archive: createArchiver(signer), publicKey: signer.publicKey };

  return {
    deliveries,
    gate,
    claims,
    installers,
    secrets,
    journal,
    sweep,
    links: linkParts,
    claimStore,
    central: builtIn,
    prepare,
    stop,
    mount,
    mountPlatform,
    mountRoot,
  };

  function mount(scope: Scope): void {
    claimRoutes(scope, claims);
    notificationRoutes(scope, deliveries, gate);
  }

  /** What an administrator sees of the listener, where there is one. */
  function mountPlatform(scope: Scope): void {
    if (config.DEPLOYMENT !== 'marketplace') return;
    const redeliver = createRedelivery({ journal: journalStore, deliveries: store, finish: deliveries.finish, report });
    deliveryRoutes(scope, journal, redeliver);
  }

  /** The links stand outside the listener: customers follow them, not marketplaces. */
  function mountRoot(scope: Scope): void {
    if (config.DEPLOYMENT === 'marketplace') linkRoutes(scope, linkParts);
  }

  /** What every request needs is there before the first one; the rest is for the sweep. */
  async function prepare(): Promise<void> {
    await secrets.refresh();
    if (isDownload) await ranges.prepare(new Date(), FIRST_DOWNLOAD_MS);
    else await ranges.refresh(new Date());
  }

  async function stop(): Promise<void> {
    await sweep.stop();
    await journal.flush().catch((error) => report('refusals were not written', error));
  }
}
