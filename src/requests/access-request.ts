import type { PlaceType } from '../changes/object-kinds.ts';

export const REQUEST_STATES = ['open', 'approved', 'denied', 'cancelled', 'expired', 'failed', 'ended'] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

/** A user or robot with its own ID, as responses show it. The name is empty if it is gone. */
export interface NamedPrincipal {
  readonly type: string;
  readonly id: bigint;
  readonly name: string;
}

/** So many approvers are named and get an email. The other approvers see the request in their lists. */
export const MAX_NAMED = 100;

/** The types that can be asked about: those that roles are assigned on, except for sets. */
export type AskedType = Exclude<PlaceType, 'cluster_set'>;

export interface AskedFor {
  readonly type: AskedType;
  readonly id: bigint;
  readonly name: string;
}

/** The one change that an approval makes. Both end with the request. */
export type RequestedChange =
  | { readonly action: 'assignment.create'; readonly role: { readonly id: bigint; readonly name: string } }
  | { readonly action: 'team.add_member'; readonly team: { readonly id: bigint; readonly name: string } };

/** Something that a user or robot gains or loses by the change. */
export interface RequestEffect {
  readonly object: string;
  readonly relation: string;
  /** Only in these namespaces. */
  readonly namespaces?: readonly string[];
}

/** What the change does, with nothing hidden. */
export interface RequestEffects {
  readonly gains: readonly RequestEffect[];
  readonly loses: readonly RequestEffect[];
  /** What the role gives on the object, or what the team has. */
  readonly grants: readonly string[];
  /** Whether other users gain or lose something, and how many are affected with the requester. */
  readonly total: number;
}

export interface RequestDecision {
  readonly userId: bigint;
  readonly userName: string;
  readonly isApproval: boolean;
  readonly comment: string;
  readonly digest: string | null;
  readonly decidedAt: Date;
}

/** An access request: a user or robot asks for a relation on an object until a time, and other users decide. */
export interface AccessRequest {
  readonly id: bigint;
  readonly organizationId: bigint;
  readonly organizationName: string;
  readonly state: RequestState;
  readonly by: NamedPrincipal;
  readonly relation: string;
  readonly object: AskedFor;
  readonly namespaces: readonly string[] | null;
  readonly change: RequestedChange;
  readonly reason: string;
  readonly rule: string | null;
  readonly approvals: number;
  readonly isBreakGlass: boolean;
  readonly acknowledgedAt: Date | null;
  readonly acknowledgedBy: { readonly id: bigint; readonly name: string } | null;
  /** Of a request by a robot: who created the token that asked, and so may not decide. */
  readonly tokenCreator: bigint | null;
  readonly createdAt: Date;
  readonly closesAt: Date;
  readonly closedAt: Date | null;
  /** When the access ends. Null if its end was taken away. */
  readonly until: Date | null;
  readonly because: string | null;
  readonly assignmentId: bigint | null;
  readonly effects: RequestEffects;
  readonly digest: string;
  readonly decisions: readonly RequestDecision[];
  readonly version: number;
}

/** As much of an open request as decides about who can decide. */
export type OpenRequest = Pick<
  AccessRequest,
  'id' | 'organizationId' | 'by' | 'relation' | 'object' | 'namespaces' | 'change' | 'until' | 'tokenCreator'
>;

const ID_BITS = 52;
export const MAX_REQUEST_ID = 2n ** BigInt(ID_BITS);
const PREFIX = 'req_';

/** How a request is called everywhere outside the database. */
export function requestName(id: bigint): string {
  return `${PREFIX}${id}`;
}

/** The number in `req_123`. Undefined for a text that is no name of a request. */
export function requestIdIn(name: string): bigint | undefined {
  const [, digits] = /^req_([1-9][0-9]{0,18})$/.exec(name) ?? [];
  const id = digits === undefined ? undefined : BigInt(digits);
  return id !== undefined && id <= MAX_REQUEST_ID ? id : undefined;
}

/** A random number out of eight random bytes. */
export function requestIdFrom(bytes: Uint8Array): bigint {
  const number = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0);
  return (number % (MAX_REQUEST_ID - 1n)) + 1n;
}
