import { randomUUID } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import { yieldToEventLoop } from '../../base/scheduling/slices.ts';
import { hashPassword } from '../../identity/passwords/passwords.ts';
import type { Links } from '../installers/links.ts';
import type { BroughtOptions, OlderDelivery, SealedOptions } from '../installers/sealed-options.ts';
import { type MarketplaceName, profileOf } from '../marketplaces.ts';
import { canonicalJson, type Json } from '../notifications/canonical-json.ts';
import { digest, type Notification, naturalKeyOf, type Reading, subjectOf } from '../notifications/notification.ts';
import { redact } from '../notifications/redaction.ts';
import { Rejection, type RejectionReason } from '../notifications/rejection.ts';
import type { Apply, Outcome } from '../subscriptions/apply.ts';
import type { DeliveryTransaction } from '../subscriptions/delivery-transaction.ts';
import { createSubjectQueue } from './subject-queue.ts';

export interface Answer {
  readonly link: string | undefined;
}

/** Where a delivery came from. */
export interface Origin {
  readonly source: string;
  readonly requestId: string;
}

export interface DeliveryDraft extends Origin {
  readonly marketplace: MarketplaceName;
  readonly naturalKey: Buffer;
  readonly subject: string;
  readonly eventType: string;
  readonly eventTime: string;
  readonly notification: string;
  readonly adminPasswordHash: string | null;
  readonly options: BroughtOptions | null;
}

/** A delivery that has just arrived, as it was read and as it is kept. */
export interface Arrival {
  readonly draft: DeliveryDraft;
  readonly notification: Notification;
}

export const DELIVERY_STATES = ['received', 'done', 'refused', 'dead'] as const;

export interface Delivery extends Origin {
  readonly id: bigint;
  readonly subject: string;
  readonly state: (typeof DELIVERY_STATES)[number];
  readonly notification: Notification;
  readonly adminPasswordHash: string | null;
  readonly receivedAt: Date;
  readonly times: number;
  readonly attempts: number;
  /** Set if an older version wrote the delivery, with options in clear text. */
  readonly older: OlderDelivery | undefined;
}

/**
 * What is kept of a delivery that is done. The link itself is not kept, because it grants access; what is kept is
 * enough to create the same link again.
 */
export interface Settled {
  readonly reason: string;
  readonly linkExpires: number | null;
}

export type Before = Settled & { readonly answered: boolean };
export type Work<T extends Settled> = (transaction: DeliveryTransaction, before: Before | undefined) => Promise<T>;

/** What became of a delivery that was acted on. */
export type Acted<T extends Settled> = { readonly settled: T } | { readonly rejection: Rejection };

export interface DeliveryStore {
  /**
   * Records a delivery that is new, and runs the `work` that belongs to it, in one transaction that it may share with
   * other deliveries. Nothing is done, and the result is undefined, if the delivery is known already, or if anything
   * fails but a rejection.
   */
  receive<T extends Settled>(
    arrival: Arrival,
    work: (delivery: Delivery) => Work<T>,
  ): Promise<{ readonly delivery: Delivery; readonly acted: Acted<T> } | undefined>;
  /** Committed when it resolves. A delivery that is already known is counted again. */
  record(draft: DeliveryDraft): Promise<Delivery>;
  /** Counts a delivery that arrived again while it was being acted on. */
  repeated(naturalKey: Buffer): Promise<void>;
  /** Returns false if there are too many rejected deliveries already, so that this one is not kept. */
  recordRejected(draft: DeliveryDraft, reason: RejectionReason, status: number, message: string): Promise<boolean>;
  isFree(installerId: string): Promise<boolean>;
  /**
   * Runs `work` in one transaction under the subject's lock. `work` gets what was settled before, if anything, and
   * whether a caller has received the answer. What it returns is settled in the same transaction as everything it did.
   */
  act<T extends Settled>(delivery: Delivery, isLive: boolean, work: Work<T>): Promise<T>;
  /** The same. `isLive` means that the marketplace is waiting for the answer: what an operator retries is kept. */
  reject(delivery: Delivery, isLive: boolean, answer: RejectedAnswer): Promise<boolean>;
  /** Another attempt failed. The next one is due after `waitMs`, which is undefined after the last one. */
  fail(id: bigint, waitMs: number | undefined): Promise<void>;
  /** The deliveries that are due `laterMs` from now. */
  undone(laterMs: number, max: number): Promise<Delivery[]>;
  get(id: bigint): Promise<Delivery | undefined>;
}

