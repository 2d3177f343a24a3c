import { randomUUID } from 'node:crypto';
import { AppError, invalidField } from '../base/errors.ts';
import { readLineField, readSet, readUuid } from '../base/fields.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';

export interface ContractDraft {
  readonly name: string;
  readonly product: string;
  readonly features: readonly string[];
  /** The UIDs of the clusters that it covers; the clusters may be imported later, or may be gone. */
  readonly clusterUids: readonly string[];
  readonly startsAt: Date;
  /** Null if it never ends. */
  readonly endsAt: Date | null;
  readonly revokedAt: Date | null;
  readonly quota: Readonly<Record<string, number>>;
}

export interface Contract extends ContractDraft {
  readonly id: bigint;
  readonly uid: string;
  readonly ownerId: bigint;
  /** A marketplace created it, for an installer. */
  readonly isSold: boolean;
  readonly version: number;
}

export interface ContractInput extends Partial<Omit<ContractDraft, 'revokedAt'>> {
  readonly revoked?: boolean;
}

/** The caller, and the time of the request. */
export interface Asking {
  readonly actor: Actor;
  readonly isAdmin: boolean;
  readonly now: Date;
}

export interface ContractStore {
  /** `among` are the only ones that may be shown, if not all may. */
  list(
    ownerId: bigint,
    name: string | undefined,
    request: PageRequest,
    among?: readonly bigint[],
  ): Promise<Page<Contract>>;
  get(ownerId: bigint, id: bigint): Promise<Contract | undefined>;
  create(
    ownerId: bigint,
    uid: string,
    draft: ContractDraft,
    actor: Actor,
    once?: Once<Contract>,
  ): Promise<Contract | undefined>;
  update(
    ownerId: bigint,
    id: bigint,
    decide: (current: Contract) => ContractDraft,
    actor: Actor,
  ): Promise<Contract | undefined>;
  remove(ownerId: bigint, id: bigint, decide: (current: Contract) => void, actor: Actor): Promise<boolean>;
}

export type Contracts = ReturnType<typeof createContracts>;

const MAX_NAME = 255;
const MAX_PRODUCT = 256;
const MAX_FEATURE = 100;
const MAX_KINDS = 100;
const KIND = /^[0-9A-Za-z][-./\w]{0,99}$/;

/** Contracts: what an organization may use, of which product, and for which period. */
export function createContracts(store: ContractStore) {
  return { list: store.list, get, create, update, remove };

  async function get(ownerId: bigint, id: bigint): Promise<Contract> {
    return found(await store.get(ownerId, id));
  }

  async function create(
    ownerId: bigint,
    input: ContractInput & { name: string },
    { actor, now }: Asking,
    once?: Once<Contract>,
  ): Promise<Contract> {
    const none = { features: [], clusterUids: [], startsAt: now, endsAt: null, revokedAt: null, quota: {} };
    const draft = draftOf({ ...none, name: '', product: '' }, input, now);
    const made = await store.create(ownerId, randomUUID(), draft, actor, once);
    if (!made) throw new AppError('notFound', 'organization does not exist', { reason: 'organization_not_found' });
    return made;
  }

  async function update(
    ownerId: bigint,
    id: bigint,
    input: ContractInput,
    precondition: (current: Contract) => void,
    { actor, isAdmin, now }: Asking,
  ): Promise<Contract> {
    const decide = (current: Contract) => {
      precondition(current);
      if (current.isSold && !isAdmin) rejectTerms(input);
      return draftOf(current, input, now);
    };
    return found(await store.update(ownerId, id, decide, actor));
  }

  async function remove(ownerId: bigint, id: bigint, precondition: (current: Contract) => void, actor: Actor) {
    const decide = (current: Contract) => {
      precondition(current);
      // Its installer, and further notifications about the subscription, depend on it.
      if (current.isSold)
        throw new AppError('conflict', 'the contract belongs to a marketplace: it can only be revoked');
    };
    if (!(await store.remove(ownerId, id, decide, actor))) throw notFound();
  }
}

/** The customer cannot change the terms of what was sold. */
function rejectTerms({ name: _name, ...terms }: ContractInput): void {
  if (Object.values(terms).every((term) => term === undefined)) return;
  throw new AppError(
    'forbidden',
    'only a site administrator can change the terms of a contract that a marketplace created',
  );
}

function draftOf(current: ContractDraft, input: ContractInput, now: Date): ContractDraft {
  const { name, product, features, clusterUids, quota } = input;
  const { startsAt = current.startsAt, endsAt = current.endsAt } = input;
  if (endsAt && endsAt <= startsAt) throw invalidField('end', 'end must be after start');
  return {
    name: name === undefined ? current.name : readLineField('name', name, MAX_NAME, 1),
    product: product === undefined ? current.product : readLineField('product', product, MAX_PRODUCT),
    features: features ? readSet(features, (one) => readLineField('features', one, MAX_FEATURE, 1)) : current.features,
    clusterUids: clusterUids ? readSet(clusterUids, (one) => readUuid('clusters', one)) : current.clusterUids,
    startsAt,
    endsAt,
    revokedAt: readRevoked(current.revokedAt, input.revoked, now),
    quota: quota ? readQuota(quota) : current.quota,
  };
}

function readRevoked(revokedAt: Date | null, revoked: boolean | undefined, now: Date): Date | null {
  if (revoked === false && revokedAt)
    throw invalidField('revoked', 'a revoked contract cannot be reinstated: create a new one');
  return revoked ? (revokedAt ?? now) : revokedAt;
}

function readQuota(quota: Readonly<Record<string, number>>): Record<string, number> {
  const kinds = Object.entries(quota);
  if (kinds.length > MAX_KINDS) throw invalidField('quota', `quota must have at most ${MAX_KINDS} entries`);
  for (const [kind, amount] of kinds) {
    if (!KIND.test(kind))
      throw invalidField('quota', 'quota names must consist of letters, digits, "-", "_", "." and "/"');
    if (!Number.isSafeInteger(amount) || amount < 0)
      throw invalidField('quota', `quota ${kind} must be a non-negative integer`);
  }
  return { ...quota };
}

function found(contract: Contract | undefined): Contract {
  if (!contract) throw notFound();
  return contract;
}

function notFound(): AppError {
  return new AppError('notFound', 'contract does not exist', { reason: 'contract_not_found' });
}
