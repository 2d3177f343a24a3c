import { createHash } from 'node:crypto';
import type { ModelJson } from '../../../packages/rebac/src/rebac.ts';
import { AppError } from '../../base/errors.ts';

/** A tuple as the server knows it. */
export interface ServerTuple {
  readonly object: string;
  readonly relation: string;
  readonly user: string;
}

/** A question about one relation. */
export interface ServerCheck extends ServerTuple {
  /** A fact that is in no store, for this question only. */
  readonly contextual?: ServerTuple;
}

/** One write: all of it happens, or nothing. */
export interface ServerWrite {
  readonly writes: readonly ServerTuple[];
  readonly deletes: readonly ServerTuple[];
}

/** A store of the server, and the model in it that questions are about. */
export interface ServerStore {
  readonly storeId: string;
  readonly modelId: string;
}

/** What an OpenFGA server does for us. Every function throws `unavailable` if the server does not do it in time. */
export interface OpenFgaServer {
  /** A new store with our model and nothing else. */
  create(): Promise<ServerStore>;
  /** The fence in a store; undefined if the store or the fence is not there. */
  fence(store: ServerStore): Promise<string | undefined>;
  /** `rejected` if a tuple to be written is there already, or one to be deleted is not: then nothing has happened. */
  write(store: ServerStore, write: ServerWrite): Promise<'done' | 'rejected'>;
  /** The answers in order, at most MAX_CHECKS of them; undefined if the store or its model is not there. */
  check(store: ServerStore, checks: readonly ServerCheck[]): Promise<boolean[] | undefined>;
  /** All tuples of a store, a page at a time. */
  read(store: ServerStore): AsyncIterable<readonly ServerTuple[]>;
}

/** By default, a server accepts as many in one call. */
export const MAX_CHECKS = 50;
export const MAX_TUPLES = 100;

/** Users and the deployment itself have the same name everywhere: what they hold is said by tuples about other things. */
const SHARED = /^(?:user|platform):/;

/**
 * The name of an object or a subject in the store. All accounts share one store, and each has a graph of its own: an ID
 * that is asked about in the wrong organization must lead nowhere. So a name contains the account whose graph it is in.
 */
export function nameIn(accountId: bigint, name: string): string {
  return SHARED.test(name) ? name : name.replace(':', `:${accountId}/`);
}

export function tupleIn(accountId: bigint, { object, relation, user }: ServerTuple): ServerTuple {
  return { object: nameIn(accountId, object), relation, user: nameIn(accountId, user) };
}

/**
 * A fence says which write was the last. Each write deletes the fence of the one before and leaves its own, and fails
 * as a whole if the fence is not there. So a write that was overtaken, by a process that was paused or in a network
 * that was slow, has no effect.
 */
const FENCE = { object: 'publication:atrium', relation: 'latest' } as const;
const FENCE_TYPE = {
  type: 'publication',
  relations: { latest: { this: {} } },
  metadata: { relations: { latest: { directly_related_user_types: [{ type: 'publication' }] } } },
};

export function fenceTuple(fence: string): ServerTuple {
  return { ...FENCE, user: `publication:${fence}` };
}

export function fenceOf({ object, relation, user }: ServerTuple): string | undefined {
  return object === FENCE.object && relation === FENCE.relation ? user.slice('publication:'.length) : undefined;
}

/** Our model as the store gets it, and a name for it: a release with another model has another store. */
export function storeModel(json: ModelJson): { readonly json: ModelJson; readonly hash: string } {
  const extended = { ...json, type_definitions: [...json.type_definitions, FENCE_TYPE] };
  return { json: extended, hash: createHash('sha256').update(JSON.stringify(extended)).digest('hex') };
}

export function openFgaFailed(why: string, cause?: unknown): AppError {
  return new AppError('unavailable', `OpenFGA cannot be used: ${why}`, { retryAfter: 1, cause });
}
