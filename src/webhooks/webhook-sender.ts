/**
 * Sends events to webhooks.
 *
 * 1. One process sends at a time: the one that holds the lease. If it does not renew it, another continues. Two at the
 *    same time would only send something twice.
 * 2. A message is stored in the transaction that moves the position, so that nothing is lost if a process ends at any
 *    moment. It is deleted from the queue only after its receiver has accepted it.
 * 3. The next event of an object is sent after the one before was accepted or given up. Other objects pass it.
 * 4. Each webhook has places of its own for messages under way, and one that fails has only one. So a receiver that is
 *    slow or dead keeps no other receiver waiting.
 * 5. What the creator may see is decided by graphs that are at least as new as the attempt.
 */
import { randomUUID } from 'node:crypto';
import { SERVER } from '../changes/audit-entry.ts';
import type { Revisions } from '../changes/revision.ts';
import type { Delivery, DisabledReason } from './webhook.ts';
import { MAX_QUEUE } from './webhook.ts';
import type { createWebhookAttempts } from './webhook-attempts.ts';
import { readChanges } from './webhook-changes.ts';
import type { Lease, Outlet, WebhookQueueStore } from './webhook-queue.ts';
import type { WebhookSight } from './webhook-sight.ts';

interface SenderParts {
  readonly store: WebhookQueueStore;
  readonly revisions: Pick<Revisions, 'current' | 'isLatest' | 'listen'>;
  readonly sight: WebhookSight;
  readonly attempts: ReturnType<typeof createWebhookAttempts>;
  /** Now and then, while this process sends. */
  readonly chores: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

const LEASE_MS = 6000;
const RENEW_EVERY_MS = 1000;
const READ_EVERY_MS = 200;
const IDLE_MS = 1000;
/** Between two questions for messages that are due. */
const TURN_MS = 20;
const RELOAD_EVERY_MS = 30_000;
const CHORES_EVERY_MS = 2000;
const AT_ONCE = 10;
const REST_MS = 1000;
const ABORT_AFTER_MS = 1500;

export function createWebhookSender({ store, revisions, sight, attempts, chores, onError }: SenderParts) {
  const holder = randomUUID();
  const outlets = new Map<bigint, Outlet>();
  const accepted = new Set<bigint>();
  const underWay = new Set<Promise<void>>();
  const cut = new AbortController();
  let isStale = true;
  let lease: Lease | undefined;
  let loadedAt = Number.NEGATIVE_INFINITY;
  let leasedAt = Number.NEGATIVE_INFINITY;
  let readAt = Number.NEGATIVE_INFINITY;
  let choresAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  let running: Promise<void> | undefined;
  let wake = () => {};
  revisions.listen({
    forget(change) {
      if (change.kind === 'webhook') markStale();
    },
    forgetAll: markStale,
  });
  return { start, stop, queued: () => [...outlets.values()].reduce((sum, { queued }) => sum + queued, 0) };

  function start(): void {
    running ??= run();
  }

  async function stop(): Promise<void> {
    isStopped = true;
    wake();
    await running;
    const timer = setTimeout(() => cut.abort(), ABORT_AFTER_MS);
    await Promise.allSettled(underWay);
    clearTimeout(timer);
    if (lease) await store.release(holder).catch(() => undefined);
  }

  function markStale(): void {
    isStale = true;
    wake();
  }

  async function run(): Promise<void> {
    let isFaulty = false;
    while (!isStopped) {
      let pauseMs = IDLE_MS;
      try {
        pauseMs = await turn(performance.now());
        isFaulty = false;
      } catch (error) {
        lease = undefined;
        if (!isFaulty) onError(error);
        isFaulty = true;
      }
      if (!isStopped) await pause(pauseMs);
    }
  }

  /** Returns how long nothing needs to be done. */
  async function turn(now: number): Promise<number> {
    if (isStale || (outlets.size > 0 && now - loadedAt > RELOAD_EVERY_MS)) await load(now);
    if (outlets.size === 0) return IDLE_MS;
    if (now - leasedAt >= RENEW_EVERY_MS || lease === undefined) await renew(now);
    if (lease === undefined) return IDLE_MS;
    let isMore = false;
    if (now - readAt >= READ_EVERY_MS) {
      readAt = now;
      await revisions.current();
      if (isStale) await load(now);
      isMore = await read(lease);
    }
    if (now - choresAt >= CHORES_EVERY_MS) {
      choresAt = now;
      await flushAccepted();
      await chores();
    }
    await dispatch(performance.now());
    return isMore ? 0 : READ_EVERY_MS;
  }

  async function load(now: number): Promise<void> {
    isStale = false;
    loadedAt = now;
    const present = await store.webhooks();
    const ids = new Set(present.map(({ id }) => id));
    for (const id of outlets.keys()) if (!ids.has(id)) outlets.delete(id);
    for (const webhook of present) {
      const known = outlets.get(webhook.id);
      // What was changed may work by now.
      if (known && known.webhook.version !== webhook.version) [known.isFailing, known.restsUntil] = [false, 0];
      if (known) known.webhook = webhook;
      else outlets.set(webhook.id, { webhook, queued: 0, underWay: new Set(), isFailing: false, restsUntil: 0 });
    }
    await count();
  }

  async function renew(now: number): Promise<void> {
    const before = lease;
    lease = await store.lease(holder, LEASE_MS);
    leasedAt = now;
    if (lease && lease.poke !== before?.poke) await count();
  }

  async function count(): Promise<void> {
    const counts = await store.counts();
    for (const [id, outlet] of outlets) {
      outlet.queued = counts.get(id) ?? 0;
      if (!outlet.isFailing) outlet.restsUntil = 0;
    }
  }

  /** Queues what has changed. Returns whether there is more. */
  async function read(held: Lease): Promise<boolean> {
    const owed = [...outlets.values()].filter(
      ({ webhook, queued }) => webhook.active && webhook.resetReason !== null && queued < MAX_QUEUE * 0.9,
    );
    if (owed.length > 0) {
      grow(await store.sendResets(owed.map(({ webhook }) => webhook.id)));
      for (const outlet of owed) outlet.webhook = { ...outlet.webhook, resetReason: null };
    }
    if (held.stamp !== null && revisions.isLatest({ revision: held.revision, stamp: held.stamp })) return false;
    const found = await readChanges({ store, sight }, held, [...outlets.values()]);
    for (const id of found.disabled) await disable(id, 'creator');
    const grown = await store.advance(holder, held.revision, found.until, found.queued);
    if (grown === undefined) {
      lease = undefined;
      return false;
    }
    lease = { ...held, revision: found.until.revision, stamp: found.until.stamp };
    grow(grown);
    const dropped = new Map(found.queued.resets.flatMap(([reason, ids]) => ids.map((id) => [id, reason] as const)));
    for (const [id, reason] of dropped) {
      const outlet = outlets.get(id);
      if (outlet) outlet.webhook = { ...outlet.webhook, resetReason: outlet.webhook.resetReason ?? reason };
    }
    return found.isMore;
  }

  function grow(ids: readonly bigint[]): void {
    for (const id of ids) {
      const outlet = outlets.get(id);
      if (!outlet) continue;
      outlet.queued += 1;
      if (!outlet.isFailing) outlet.restsUntil = 0;
    }
  }

  async function dispatch(now: number): Promise<void> {
    const wanted: [bigint, number][] = [];
    for (const [id, { webhook, queued, underWay: own, isFailing, restsUntil }] of outlets) {
      const free = (isFailing ? 1 : AT_ONCE) - own.size;
      if (webhook.active && queued > own.size && free > 0 && restsUntil <= now) wanted.push([id, free]);
    }
    if (wanted.length === 0) return;
    const without = [...outlets.values()].flatMap((outlet) => [...outlet.underWay]);
    const due = Map.groupBy(await store.due(wanted, without), ({ webhookId }) => webhookId);
    for (const [id, free] of wanted) {
      const outlet = outlets.get(id);
      const some = due.get(id) ?? [];
      // Nothing else is due, until something is queued, an attempt ends, or some time has passed.
      if (outlet && some.length < free) outlet.restsUntil = Math.max(outlet.restsUntil, now + REST_MS);
      for (const delivery of some) if (outlet) begin(outlet, delivery);
    }
  }

  function begin(outlet: Outlet, delivery: Delivery): void {
    outlet.underWay.add(delivery.id);
    const work = attempt(outlet, delivery)
      .catch(onError)
      .finally(() => {
        outlet.underWay.delete(delivery.id);
        underWay.delete(work);
        wake();
      });
    underWay.add(work);
  }

  async function attempt(outlet: Outlet, delivery: Delivery): Promise<void> {
    const outcome = await attempts.make(outlet.webhook, delivery, cut.signal);
    const { isFinal, isAccepted, disabled } = outcome;
    if (disabled) return await disable(delivery.webhookId, disabled);
    if (isFinal) outlet.queued -= 1;
    if (isAccepted) accepted.add(delivery.webhookId);
    outlet.isFailing = !isFinal;
    outlet.restsUntil = outlet.isFailing ? performance.now() + REST_MS : 0;
  }

  async function disable(id: bigint, reason: DisabledReason): Promise<void> {
    const outlet = outlets.get(id);
    if (outlet) {
      outlet.webhook = { ...outlet.webhook, active: false };
      outlet.queued = 0;
    }
    await store.disable(id, reason, SERVER);
  }

  async function flushAccepted(): Promise<void> {
    if (accepted.size === 0) return;
    const ids = [...accepted];
    accepted.clear();
    await store.delivered(ids);
  }

  /** Ends early if something is to be done, but not within a turn. */
  async function pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms).unref();
    let isWoken = false;
    wake = () => {
      if (isWoken) return;
      isWoken = true;
      clearTimeout(timer);
      // Nothing else may keep the process alive until its last turn has ended.
      setTimeout(resolve, Math.min(ms, TURN_MS));
    };
    if (isStale || isStopped) wake();
    await promise;
    wake = () => {};
  }
}
