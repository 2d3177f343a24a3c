import type { ServerStore, ServerTuple, ServerWrite } from './openfga-server.ts';
import type { TupleChange } from './tuple-difference.ts';

/** A store of an OpenFGA server that has just been created, and the first fence in it. */
export interface NewStore extends ServerStore {
  readonly fence: string;
}

/** What our database knows about the store of the server. */
export interface Publication extends NewStore {
  readonly id: bigint;
  /** Everything up to this revision is in the store; NOTHING before it was filled for the first time. */
  readonly published: bigint;
  /** The write that is under way. It must arrive as it is before there is another one. */
  readonly pending: { readonly write: ServerWrite; readonly fence: string } | undefined;
}

export const NOTHING = -1n;

/** Changes, and the revision of the rows that they come from. */
export interface Changes {
  readonly revision: bigint;
  readonly changes: readonly TupleChange[];
}

/** A part of the changes that is small enough for one write. */
export interface Part extends Changes {
  readonly write: ServerWrite;
  readonly fence: string;
}

/** What can be said about the store at one moment, for a question about some accounts. */
export interface Moment extends NewStore {
  readonly published: bigint;
  /** The revision of the database. */
  readonly latest: bigint;
  /** The fence of a write that is under way. It may have arrived. */
  readonly nextFence: string | undefined;
  /** The store lacks something about these accounts that it needs for the answer, or has something too new. */
  readonly isBehind: boolean;
}

export interface MomentQuery {
  readonly accountIds: readonly bigint[];
  /** What the store must contain at least. By default, the latest revision of the database. */
  readonly until?: bigint;
  /** Nothing about the accounts may have been written to the store since this revision. By default, `published`. */
  readonly since?: bigint;
}

export interface PublicationStore {
  find(): Promise<Publication | undefined>;
  create(fresh: NewStore): Promise<Publication>;
  /** From now on there is another store, which is empty. */
  replace(old: Publication, fresh: NewStore): Promise<Publication>;
  /** What has changed since the last publication, and until when; undefined if that is no longer known. */
  news(publication: Publication): Promise<Changes | undefined>;
  /** Every account that has a graph, or had one when it was published. */
  accounts(publication: Publication): Promise<{ revision: bigint; accountIds: readonly bigint[] }>;
  /** All that distinguishes the rows of an account from what was published. */
  whole(publication: Publication, accountId: bigint): Promise<Changes>;
  /** Records a write before it is sent. Throws if another process has recorded one meanwhile. */
  begin(publication: Publication, part: Part): Promise<Publication>;
  /** The write that was under way has arrived. */
  finish(publication: Publication): Promise<Publication>;
  /** Everything up to the revision has arrived. */
  settle(publication: Publication, revision: bigint): Promise<Publication>;
  /** What the store must contain, apart from its fence. */
  tuples(publication: Publication): Promise<ServerTuple[]>;
  moment(query: MomentQuery): Promise<Moment | undefined>;
  /**
   * What was published about each object that can matter to a person, as a text: objects of one type and account with
   * the same text have the same answers. Direct assignments of other people do not matter, unless the relation is one of
   * those given. Missing if nothing was published about it. The key is the account and the object.
   */
  looks(
    objects: readonly { readonly accountId: bigint; readonly object: string }[],
    personId: bigint,
    relations: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, string>>;
  /**
   * Runs the work while no other process runs such work. `stay` throws if that is no longer so. Waits for its turn for
   * at most this long.
   */
  lead<T>(patienceMs: number, work: (stay: () => Promise<void>) => Promise<T>): Promise<T>;
}
