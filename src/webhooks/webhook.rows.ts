import type { AttemptError } from '../base/outbound/webhook-requests.ts';
import type { AuditAction } from '../changes/audit-actions.ts';
import type { ChangeKind } from '../changes/object-kinds.ts';
import type { RecordedChange } from '../events/visible-changes.ts';
import type { Attempt, Delivery, DeliveryState, DisabledReason, Webhook, WebhookFormat } from './webhook.ts';

export interface WebhookRow {
  id: bigint;
  uid: string;
  owner_id: bigint;
  name: string;
  url: string;
  types: string[];
  format: WebhookFormat;
  active: boolean;
  disabled_reason: DisabledReason | null;
  disabled_at: Date | null;
  sealed: Buffer;
  sealed_before: Buffer | null;
  before_until: Date | null;
  creator_id: bigint;
  creator_name: string;
  scopes: string[];
  since_revision: bigint;
  made_revision: bigint;
  reset_reason: string | null;
  created_at: Date;
  updated_at: Date;
  last_delivery_at: Date | null;
  version: number;
}

export const WEBHOOK_COLUMNS = `w.id, w.uid::text as uid, w.owner_id, w.name, w.url, w.types, w.format, w.active,
  w.disabled_reason, w.disabled_at, w.sealed, w.sealed_before, w.before_until, w.creator_id, w.scopes,
  coalesce((select a.name from account a where a.id = w.creator_id),
           (select b.name from robot b where b.id = -w.creator_id), '') as creator_name,
  w.since_revision, w.made_revision, w.reset_reason, w.created_at, w.updated_at, w.last_delivery_at, w.version`;

export function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    uid: row.uid,
    ownerId: row.owner_id,
    name: row.name,
    url: row.url,
    types: row.types,
    format: row.format,
    active: row.active,
    disabledReason: row.disabled_reason,
    disabledAt: row.disabled_at,
    creator: { id: row.creator_id, name: row.creator_name, scopes: row.scopes },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastDeliveryAt: row.last_delivery_at,
    version: row.version,
  };
}

export interface DeliveryRow {
  id: bigint;
  webhook_id: bigint;
  event: string;
  type: string;
  revision: bigint;
  place: number;
  at: Date;
  kind: ChangeKind;
  object_kind: string;
  object_id: bigint;
  organization_id: bigint | null;
  organization_name: string | null;
  reason: string | null;
  state: DeliveryState;
  attempts: { at: string; status: number | null; error: AttemptError | null; duration_ms: number }[];
  tries: number;
  first_attempt_at: Date | null;
  next_attempt_at: Date;
  created_at: Date;
}

export const DELIVERY_COLUMNS = `d.id, d.webhook_id, d.event, d.type, d.revision, d.place, d.at, d.kind, d.object_kind,
  d.object_id, d.organization_id, d.organization_name, d.reason, d.state, d.attempts, d.tries, d.first_attempt_at,
  d.next_attempt_at, d.created_at`;

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    event: row.event,
    type: row.type,
    change: toChange({ ...row, action: actionIn(row.type) }),
    objectKind: row.object_kind,
    resetReason: row.reason,
    state: row.state,
    attempts: row.attempts.map(
      ({ at, status, error, duration_ms: durationMs }): Attempt => ({ at: new Date(at), status, error, durationMs }),
    ),
    tries: row.tries,
    firstAttemptAt: row.first_attempt_at,
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
  };
}

export interface ChangeRow {
  revision: bigint;
  place: number;
  at: Date;
  action: AuditAction | null;
  kind: ChangeKind;
  object_id: bigint;
  organization_id: bigint | null;
  organization_name: string | null;
}

export function toChange(row: ChangeRow): RecordedChange {
  return {
    revision: row.revision,
    stamp: '',
    place: row.place,
    at: row.at,
    action: row.action,
    kind: row.kind,
    id: row.object_id,
    organizationId: row.organization_id,
    organizationName: row.organization_name,
  };
}

/** The type of a delivery is final. */
function actionIn(type: string): AuditAction {
  return type as AuditAction;
}
