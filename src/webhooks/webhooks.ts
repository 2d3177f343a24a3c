import { randomBytes, randomUUID } from 'node:crypto';
import { AppError, invalidField } from '../base/errors.ts';
import { readResourceName } from '../base/fields.ts';
import { readSecret, secretText } from '../base/signature-headers.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';
import type { Vault } from '../vault/vault.ts';
import { WEBHOOK_FORMATS, type Webhook, type WebhookCreator, type WebhookDraft } from './webhook.ts';
import { faultInTypes } from './webhook-types.ts';
import { nameFor, type WebhookAddresses } from './webhook-url.ts';

export interface WebhookInput {
  readonly name?: string | undefined;
  readonly url?: string | undefined;
  readonly types?: readonly string[] | undefined;
  readonly format?: string | undefined;
  readonly active?: boolean | undefined;
  /** Null: a new one is generated. */
  readonly secret?: string | null | undefined;
}

/** A secret that signs, and until when. Null: until it is replaced. */
export interface SealedSecret {
  readonly sealed: Buffer;
  readonly until: Date | null;
}

/** A secret that is bound to a webhook before that exists. */
export interface SealedNew {
  readonly uid: string;
  readonly sealed: Buffer;
}

export interface NewWebhook extends SealedNew {
  readonly ownerId: bigint;
  /** If its name is not given, it is the first of the host's that is free. */
  readonly draft: WebhookDraft;
  readonly isNameGiven: boolean;
  readonly creator: WebhookCreator;
}

export interface WebhookStore {
  list(ownerId: bigint): Promise<Webhook[]>;
  get(ownerId: bigint, id: bigint): Promise<Webhook | undefined>;
  /** The newest first. */
  secrets(ownerId: bigint, id: bigint): Promise<SealedSecret[] | undefined>;
  create(made: NewWebhook, actor: Actor, once?: Once<Webhook>): Promise<Webhook | 'name taken' | undefined>;
  update(
    ownerId: bigint,
    id: bigint,
    decide: (current: Webhook) => WebhookDraft,
    creator: WebhookCreator,
    sealed: Buffer | undefined,
    actor: Actor,
  ): Promise<Webhook | 'name taken' | undefined>;
  remove(ownerId: bigint, id: bigint, decide: (current: Webhook) => void, actor: Actor): Promise<boolean>;
}

/** The caller who changes a webhook, and how far their credential goes. */
export interface WebhookCaller {
  readonly ownerId: bigint;
  readonly creator: WebhookCreator;
  readonly actor: Actor;
}

