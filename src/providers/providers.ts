import { AppError, invalidField } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';
import {
  changedFields,
  type NewProvider,
  newFields,
  type Provider,
  type ProviderFields,
  type ProviderInput,
  readClientSecret,
  readProviderName,
} from './provider.ts';
import type { SettingsProvider } from './provider-settings.ts';

export interface StoredProvider {
  readonly provider: Provider;
  readonly sealedSecret: Buffer | null;
}

export interface ProviderDraft extends ProviderFields {
  readonly name: string;
  readonly sealedSecret: Buffer | null;
}

/** Undefined keeps the secret. */
export type ProviderUpdate = ProviderFields & { readonly sealedSecret?: Buffer | null | undefined };

export interface ProviderStore {
  list(): Promise<Provider[]>;
  get(name: string): Promise<StoredProvider | undefined>;
  /** Undefined if the name is taken. */
  create(draft: ProviderDraft, actor: Actor, once?: Once<Provider>): Promise<Provider | undefined>;
  /** `others` are the names of the other enabled providers. They stay enabled until the change is written. */
  update(
    name: string,
    decide: (current: Provider, others: readonly string[]) => ProviderUpdate,
    actor: Actor,
  ): Promise<Provider | undefined>;
  remove(name: string, decide: (current: Provider, others: readonly string[]) => void, actor: Actor): Promise<boolean>;
}

/** Seals and opens the secrets of clients. */
export interface ClientSecrets {
  seal(name: string, secret: string): Promise<Buffer>;
  open(name: string, sealed: Buffer): Promise<string>;
}

/** A provider and what proves to it that we are its client. */
export interface KnownProvider {
  readonly provider: Provider;
  readonly clientSecret: string | undefined;
}

type Precondition = (current: Provider) => void;

export type Providers = ReturnType<typeof createProviders>;

/** The providers that people can sign in with: those of the settings, and those that administrators have added. */
export function createProviders(
  store: ProviderStore,
  settings: readonly SettingsProvider[],
  secrets: ClientSecrets,
  hasPasswords = true,
) {
  const fixed = new Map(settings.map((one) => [one.provider.name, one]));
  return { list, open, isOpen, displayNames, get, known, whole, anyEnabled, create, update, remove };

  /** Those of the settings first. One of the database that has the same name is hidden. */
  async function list(): Promise<Provider[]> {
    const stored = (await store.list()).filter(({ name }) => !fixed.has(name));
    return [...[...fixed.values()].map(({ provider }) => provider), ...stored];
  }

  /** Those that the sign-in page shows. */
  async function open(): Promise<Provider[]> {
    return (await list()).filter(({ enabled }) => enabled);
  }

  async function isOpen(name: string): Promise<boolean> {
    return (fixed.get(name) ?? (await store.get(name)))?.provider.enabled ?? false;
  }

  async function anyEnabled(): Promise<boolean> {
    return (await open()).length > 0;
  }

  async function get(name: string): Promise<Provider> {
    const found = fixed.get(name) ?? (await store.get(name));
    if (!found) throw providerNotFound();
    return found.provider;
  }

  /** What people call each of them. */
  async function displayNames(): Promise<ReadonlyMap<string, string>> {
    return new Map((await list()).map(({ name, displayName }) => [name, displayName]));
  }

  /** For signing in. One that is not enabled does not exist. */
  async function known(name: string): Promise<KnownProvider> {
    const found = await whole(name);
    if (!found.provider.enabled) throw providerNotFound();
    return found;
  }

  /** With its secret, whether it is enabled or not. */
  async function whole(name: string): Promise<KnownProvider> {
    const one = fixed.get(name);
    if (one) return one;
    const stored = await store.get(name);
    if (!stored) throw providerNotFound();
    const { provider, sealedSecret } = stored;
    return { provider, clientSecret: sealedSecret === null ? undefined : await secrets.open(name, sealedSecret) };
  }

  async function create(input: NewProvider, actor: Actor, once?: Once<Provider>): Promise<Provider> {
    const name = readProviderName(input.name);
    if (fixed.has(name)) throw nameTaken(name, 'the settings');
    const fields = newFields(input);
    const sealedSecret = (await sealed(name, input.clientSecret)) ?? null;
    const created = await store.create({ ...fields, name, sealedSecret }, actor, once);
    if (!created) throw nameTaken(name, 'another provider');
    return created;
  }

  async function update(name: string, input: ProviderInput, precondition: Precondition, actor: Actor) {
    rejectFixed(name);
    const sealedSecret = await sealed(name, input.clientSecret);
    const decide = (current: Provider, others: readonly string[]): ProviderUpdate => {
      precondition(current);
      const changed = changedFields(current, input);
      if (current.enabled && !changed.enabled) rejectLast(current, others);
      return { ...changed, sealedSecret };
    };
    const updated = await store.update(name, decide, actor);
    if (!updated) throw providerNotFound();
    return updated;
  }

  /** Linked accounts stay: if the provider is added again, users do not have to link again. */
  async function remove(name: string, precondition: Precondition, actor: Actor): Promise<void> {
    rejectFixed(name);
    const decide = (current: Provider, others: readonly string[]): void => {
      precondition(current);
      if (current.enabled) rejectLast(current, others);
    };
    if (!(await store.remove(name, decide, actor))) throw providerNotFound();
  }

  /** Without passwords, no user could sign in any more, and the next start would fail. */
  function rejectLast({ displayName }: Provider, others: readonly string[]): void {
    if (hasPasswords || [...fixed.values()].some(({ provider }) => provider.enabled)) return;
    if (others.some((name) => !fixed.has(name))) return;
    const message = `${displayName} is the last provider that people can sign in with, and PASSWORDS is off`;
    throw new AppError('conflict', `${message}: enable another one first`, { reason: 'last_provider' });
  }

  function rejectFixed(name: string): void {
    if (!fixed.has(name)) return;
    throw new AppError('conflict', `${name} comes from the setting OIDC_PROVIDERS: change it there`);
  }

  async function sealed(name: string, secret: string | null | undefined): Promise<Buffer | null | undefined> {
    return typeof secret === 'string' ? await secrets.seal(name, readClientSecret(secret)) : secret;
  }
}

function nameTaken(name: string, by: string): AppError {
  return invalidField('name', `name is taken by ${by}: ${name}`, 'name_taken');
}

export function providerNotFound(): AppError {
  return new AppError('notFound', 'provider does not exist', { reason: 'provider_not_found' });
}
