import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createOutboxClient } from '../outbox/outbox.client.ts';
import { createOutboxStore } from '../outbox/outbox.store.ts';
import { createOutbox } from '../outbox/outbox.ts';
import { createCentral } from './claims/central.client.ts';
import { claimRoutes } from './claims/claims.routes.ts';
import { createBuiltInCentral, createClaimStore } from './claims/claims.store.ts';
import { createClaims } from './claims/claims.ts';
import { createDeliveryStore } from './deliveries/deliveries.store.ts';
import { createDeliveries } from './deliveries/deliveries.ts';
import { deliveryLogRoutes } from './deliveries/delivery-log.routes.ts';
import { createDeliveryLogStore } from './deliveries/delivery-log.store.ts';
import { createDeliveryLog } from './deliveries/delivery-log.ts';
import { readDeliveryDepth } from './deliveries/delivery-metrics.store.ts';
import { createDeliveryMetrics } from './deliveries/delivery-metrics.ts';
import { marketplaceEventRoutes } from './deliveries/marketplace-events.routes.ts';
import { createRedelivery } from './deliveries/redelivery.ts';
import { strangerRoutes } from './deliveries/strangers.routes.ts';
import { createStrangerStore } from './deliveries/strangers.store.ts';
import { createStrangers } from './deliveries/strangers.ts';
import { summaryRoutes } from './deliveries/summary.routes.ts';
import { createSummaryStore } from './deliveries/summary.store.ts';
import { createSummary } from './deliveries/summary.ts';
import { createSweep } from './deliveries/sweep.ts';
import { createArchiver } from './installers/archive.ts';
import { installerRoutes } from './installers/installers.routes.ts';
import { createInstallerStore } from './installers/installers.store.ts';
import { createInstallers } from './installers/installers.ts';
import { linkRoutes } from './installers/links.routes.ts';
import { createLinks } from './installers/links.ts';
import { createSealedOptionsStore } from './installers/sealed-options.store.ts';
import { createSealedOptions } from './installers/sealed-options.ts';
import { createSigner } from './installers/signing.ts';
import { notificationRoutes } from './notifications/notifications.routes.ts';
import { secretRoutes } from './notifications/secrets.routes.ts';
import { createSecretStore } from './notifications/secrets.store.ts';
import { createSecrets } from './notifications/secrets.ts';
import { createSenderCheck } from './notifications/sender-check.ts';
import { fetchRanges } from './ranges/range-source.client.ts';
import { createRangeStore } from './ranges/ranges.store.ts';
import { createRanges } from './ranges/ranges.ts';
import { createApply } from './subscriptions/apply.ts';
import { subscriptionRoutes } from './subscriptions/subscriptions.routes.ts';
import { createSubscriptionStore } from './subscriptions/subscriptions.store.ts';
import { createSubscriptions } from './subscriptions/subscriptions.ts';

export type Marketplace = ReturnType<typeof wireMarketplace>;

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** A slow or unavailable source must not prevent the server from starting. */
const FIRST_DOWNLOAD_MS = 5 * SECOND_MS;

