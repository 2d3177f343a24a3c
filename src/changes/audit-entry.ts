/** Who does something, and in which request. */
export interface Actor {
  readonly id: bigint;
  readonly name: string;
  readonly requestId: string;
}

/** One change of state, for the record: written in the transaction that makes the change. */
export interface AuditEntry {
  readonly actor: Actor;
  readonly organizationId: bigint;
  /** What was done, as object and verb: `role.create`. */
  readonly action: string;
  readonly objectType: string;
  readonly objectId: bigint;
  readonly before?: object | undefined;
  readonly after?: object | undefined;
  /** The organization is made in this very transaction: nobody else can have written to its chain. */
  readonly startsChain?: boolean;
}
