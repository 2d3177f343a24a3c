import type { AuditAction } from './audit-actions.ts';

/** Who makes a change, and in which request. Rights are those of the user or robot with this number. */
export interface Actor {
  /** Of a user, or of a robot (principal.ts). */
  readonly id: bigint;
  readonly name: string;
  readonly requestId: string;
  /** The administrator who acts for that user, if one does. The audit log finds the change under the administrator. */
  readonly sudoBy?: { readonly id: bigint; readonly name: string };
  /** The outside token that a robot acts with, if it does not have a stored one; or the endpoint for agents. */
  readonly via?: OutsideToken | 'mcp';
}

/** A token of another issuer that a robot was given its own for. */
export interface OutsideToken {
  readonly issuer: string;
  readonly subject: string | null;
  /** ID of the trust rule that accepted it. */
  readonly rule: bigint;
  readonly jti: string | null;
}

/** As it is stored, hashed and shown. */
export function outsideTokenText({ issuer, subject, rule, jti }: OutsideToken): string {
  return JSON.stringify({ issuer, subject, rule: Number(rule), jti });
}

export function viaText(via: NonNullable<Actor['via']>): string {
  return typeof via === 'string' ? JSON.stringify(via) : outsideTokenText(via);
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
