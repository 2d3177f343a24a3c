import { writeJson } from '../base/json.ts';
import { kindOf, OBJECT_KINDS } from '../changes/object-kinds.ts';
import { type Delivery, RESET_KIND, type WebhookFormat } from './webhook.ts';

/** What is sent: the body, and what it is. */
export interface WebhookMessage {
  readonly id: string;
  readonly contentType: string;
  readonly body: string;
}

type Event = Pick<Delivery, 'event' | 'type' | 'change' | 'objectKind' | 'resetReason'>;

const PLURALS: ReadonlyMap<string, string> = new Map(
  Object.values(OBJECT_KINDS).map(({ word, plural }) => [word, word === 'user' ? 'users' : plural]),
);

/**
 * The message about an event. It names what changed, and nothing else: no contents, no names but that of the organization,
 * and not who did it. The bytes are the same for every attempt.
 */
export function messageOf(event: Event, format: WebhookFormat, baseUrl: string): WebhookMessage {
  const { change, objectKind, resetReason } = event;
  const organization =
    change.organizationId === null || change.organizationName === null
      ? null
      : { id: change.organizationId, name: change.organizationName };
  const isReset = objectKind === RESET_KIND;
  const data = {
    id: event.event,
    revision: change.revision.toString(),
    organization,
    ...(isReset ? { reason: resetReason } : { object: { type: objectKind, id: change.id } }),
  };
  const subject = isReset ? undefined : `${pluralOf(objectKind)}/${change.id}`;
  return write(
    { id: event.event, type: event.type, time: change.at, data, subject },
    format,
    sourceOf(baseUrl, organization),
  );
}

/** The message of `POST …/test`. */
export function testMessage(
  { id, format }: { readonly id: string; readonly format: WebhookFormat },
  organization: { readonly id: bigint; readonly name: string } | null,
  baseUrl: string,
  at: Date,
): WebhookMessage {
  const data = { id, organization };
  return write(
    { id, type: 'webhook.test', time: at, data, subject: undefined },
    format,
    sourceOf(baseUrl, organization),
  );
}

interface Content {
  readonly id: string;
  readonly type: string;
  readonly time: Date;
  readonly data: object;
  readonly subject: string | undefined;
}

function write({ id, type, time, data, subject }: Content, format: WebhookFormat, source: string): WebhookMessage {
  const timestamp = time.toISOString();
  if (format === 'standard') {
    return { id, contentType: 'application/json', body: writeJson({ type, timestamp, data }) };
  }
  const attributes = { specversion: '1.0', id, source, type: `dev.atrium.${type}`, ...(subject && { subject }) };
  const body = writeJson({ ...attributes, time: timestamp, datacontenttype: 'application/json', data });
  return { id, contentType: 'application/cloudevents+json', body };
}

function sourceOf(baseUrl: string, organization: { readonly name: string } | null): string {
  return organization ? `${baseUrl}/orgs/${organization.name}` : baseUrl;
}

function pluralOf(kind: string): string {
  return PLURALS.get(kind) ?? kindOf(kind)?.plural ?? `${kind}s`;
}
