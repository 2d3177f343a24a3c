import Type from 'typebox';
import { ATTEMPT_ERRORS, type WebhookAnswer } from '../base/outbound/webhook-requests.ts';
import { principalOf } from '../changes/principal.ts';
import { Int64, maybe, named, orNull, Timestamp, timestamp } from '../http/wire/schemas.ts';
import {
  type Attempt,
  DELIVERY_STATES,
  type Delivery,
  DISABLED_REASONS,
  WEBHOOK_FORMATS,
  type WebhookFormat,
} from './webhook.ts';
import type { PublicKey, StoredWebhookKey } from './webhook-keys.ts';
import type { ShownWebhook } from './webhooks.ts';

const says = (description: string) => ({ description });
const Moment = Timestamp as typeof Timestamp & { type: string };
const MaybeMoment = (description: string) => Type.Unsafe<string | null>({ ...orNull(Moment), ...says(description) });
const Format = (description: string) =>
  Type.Unsafe<WebhookFormat>({ type: 'string', enum: [...WEBHOOK_FORMATS], ...says(description) });
const AttemptFault = Type.Unsafe<string | null>({
  ...orNull(Type.String()),
  ...says(`Why it failed: ${ATTEMPT_ERRORS.join(', ')}. Null: it did not.`),
});
const Status = Type.Unsafe<number | null>({
  ...orNull(Type.Integer()),
  ...says('What the receiver answered. Null: it did not answer.'),
});
const Duration = Type.Integer(says('How long it took, in milliseconds.'));

