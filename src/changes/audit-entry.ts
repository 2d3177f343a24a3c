import type { AuditAction } from './audit-actions.ts';

/** Who makes a change, and in which request. Rights are those of the user or robot with this number. */
export interface Actor {
  /** Of a user, or of a robot (principal.ts). */
  readonly id: bigint;
  readonly name: string;
  readonly requestId: string;
  /** The administrator who acts for that user, if one does. The audit log finds the change under the administrator. */
  readonly sudoBy?: { readonly id: bigint; readonly name: string };
  /**
   * The outside token that a robot acts with, if it does not have a stored one; or the agent that acts for the user; or
   * the endpoint for agents.
   */
  readonly via?: OutsideToken | DelegatedToken | 'mcp';
}

/** A token of another issuer that a robot was given its own for. */
export interface OutsideToken {
  readonly issuer: string;
  readonly subject: string | null;
  /** ID of the trust rule that accepted it. */
  readonly rule: bigint;
  readonly jti: string | null;
}

/** A token that a user gave to an agent. */
export interface DelegatedToken {
  /** What the user calls the agent. */
  readonly delegate: string;
  readonly tokenId: bigint;
  /** Whether the agent called the endpoint for agents. */
  readonly isMcp?: boolean;
}

/** As it is stored, hashed and shown. */
export function outsideTokenText({ issuer, subject, rule, jti }: OutsideToken): string {
  return JSON.stringify({ issuer, subject, rule: Number(rule), jti });
}

export function viaText(via: NonNullable<Actor['via']>): string {
  if (typeof via === 'string') return JSON.stringify(via);
  if (!('delegate' in via)) return outsideTokenText(via);
  const { delegate, tokenId, isMcp = false } = via;
  return JSON.stringify({ delegate, token: Number(tokenId), ...(isMcp && { endpoint: 'mcp' }) });
}

/** The same actor, who calls the endpoint for agents. */
export function throughMcp(actor: Actor): Actor {
  const { via } = actor;
  const isDelegated = typeof via === 'object' && 'delegate' in via;
  return { ...actor, via: isDelegated ? { ...via, isMcp: true } : 'mcp' };
}

/** The actor of changes that no caller made. */
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
