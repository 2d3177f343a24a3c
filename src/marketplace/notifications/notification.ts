import { createHash } from 'node:crypto';
import { type MarketplaceName, profileOf } from '../marketplaces.ts';
import { type ApplicationId, readApplicationId } from './application-id.ts';
import { type BindingInfo, readBindingInfo } from './binding-info.ts';
import { canonicalJson, isObject, type Json, type JsonObject } from './canonical-json.ts';
import { type EventTime, readEventTime } from './event-time.ts';
import { invalid } from './rejection.ts';

/** A notification as it was understood: checked, without unknown fields and without secrets. */
export interface Notification {
  readonly marketplace: MarketplaceName;
  readonly eventType: string;
  /** Null if the marketplace did not send one; the time of arrival is used instead. */
  readonly eventTime: EventTime | null;
  readonly binding: BindingInfo | null;
  readonly application: ApplicationId | null;
  readonly provisioningState: string;
  readonly plan: JsonObject | null;
  readonly resourceUsageId: string | null;
  readonly error: JsonObject | null;
}

export interface Reading {
  readonly notification: Notification;
  readonly adminPassword: string | undefined;
  readonly options: JsonObject;
}

const LIFECYCLE_TYPES = ['PUT', 'DELETE', 'BIND'];
const MAX_TEXT = 256;
const NOTHING = { application: null, provisioningState: '', plan: null, resourceUsageId: null, error: null };

export function readNotification(marketplace: MarketplaceName, body: unknown): Reading {
  if (!isObject(body)) throw invalid('malformed', 'body must be a JSON object');
  return profileOf(marketplace).hasLifecycle ? readLifecycle(marketplace, body) : readBind(marketplace, body);
}

/** A marketplace without a lifecycle only sends binds, whatever it calls them. */
function readBind(marketplace: MarketplaceName, body: JsonObject): Reading {
  const eventType = text(body, 'eventType') ?? '';
  const { info, ...apart } = readBindingInfo(body.bindingInfo, marketplace);
  const notification = { ...NOTHING, marketplace, eventType, eventTime: time(body), binding: info };
  return { notification, ...apart };
}

function readLifecycle(marketplace: MarketplaceName, body: JsonObject): Reading {
  const eventType = text(body, 'eventType') ?? '';
  if (!LIFECYCLE_TYPES.includes(eventType)) {
    throw invalid('unknown_event_type', `unknown event type ${JSON.stringify(eventType)}: must be PUT, DELETE or BIND`);
  }
  const application = readApplicationId(text(body, 'applicationId', 1024) ?? '');
  if (!application) {
    throw invalid(
      'invalid_subscription',
      'applicationId must be /subscriptions/{guid}/resourceGroups/{group}/providers/Microsoft.Solutions/applications/{name}',
    );
  }
  const bind = eventType === 'BIND' ? readBindingInfo(body.bindingInfo, marketplace) : undefined;
  const notification = {
    marketplace,
    eventType,
    eventTime: time(body),
    binding: bind?.info ?? null,
    application,
    provisioningState: text(body, 'provisioningState') ?? '',
    plan: isObject(body.plan) ? body.plan : null,
    resourceUsageId: usageId(body.billingDetails),
    error: isObject(body.error) ? body.error : null,
  };
  return { notification, adminPassword: bind?.adminPassword, options: bind?.options ?? {} };
}

function usageId(details: Json | undefined): string | null {
  const id = isObject(details) ? details.resourceUsageId : undefined;
  return typeof id === 'string' ? id.slice(0, MAX_TEXT) : null;
}

function text(body: JsonObject, name: string, maxLength = MAX_TEXT): string | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw invalid('malformed', `${name} must be a string`);
  if (value.length > maxLength) throw invalid('malformed', `${name} is too long`);
  return value;
}

function time(body: JsonObject): EventTime | null {
  const given = body.eventTime ?? undefined;
  if (given === undefined) return null;
  const read = typeof given === 'string' ? readEventTime(given) : undefined;
  if (read === undefined) throw invalid('invalid_event_time', 'eventTime must be an RFC 3339 date and time');
  return read;
}

/**
 * What two deliveries of the same event have in common. `fresh` replaces a missing event time: without one, nothing
 * distinguishes two events.
 */
export function naturalKeyOf({ notification, options }: Omit<Reading, 'adminPassword'>, fresh: string): Buffer {
  const { marketplace, eventType, application, binding, provisioningState, eventTime } = notification;
  if (binding !== null) {
    return digest([
      'bind',
      { ...notification, application: application?.key ?? null, binding: { ...binding, options } },
    ]);
  }
  return digest(['event', marketplace, application?.key ?? '', eventType, provisioningState, eventTime ?? fresh]);
}

/** Deliveries about the same subject are acted on one at a time. */
export function subjectOf({ marketplace, application, binding }: Notification): string {
  return `${marketplace}:${application?.key ?? binding?.installerId ?? ''}`;
}

export function digest(parts: readonly unknown[]): Buffer {
  return createHash('sha256').update(canonicalJson(parts)).digest();
}