/** Wires the marketplace listener. */
export function wireMarketplace({
  config,
  db,
  revisions,
  quotas,
  keys,
  vault,
  log,
  metrics,
  version,
  baseUrl,
}: Infrastructure) {
  const { write } = revisions;
  const report = (problem: string, error: unknown) => log.error({ err: error }, problem);
  const signer = createSigner(keys.derive('installer-signature'));
  const links = createLinks(keys.derive('installer-link'), baseUrl);
  const secrets = createSecrets(createSecretStore(db.query, write), config, keys.derive('marketplace-secret'));
  const ranges = createRanges(createRangeStore(db.query), fetchRanges, {
    source: config.CLOUD_A_RANGES,
    allow: config.CLOUD_A_ALLOW,
    report,
  });
  const deliveryLogStore = createDeliveryLogStore(db.query, write);
  const deliveryLog = createDeliveryLog(deliveryLogStore, {
    maxSources: quotas.limits.refusalSourcesPerDay,
    warn: (marketplace, times) =>
      log.warn({ marketplace, times }, 'rejected deliveries were only counted: there are too many to keep'),
  });
  const sealedOptions = createSealedOptions(createSealedOptionsStore(db.query), vault);
  const installers = createInstallers(createInstallerStore(db.query, write), links, sealedOptions);
  const builtIn = createBuiltInCentral(db.query);
  const central = config.CENTRAL_MARKETPLACE_URL;
  const claimStore = createClaimStore(db.query);
  const claims = createClaims(claimStore, central === undefined ? builtIn.ask : createCentral(central));
  const measures = createDeliveryMetrics(metrics, {
    depth: () => readDeliveryDepth(db.query),
    rangesAge: () => ranges.age(new Date()),
  });
  const receiver = config.MARKETPLACE_EVENTS_URL;
  const store = createDeliveryStore(db.query, write, { limits: quotas.limits, isTold: receiver !== undefined });
  const act = createApply({ version, baseUrl });
  const deliveries = createDeliveries({
    ...{ store, act, links, sealedOptions, observe: measures.observe },
    countUnkept: (marketplace, reason, source) => {
      measures.countUnkept(marketplace);
      deliveryLog.countUnkept(marketplace, reason, source, new Date());
    },
  });
  const senders = createSenderCheck({
    secrets,
    ranges,
    isDev: config.RUN_MODE === 'dev',
    onRejection: (marketplace, reason, source) => {
      measures.observe(marketplace, reason);
      deliveryLog.countRejection(marketplace, reason, source, new Date());
    },
  });
  const secret = Buffer.from((config.MARKETPLACE_EVENTS_SECRET ?? '').replace(/^whsec_/, ''), 'base64');
  const outbox = createOutbox(
    createOutboxStore(db.query, 'marketplace_event'),
    receiver === undefined ? undefined : createOutboxClient({ url: receiver, secret }),
  );
  const isDownload = /^https?:/.test(config.CLOUD_A_RANGES ?? '');
  const sweep = createSweep({
    store,
    deliveries,
    report,
    chores: [
      { name: 'secrets', everyMs: 0, run: () => secrets.refresh() },
      { name: 'rejections', everyMs: 0, run: () => deliveryLog.flush() },
      { name: 'outbox', everyMs: 0, run: (_now, laterMs) => outbox.relay(laterMs) },
      { name: 'address ranges', everyMs: isDownload ? 10 * MINUTE_MS : MINUTE_MS, run: (now) => ranges.refresh(now) },
      { name: 'unsealed options', everyMs: 0, run: () => sealedOptions.sealOlder() },
      { name: 'pruning', everyMs: 60 * MINUTE_MS, run: prune },
    ],
  });

  const linkParts = { installers, archive: createArchiver(signer), publicKey: signer.publicKey };

  return {
    deliveries,
    senders,
    claims,
    installers,
    secrets,
    deliveryLog,
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
    notificationRoutes(scope, deliveries, senders);
  }

  /** What an administrator sees of the listener, if this deployment has one. */
  function mountPlatform(scope: Scope): void {
    if (config.DEPLOYMENT !== 'marketplace') return;
    const redelivery = createRedelivery({
      deliveryLog: deliveryLogStore,
      deliveries: store,
      finish: deliveries.finish,
      report,
    });
    deliveryLogRoutes(scope, deliveryLog, redelivery);
    installerRoutes(scope, installers);
    subscriptionRoutes(scope, createSubscriptions(createSubscriptionStore(db.query), installers));
    secretRoutes(scope, secrets);
    strangerRoutes(scope, createStrangers(createStrangerStore(db.query), deliveryLog));
    marketplaceEventRoutes(scope, outbox);
    summaryRoutes(scope, createSummary(createSummaryStore(db.query), { secrets, ranges }));
  }

  /** The links are outside the listener, because customers follow them, not marketplaces. */
  function mountRoot(scope: Scope): void {
    if (config.DEPLOYMENT === 'marketplace') linkRoutes(scope, linkParts);
  }

  /** Loads what every request needs before the first one arrives; the sweep does the rest. */
  async function prepare(): Promise<void> {
    await secrets.refresh();
    if (isDownload) await ranges.prepare(new Date(), FIRST_DOWNLOAD_MS);
    else await ranges.refresh(new Date());
  }

  async function prune(now: Date): Promise<void> {
    await deliveryLog.prune(now);
    await outbox.prune(now);
  }

  async function stop(): Promise<void> {
    outbox.stop();
    await sweep.stop();
    await deliveryLog.flush().catch((error) => report('rejections were not written', error));
  }
}
