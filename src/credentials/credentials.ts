import { AppError, invalidField } from '../base/errors.ts';
import { yieldToEventLoop } from '../base/scheduling/slices.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';
import type { Sealed, Vault } from '../vault/vault.ts';
import { membersOf, objectOf } from './json-members.ts';

/** What is known about a credential without opening it. */
export interface CredentialCard {
  readonly id: bigint;
  readonly name: string;
  readonly type: string;
  readonly version: number;
  readonly createdAt: Date;
}

/** A credential in a list that shows no secrets. */
export type CredentialSummary = Pick<CredentialCard, 'name' | 'type' | 'createdAt'> & { readonly updatedAt: Date };

export interface StoredCredential extends CredentialCard {
  readonly sealed: Sealed;
}

/** An opened credential: its spec as JSON text, exactly as it was sent. */
export interface Credential extends CredentialCard {
  readonly spec: string;
}

export interface CredentialDraft {
  readonly name: string;
  readonly type: string;
  readonly sealed: Sealed;
}

/** Throws if the credential has changed since the caller last saw it. */
export type Precondition = (current: CredentialCard) => void;

export interface CredentialStore {
  list(ownerId: bigint): Promise<StoredCredential[]>;
  /** Does not even read what is sealed. */
  summaries(ownerId: bigint): Promise<CredentialSummary[]>;
  get(ownerId: bigint, name: string): Promise<StoredCredential | undefined>;
  /** Undefined if the name is taken. */
  create(draft: CredentialDraft, actor: Actor, once?: Once<CredentialCard>): Promise<CredentialCard | undefined>;
  /** Undefined if there is no credential with that name. */
  update(draft: CredentialDraft, precondition: Precondition, actor: Actor): Promise<CredentialCard | undefined>;
  remove(name: string, precondition: Precondition, actor: Actor): Promise<boolean>;
}

export interface CredentialFilter {
  /** Types to include, in lower case; an empty list includes all. */
  readonly types: readonly string[];
  readonly managementEndpoint?: string | undefined;
}

export type Credentials = ReturnType<typeof createCredentials>;

const NAME = /^[A-Za-z0-9._-]{1,100}$/;
const MAX_TYPE = 100;
const LONG = 16 * 1024;
/** Platforms that manage their own clusters, each at its own address. */
const MANAGEMENT_TYPES = new Set(['rancher']);

/**
 * The keys to users' clouds. The spec belongs to the user: only its name, its type and the endpoint of a management
 * platform are read here, and it is stored sealed.
 */
export function createCredentials(store: CredentialStore, vault: Pick<Vault, 'seal' | 'open'>) {
  return { list, summaries, get, create, update, remove };

  async function summaries(ownerId: bigint, filter: CredentialFilter): Promise<CredentialSummary[]> {
    if (filter.managementEndpoint) {
      const message = 'mgmt_endpoint cannot be combined with summary, because endpoints are among the secrets';
      throw invalidField('mgmt_endpoint', message);
    }
    return ofTypes(await store.summaries(ownerId), filter);
  }

  async function list(ownerId: bigint, filter: CredentialFilter): Promise<Credential[]> {
    const stored = ofTypes(await store.list(ownerId), filter);
    const { managementEndpoint } = filter;
    const found: Credential[] = [];
    // Each may have a megabyte, so other requests are served in between.
    for (const one of stored) {
      const opened = await open(ownerId, one);
      if (!managementEndpoint || isManagedAt(opened, managementEndpoint)) found.push(opened);
      if (one.sealed.length > LONG) await yieldToEventLoop();
    }
    return found;
  }

  async function get(ownerId: bigint, name: string): Promise<Credential> {
    const stored = await store.get(ownerId, name);
    if (!stored) throw credentialNotFound();
    return await open(ownerId, stored);
  }

  async function create(actor: Actor, spec: string, once?: Once<CredentialCard>): Promise<CredentialCard> {
    const made = await store.create(await draftOf(actor.id, spec), actor, once);
    if (!made) throw invalidField('name', 'name is taken by another of your credentials', 'name_taken');
    return made;
  }

  async function update(actor: Actor, spec: string, precondition: Precondition): Promise<CredentialCard> {
    const changed = await store.update(await draftOf(actor.id, spec), precondition, actor);
    if (!changed) throw credentialNotFound();
    return changed;
  }

  async function remove(actor: Actor, name: string, precondition: Precondition): Promise<void> {
    if (!(await store.remove(name, precondition, actor))) throw credentialNotFound();
  }

  /** Reading the body, reading the spec and storing it are slices of their own. */
  async function draftOf(ownerId: bigint, text: string): Promise<CredentialDraft> {
    if (text.length > LONG) await yieldToEventLoop();
    const { name, type, spec } = readSpec(text);
    if (text.length > LONG) await yieldToEventLoop();
    return { name, type, sealed: await vault.seal(ownerId, identityOf(name), spec) };
  }

  async function open(ownerId: bigint, { sealed, ...card }: StoredCredential): Promise<Credential> {
    return { ...card, spec: (await vault.open(ownerId, identityOf(card.name), sealed)).toString() };
  }
}

function ofTypes<One extends { readonly type: string }>(all: One[], { types }: CredentialFilter): One[] {
  return all.filter(({ type }) => types.length === 0 || types.includes(type.toLowerCase()));
}

export function identityOf(name: string): string {
  return `credential ${name}`;
}

/** Reads the spec from a text that is valid JSON; throws if it cannot be kept. */
function readSpec(text: string): { name: string; type: string; spec: string } {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidField('body', 'credential must be a JSON object');
  }
  const { name, type } = value as { name?: unknown; type?: unknown };
  if (name === undefined) throw invalidField('name', 'name is required');
  // The names `.` and `..` would vanish from a path.
  if (typeof name !== 'string' || !NAME.test(name) || /^\.\.?$/.test(name)) {
    throw invalidField('name', 'name must be 1 to 100 letters, digits, ".", "_" or "-"');
  }
  // Callers who edit what they read send the timestamp back; it is ours, so it is dropped.
  const spec = objectOf(membersOf(text).filter(({ key }) => key !== 'creationTimestamp'));
  return { name, type: typeof type === 'string' && type.length <= MAX_TYPE ? type : '', spec };
}

/**
 * Management platforms at other addresses are of no use to a caller who asks for one address; everything else stays.
 */
function isManagedAt({ type, spec }: Credential, endpoint: string): boolean {
  if (!MANAGEMENT_TYPES.has(type.toLowerCase())) return true;
  const { rancher, endpoint: own } = JSON.parse(spec) as {
    rancher?: { endpoint?: unknown } | null;
    endpoint?: unknown;
  };
  return [rancher?.endpoint ?? own].some((one) => typeof one === 'string' && sameAddress(one, endpoint));
}

function sameAddress(one: string, other: string): boolean {
  const bare = (text: string) => (URL.parse(text.trim())?.href ?? text.trim()).replace(/\/+$/, '');
  return bare(one) === bare(other);
}

function credentialNotFound(): AppError {
  return new AppError('notFound', 'credential not found', { reason: 'credential_not_found' });
}