/** With the secret, which is shown once: to the caller who has set it or had it generated. */
export interface ShownWebhook {
  readonly webhook: Webhook;
  readonly secret?: string;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

const GENERATED_BYTES = 32;

/** Webhooks of organizations and of the deployment. */
export function createWebhooks(store: WebhookStore, vault: Pick<Vault, 'seal' | 'open'>, addresses: WebhookAddresses) {
  return { list: store.list, get, create, update, remove, secretsOf, check, sealNew };

  async function get(ownerId: bigint, id: bigint): Promise<Webhook> {
    return found(await store.get(ownerId, id));
  }

  async function create(
    { ownerId, creator, actor }: WebhookCaller,
    input: WebhookInput & { readonly url: string },
    once?: Once<ShownWebhook>,
  ): Promise<ShownWebhook> {
    const { url, types = ['*'], format = 'standard', active = true } = input;
    const name = input.name === undefined ? nameFor(url) : readResourceName(input.name);
    const draft = checked({ name, url, types, format, active });
    const secret = secretFrom(input.secret ?? null);
    const { uid, sealed } = await sealedFor(ownerId, secret);
    const shown = (webhook: Webhook): ShownWebhook => ({ webhook, secret: secretText(secret) });
    const kept: Once<Webhook> | undefined = once && {
      begin: once.begin,
      keep: (query, webhook) => once.keep(query, shown(webhook)),
    };
    const webhook = await store.create(
      { ownerId, uid, draft, isNameGiven: input.name !== undefined, creator, sealed },
      actor,
      kept,
    );
    if (!webhook) throw new AppError('notFound', 'organization does not exist', { reason: 'organization_not_found' });
    return shown(named(webhook));
  }

  async function update(
    { ownerId, creator, actor }: WebhookCaller,
    id: bigint,
    input: WebhookInput,
    precondition: (current: Webhook) => void,
  ): Promise<ShownWebhook> {
    const { uid } = await get(ownerId, id);
    const secret = input.secret === undefined ? undefined : secretFrom(input.secret);
    const sealed = secret && (await vault.seal(ownerId, secretIdentity(uid), secret));
    const decide = (current: Webhook) => {
      precondition(current);
      const { name, url, types, format, active } = current;
      return checked({
        name: input.name === undefined ? name : readResourceName(input.name),
        url: input.url ?? url,
        types: input.types ?? types,
        format: input.format ?? format,
        active: input.active ?? active,
      });
    };
    const webhook = named(found(await store.update(ownerId, id, decide, creator, sealed, actor)));
    return secret ? { webhook, secret: secretText(secret) } : { webhook };
  }

  async function remove(
    { ownerId, actor }: WebhookCaller,
    id: bigint,
    precondition: (current: Webhook) => void,
  ): Promise<void> {
    if (!(await store.remove(ownerId, id, precondition, actor))) throw notFound();
  }

  /** Those that sign now: the present one, and for a day the one before it. */
  async function secretsOf({ ownerId, id, uid }: Webhook, now: Date): Promise<Buffer[]> {
    const sealed = found(await store.secrets(ownerId, id));
    const valid = sealed.filter(({ until }) => until === null || until > now);
    return await Promise.all(valid.map((one) => vault.open(ownerId, secretIdentity(uid), one.sealed)));
  }

  /** A webhook of a file, or what is wrong with it. */
  function check(draft: WebhookDraft): WebhookDraft {
    return checked({ ...draft, name: readResourceName(draft.name) });
  }

  /** For a webhook that is created in a transaction, where nothing can be sealed. No caller ever sees this secret. */
  async function sealNew(ownerId: bigint): Promise<SealedNew> {
    return await sealedFor(ownerId, secretFrom(null));
  }

  async function sealedFor(ownerId: bigint, secret: Buffer): Promise<SealedNew> {
    const uid = randomUUID();
    return { uid, sealed: await vault.seal(ownerId, secretIdentity(uid), secret) };
  }

  function checked({ format: wanted, ...draft }: Omit<WebhookDraft, 'format'> & { format: string }): WebhookDraft {
    const format = WEBHOOK_FORMATS.find((one) => one === wanted);
    if (!format) throw invalidField('format', `format must be ${WEBHOOK_FORMATS.join(' or ')}`);
    const faultInUrl = addresses.faultIn(draft.url);
    if (faultInUrl !== undefined) throw invalidField('url', faultInUrl);
    const faultInList = faultInTypes(draft.types);
    if (faultInList !== undefined) throw invalidField('types', faultInList);
    return { ...draft, format, types: [...new Set(draft.types)] };
  }
}

export function secretIdentity(uid: string): string {
  return `webhook ${uid}`;
}

function secretFrom(text: string | null): Buffer {
  if (text === null) return randomBytes(GENERATED_BYTES);
  const secret = readSecret(text);
  if (!secret) throw invalidField('secret', 'secret must be whsec_ and the base64 of 24 to 64 bytes');
  return secret;
}

function found<T>(outcome: T | undefined): T {
  if (outcome === undefined) throw notFound();
  return outcome;
}

function named<T>(outcome: T | 'name taken'): T {
  if (outcome === 'name taken') throw invalidField('name', 'name is taken by another webhook', 'name_taken');
  return outcome;
}

function notFound(): AppError {
  return new AppError('notFound', 'webhook does not exist', { reason: 'webhook_not_found' });
}
