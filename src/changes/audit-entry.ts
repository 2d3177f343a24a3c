import type { AuditAction } from './audit-actions.ts';

/** Who makes a change, and in which request. Rights are those of the user or robot with this number. */
export interface Actor {
  /** Of a user, or of a robot (principal.ts). */
  readonly id: bigint;
  readonly name: string;
  readonly requestId: string;
  /** The administrator who acts for that user, if one does. The audit log finds the change under the administrator. */
  readonly sudoBy?: { readonly id: bigint; readonly name: string };
}

/** Whoever acts if nobody does. */
export const SERVER: Actor = { id: 0n, name: 'atrium', requestId: '' };

/** One change of state, written in the transaction that makes the change. */
export interface AuditEntry {
  readonly actor: Actor;
  readonly organizationId: bigint;
  readonly action: AuditAction;
  readonly objectType: string;
  readonly objectId: bigint;
  readonly before?: object | undefined;
  readonly after?: object | undefined;
  /** The organization is created in this transaction, so no other transaction can have written to its chain. */
  readonly startsChain?: boolean;
}