export const WebhookInfo = named(
  'Webhook',
  Type.Object({
    id: Int64,
    name: Type.String(says('Unique in its organization, in which case does not matter.')),
    url: Type.String(says('Where messages are sent.')),
    types: Type.Array(Type.String(), says('What it hears of: *, KIND.* or actions of the audit log.')),
    format: Format('The form of messages: standard, or cloudevents.'),
    active: Type.Boolean(says('Whether messages are sent.')),
    disabled_reason: Type.Unsafe<string | null>({
      ...orNull(Type.String()),
      ...says(`Why the server disabled it: ${DISABLED_REASONS.join(', ')}. Null: it did not.`),
    }),
    disabled_at: MaybeMoment('When the server disabled it.'),
    created_by: Type.Object(
      {
        type: Type.String(says('user or robot_ac.')),
        id: Int64,
        name: Type.String(says('Login name, or name of the robot.')),
      },
      says('Whose rights decide about its events: who created it, or changed it last.'),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
    last_delivery_at: MaybeMoment('When the receiver last accepted a message.'),
    secret: Type.Optional(
      Type.String(says('The secret that signs, after it was set or generated. It is not shown again.')),
    ),
  }),
);

const fields = {
  name: maybe(Type.String(says('Letters, digits, "-", "_" and "."; at most 100. For a new one, its host by default.'))),
  types: maybe(Type.Array(Type.String(), says('What it hears of: *, KIND.* or actions. By default, everything.'))),
  active: maybe(Type.Boolean(says('Whether messages are sent. By default, they are.'))),
  secret: maybe(
    Type.String(says('whsec_ and the base64 of 24 to 64 bytes. Null: one is generated. The former signs for a day.')),
  ),
  format: maybe(Type.String(says(`${WEBHOOK_FORMATS.join(' or ')}. By default, standard.`))),
};
export const NewWebhookBody = named(
  'NewWebhook',
  Type.Object({ url: Type.String(says('An https URL without a user and without a fragment.')), ...fields }),
);
export const EditWebhookBody = named(
  'EditWebhook',
  Type.Object({ url: maybe(Type.String(says('An https URL without a user and without a fragment.'))), ...fields }),
);

export const DeliveryInfo = named(
  'WebhookDelivery',
  Type.Object({
    id: Type.String(says('ID of the delivery.')),
    event: Type.String(says('ID of the event, as in GET /events; also the webhook-id of the message.')),
    type: Type.String(says('What happened, such as team.add_member.')),
    state: Type.String({ enum: [...DELIVERY_STATES], ...says('withheld: its creator may not see it any more.') }),
    attempts: Type.Array(
      named(
        'WebhookAttempt',
        Type.Object({ at: Timestamp, status: Status, error: AttemptFault, duration_ms: Duration }),
      ),
      says('The oldest first; at most 50.'),
    ),
    created_at: Timestamp,
    next_attempt_at: MaybeMoment('When it is tried again, if it is pending.'),
  }),
);

export const TestInfo = named(
  'WebhookTest',
  Type.Object({
    ok: Type.Boolean(says('Whether the receiver accepted the message.')),
    status: Status,
    error: AttemptFault,
    duration_ms: Duration,
  }),
);

export const SinceBody = named(
  'RedeliverSince',
  Type.Object({ since: Type.Unsafe<string>({ ...Timestamp, ...says('Events since this time are sent again.') }) }),
);
export const QueuedInfo = named('QueuedEvents', Type.Object({ queued: Type.Integer(says('How many will be sent.')) }));

export const KeysInfo = named(
  'WebhookKeys',
  Type.Object({
    keys: Type.Array(
      named(
        'WebhookKey',
        Type.Object({
          id: Type.String(says('ID of the key.')),
          public_key: Type.String(says('whpk_ and the base64 of an Ed25519 public key.')),
          use: Type.Unsafe<'webhook' | 'audit'>({
            type: 'string',
            enum: ['webhook', 'audit'],
            description: 'What it signs: messages of webhooks, or archived segments of the audit log.',
          }),
          created_at: MaybeMoment('Null: it follows from the keys of the deployment.'),
          retires_at: MaybeMoment('When it ceases to sign. Null: that is not known.'),
        }),
      ),
      says('The newest first. Signatures v1a are made with the first one.'),
    ),
  }),
);

export function presentWebhook({ webhook, secret }: ShownWebhook) {
  const { creator } = webhook;
  return {
    id: webhook.id,
    name: webhook.name,
    url: webhook.url,
    types: [...webhook.types],
    format: webhook.format,
    active: webhook.active,
    disabled_reason: webhook.disabledReason,
    disabled_at: moment(webhook.disabledAt),
    created_by: { ...principalOf(creator.id), name: creator.name },
    created_at: timestamp(webhook.createdAt),
    updated_at: timestamp(webhook.updatedAt),
    last_delivery_at: moment(webhook.lastDeliveryAt),
    ...(secret !== undefined && { secret }),
  };
}

/** Details of a connection that failed are told only about public hosts. */
export function presentDelivery(delivery: Delivery, isPublic: boolean) {
  const { id, event, type, state, attempts, createdAt, nextAttemptAt } = delivery;
  return {
    id: `dlv_${id}`,
    event,
    type,
    state,
    attempts: attempts.map((attempt) => presentAttempt(attempt, isPublic)),
    created_at: timestamp(createdAt),
    next_attempt_at: state === 'pending' ? timestamp(nextAttemptAt) : null,
  };
}

export function presentTest({ status, error, durationMs }: WebhookAnswer, isPublic: boolean) {
  return { ok: error === null, status, error: told(error, isPublic), duration_ms: durationMs };
}

export function presentKey({ kid, publicKey, createdAt, retiresAt }: StoredWebhookKey) {
  const use = 'webhook' as const;
  return { id: kid, public_key: publicKey, use, created_at: timestamp(createdAt), retires_at: moment(retiresAt) };
}

export function presentAuditKey({ id, publicKey }: PublicKey) {
  return { id, public_key: publicKey, use: 'audit' as const, created_at: null, retires_at: null };
}

function presentAttempt({ at, status, error, durationMs }: Attempt, isPublic: boolean) {
  return { at: timestamp(at), status, error: told(error, isPublic), duration_ms: durationMs };
}

function told(error: Attempt['error'], isPublic: boolean) {
  return !isPublic && (error === 'dns' || error === 'tls') ? 'connection' : error;
}

function moment(at: Date | null): string | null {
  return at === null ? null : timestamp(at);
}