export interface RejectedAnswer {
  readonly reason: RejectionReason;
  readonly status: number;
  readonly message: string;
}

interface DeliveriesOptions {
  readonly store: DeliveryStore;
  readonly act: Apply;
  readonly links: Links;
  readonly sealedOptions: Pick<SealedOptions, 'seal' | 'sealDelivery'>;
  /** Called with every outcome of a delivery, for the metrics. */
  readonly observe: (marketplace: MarketplaceName, reason: string) => void;
  /** Called for a rejected delivery that is not kept. */
  readonly countUnkept: (marketplace: MarketplaceName, reason: RejectionReason, source: string) => void;
}

export type Deliveries = ReturnType<typeof createDeliveries>;

const PATIENCE_MS = 10_000;
export const MAX_ATTEMPTS = 10;
export const RETRY = { firstMs: 5_000, maxMs: 600_000 };
const MAX_KEPT_BODY = 16 * 1024;

/**
 * Records a delivery and acts on it, in one transaction. If that fails, it is recorded first and acted on afterwards:
 * whatever happens in between, the delivery is neither lost nor done twice.
 */
export function createDeliveries({ store, act, links, sealedOptions, observe, countUnkept }: DeliveriesOptions) {
  const inTurn = createSubjectQueue(PATIENCE_MS);
  const underWay = new Map<string, Promise<Answer>>();
  return { receive, rejectUnread, finish };

  /**
   * A repeat of a delivery that is still being acted on shares its answer, unless the marketplace rejects repeated
   * binds.
   */
  async function receive(reading: Reading, origin: Origin): Promise<Answer> {
    const { notification } = reading;
    const naturalKey = naturalKeyOf(reading, randomUUID());
    const key = naturalKey.toString('hex');
    const running = answersOnce(notification) ? undefined : underWay.get(key);
    if (running) {
      const answer = await running;
      await store.repeated(naturalKey);
      observe(notification.marketplace, 'duplicate');
      return answer;
    }
    const answer = recordAndAct(reading, naturalKey, origin).finally(() => underWay.delete(key));
    underWay.set(key, answer);
    return await answer;
  }

  async function recordAndAct(
    { notification, adminPassword, options }: Reading,
    naturalKey: Buffer,
    origin: Origin,
  ): Promise<Answer> {
    const subject = subjectOf(notification);
    return await inTurn(subject, async () => {
      const draft = {
        ...origin,
        marketplace: notification.marketplace,
        naturalKey,
        subject,
        eventType: notification.eventType,
        eventTime: notification.eventTime ?? '',
        notification: canonicalJson(notification),
        adminPasswordHash: await hashIfNeeded(notification, adminPassword),
        options: notification.binding && (await sealedOptions.seal(notification.binding.installerId, options)),
      };
      const received = await store.receive({ draft, notification }, (delivery) => workOn(delivery, true));
      if (!received) return await settle(await store.record(draft), true);
      const { delivery, acted } = received;
      if ('rejection' in acted) return await reject(delivery, true, acted.rejection);
      observe(notification.marketplace, acted.settled.reason);
      return { link: acted.settled.link };
    });
  }

  /** For the sweep and for redelivery: finishes a delivery that a crash or a fault left undone. */
  async function finish(delivery: Delivery): Promise<void> {
    await inTurn(delivery.subject, () => settle(delivery, false));
  }

  async function settle(delivery: Delivery, isLive: boolean): Promise<Answer> {
    const { id, notification } = delivery;
    // A delivery that is done is not repeated, and a report has no answer that could have changed.
    if (delivery.state === 'done' && notification.binding === null) {
      observe(notification.marketplace, 'duplicate');
      return { link: undefined };
    }
    try {
      if (delivery.older) await sealedOptions.sealDelivery(delivery.older);
      const settled = await store.act(delivery, isLive, workOn(delivery, isLive));
      observe(notification.marketplace, delivery.state === 'done' ? 'duplicate' : settled.reason);
      return { link: settled.link };
    } catch (error) {
      if (error instanceof Rejection) return await reject(delivery, isLive, error);
      observe(notification.marketplace, 'failed');
      await store.fail(id, waitAfter(delivery.attempts + 1)).catch(() => undefined);
      throw error;
    }
  }

  function workOn({ notification, adminPasswordHash, receivedAt }: Delivery, isLive: boolean): Work<Settled & Answer> {
    return async (transaction, before) => {
      if (before && notification.binding === null) return { ...before, link: undefined };
      // The sweep finished this delivery, so no caller has received the answer yet, and a second bind would be rejected
      // forever.
      const isOwed = before && !before.answered && isLive && answersOnce(notification);
      const owed =
        isOwed && notification.binding ? await transaction.installer(notification.binding.installerId) : undefined;
      const outcome: Outcome = owed?.binding
        ? { reason: 'bound', installer: owed }
        : await act(transaction, { notification, adminPasswordHash, receivedAt, isRepeat: before !== undefined });
      const given = linkFor(outcome, before?.linkExpires ?? null, transaction.now);
      return { reason: before?.reason ?? outcome.reason, ...given };
    };
  }

  async function reject(delivery: Delivery, isLive: boolean, rejection: Rejection): Promise<never> {
    const { marketplace } = delivery.notification;
    observe(marketplace, rejection.reason);
    const { reason, message } = rejection;
    const answer = { reason, status: rejection.kind === 'invalid' ? 400 : 403, message };
    const isKept = await store.reject(delivery, isLive, answer);
    if (!isKept) countUnkept(marketplace, reason, delivery.source);
    throw rejection;
  }

  /** The link that was issued before if it is still fresh, otherwise a new one. */
  function linkFor({ installer }: Outcome, before: number | null, now: Date) {
    if (!installer) return { link: undefined, linkExpires: null };
    const linkExpires = before !== null && links.isFresh(before, now) ? before : links.expiryFrom(now);
    return { link: links.make(installer, linkExpires), linkExpires };
  }

  /**
   * Hashes the password immediately, but not for an installer that cannot be bound: strangers must not be able to make
   * the server spend time on hashing.
   */
  async function hashIfNeeded({ binding }: Notification, password: string | undefined): Promise<string | null> {
    if (password === undefined || !binding || !(await store.isFree(binding.installerId))) return null;
    try {
      return await hashPassword(password);
    } catch (cause) {
      throw new AppError('unavailable', 'the password could not be hashed', { cause });
    }
  }

  /** A body that could not be understood is recorded too, as far as it is safe to keep. */
  async function rejectUnread(marketplace: MarketplaceName, body: unknown, rejection: Rejection, origin: Origin) {
    observe(marketplace, rejection.reason);
    const { reason, message } = rejection;
    const kept = body === undefined ? '' : await outlineText(body as Json);
    const notification = Buffer.byteLength(kept) > MAX_KEPT_BODY ? '' : kept;
    const naturalKey = digest(['unread', marketplace, reason, message, kept === '' ? randomUUID() : kept]);
    const nothing = { subject: '', eventType: '', eventTime: '', adminPasswordHash: null, options: null };
    const draft = { ...origin, ...nothing, marketplace, naturalKey, notification };
    const isKept = await store.recordRejected(draft, reason, 400, message);
    if (!isKept) countUnkept(marketplace, reason, origin.source);
  }
}

/** The body may have a megabyte, so each step is a slice of its own. */
async function outlineText(body: Json): Promise<string> {
  await yieldToEventLoop();
  const outline = redact(body);
  await yieldToEventLoop();
  const text = canonicalJson(outline);
  await yieldToEventLoop();
  return text;
}

function answersOnce({ marketplace }: Notification): boolean {
  return profileOf(marketplace).repeatedBind === 'rejected';
}

function waitAfter(attempts: number): number | undefined {
  return attempts >= MAX_ATTEMPTS ? undefined : Math.min(RETRY.maxMs, RETRY.firstMs * 2 ** (attempts - 1));
}
