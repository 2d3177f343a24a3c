import { OBJECT_TYPES, type ObjectType } from '../changes/object-kinds.ts';
import { isRobotPrincipal, principalOf, subjectOfPrincipal } from '../changes/principal.ts';

export const GUARDRAIL_KINDS = ['never', 'always', 'at_least', 'at_most'] as const;
export type GuardrailKind = (typeof GUARDRAIL_KINDS)[number];

/** The types that a statement can be about. What users may do with their own accounts concerns only them. */
export const GUARDED_TYPES = OBJECT_TYPES.filter((type) => type !== 'user');
export type GuardedType = Exclude<ObjectType, 'user'>;

/** What a guardrail states, by ID. */
export interface GuardrailRule {
  readonly kind: GuardrailKind;
  /**
   * `never` and `always`: these users and robots, and the members of this team. A robot is the negative of its ID, as in
   * changes/principal.ts, so it stays named when it is renamed.
   */
  readonly userIds: readonly bigint[];
  readonly teamId: bigint | undefined;
  readonly relation: string;
  readonly objectType: GuardedType;
  /** Without one, `never` and `at_most` are about every object of the type. */
  readonly objectId: bigint | undefined;
  /** `at_least` and `at_most`. */
  readonly count: number | undefined;
}

/** What things such as `team:4` were called when the statement was written. */
export type RememberedNames = Readonly<Record<string, string>>;

export interface GuardrailDraft extends GuardrailRule {
  readonly name: string;
  readonly description: string;
  /** Otherwise it is only watched. */
  readonly enforce: boolean;
  readonly names: RememberedNames;
}

export interface Guardrail extends GuardrailDraft {
  readonly id: bigint;
  readonly organizationId: bigint;
  readonly version: number;
  /** Which statement this is. What was known about an earlier one does not count. */
  readonly statement: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** That a guardrail does not hold. */
export interface Violation {
  /** Ordered by ID, then robots; those after the first thousand are left out. Empty if there are too few people. */
  readonly userIds: readonly bigint[];
  /** How many violate it. */
  readonly total: number;
  /** How many people hold the relation, if that is what the statement counts. */
  readonly held: number | undefined;
}

/** Violations by the ID of their guardrail. */
export type Violations = ReadonlyMap<bigint, Violation>;

export const MAX_VIOLATORS = 1000;

/** Users by ID, and then robots. */
export function byPrincipal(one: bigint, other: bigint): number {
  const isAfter = Number(isRobotPrincipal(one)) - Number(isRobotPrincipal(other));
  if (isAfter !== 0) return isAfter;
  return principalOf(one).id < principalOf(other).id ? -1 : 1;
}

/** Everything that a statement names, as `team:4`. */
export function namedIn({ userIds, teamId, objectType, objectId }: GuardrailRule): string[] {
  return [
    ...userIds.map(subjectOfPrincipal),
    ...(teamId === undefined ? [] : [`team:${teamId}`]),
    ...(objectId === undefined ? [] : [`${objectType}:${objectId}`]),
  ];
}

/** Whether two drafts state the same, and whether they insist on it. What they are called does not matter. */
export function isSameStatement(one: GuardrailDraft, other: GuardrailDraft): boolean {
  return keyOf(one) === keyOf(other);
}

function keyOf({ kind, userIds, teamId, relation, objectType, objectId, count, enforce }: GuardrailDraft): string {
  return [kind, userIds.join(), teamId, relation, objectType, objectId, count, enforce].join(' ');
}
