import { Counter, Gauge } from 'prom-client';
import type { Judge } from '../authz/judge.ts';
import { createMailer } from '../base/mail/mailer.ts';
import { createWebhookRequests } from '../base/outbound/webhook-requests.ts';
import { createExactCache } from '../changes/exact-cache.ts';
import { createVisibleChanges, type VisibleRequests } from '../events/visible-changes.ts';
import { createAllowance } from '../http/limits/allowance.ts';
import type { Scope } from '../http/server.ts';
import { createCallerStore } from '../identity/callers.store.ts';
import type { Person } from '../identity/callers.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createWebhookAttempts } from './webhook-attempts.ts';
import { createWebhookDeliveryStore } from './webhook-deliveries.store.ts';
import { createWebhookDeliveries } from './webhook-deliveries.ts';
import { createWebhookKeyStore } from './webhook-keys.store.ts';
import { createWebhookKeys, type PublicKey } from './webhook-keys.ts';
import { createWebhookNoticeStore } from './webhook-notices.store.ts';
import { createWebhookNotices } from './webhook-notices.ts';
import { createWebhookQueueStore } from './webhook-queue.store.ts';
import { createWebhookSender } from './webhook-sender.ts';
import { createWebhookSight } from './webhook-sight.ts';
import { createWebhookAddresses } from './webhook-url.ts';
import { webhookKeyRoutes, webhookRoutes } from './webhooks.routes.ts';
import { createWebhookStore } from './webhooks.store.ts';
import { createWebhooks } from './webhooks.ts';

const TESTS = 10;
const TESTS_MS = 60_000;
const MAX_CREATORS = 10_000;
const PRUNE_EVERY_MS = 3_600_000;

/** Webhooks: what was changed is sent to other systems. */
export function wireWebhooks(
  infrastructure: Infrastructure,
  judge: Judge,
  visibleRequests: VisibleRequests,
  auditKey: PublicKey,
) {
  const { db, vault, revisions, quotas, config, share, baseUrl, log, metrics } = infrastructure;
  const { WEBHOOK_ALLOWED_NETWORKS: networks, EVENT_RETENTION: eventDays } = config;
  const callerStore = createCallerStore(db);
  const people = createExactCache<Person>({
    revisions,
    load: (id) => callerStore.byId(BigInt(id)),
    dependsOn: ({ id }) => [id],
    max: MAX_CREATORS,
  });
  const sight = createWebhookSight({
    visible: createVisibleChanges(judge, visibleRequests),
    personWithId: (id) => people.get(String(id)),
  });
  const addresses = createWebhookAddresses(networks);
  const send = createWebhookRequests(networks);
  const keys = createWebhookKeys(createWebhookKeyStore(db), vault);
  const webhooks = createWebhooks(createWebhookStore(db, revisions.write, quotas), vault, addresses);
  const deliveries = createWebhookDeliveries({
    store: createWebhookDeliveryStore(db),
    ...{ sight, send, baseUrl, eventDays },
    secretsOf: webhooks.secretsOf,
    signingKeys: keys.signing,
    current: revisions.current,
  });
  const registers = [metrics.registry];
  const attempted = new Counter({
    name: 'atrium_webhook_attempts_total',
    help: 'Attempts to deliver an event to a webhook.',
    labelNames: ['result'],
    registers,
  });
  const queue = createWebhookQueueStore(db, revisions.write);
  const notices = createWebhookNotices(createWebhookNoticeStore(db), createMailer(config, log), baseUrl);
  const attempts = createWebhookAttempts({
    store: queue,
    ...{ sight, revisions, vault, send, baseUrl },
    signingKeys: keys.signing,
    observe: (result) => attempted.inc({ result }),
  });
  let prunedAt = Number.NEGATIVE_INFINITY;
  const sender = createWebhookSender({
    store: queue,
    ...{ revisions, sight, attempts },
    chores: async () => {
      await notices.send();
      if (performance.now() - prunedAt < PRUNE_EVERY_MS) return;
      prunedAt = performance.now();
      await queue.prune(eventDays);
    },
    onError: (error) => log.warn({ err: error }, 'webhooks cannot be sent; trying again'),
  });
  new Gauge({
    name: 'atrium_webhook_queue',
    help: 'Events that wait to be delivered to webhooks, on the process that sends them.',
    registers,
    collect() {
      this.set(sender.queued());
    },
  });
  const tests = share('webhook tests', createAllowance(TESTS, TESTS_MS));
  return {
    webhooks,
    deliveries,
    sender,
    rotateKey: keys.rotate,
    mount: (scope: Scope) => webhookRoutes(scope, { webhooks, deliveries, addresses, tests, baseUrl }),
    mountRoot: (scope: Scope) => webhookKeyRoutes(scope, keys, auditKey),
  };
}
