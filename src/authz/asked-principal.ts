import { AppError, missingRelation } from '../base/errors.ts';
import { isRobotPrincipal, principalOf, principalOfRobot, robotNamedIn } from '../changes/principal.ts';
import { nameKey } from '../identity/account-names/account-names.ts';
import type { Judge } from './judge.ts';

/** A user or a robot by its number (changes/principal.ts). */
export interface PrincipalRef {
  readonly id: bigint;
  readonly name: string;
}

export interface AskedPrincipalStore {
  personNamed(login: string): Promise<PrincipalRef | undefined>;
  /** A robot of the organization. Names are case-sensitive. */
  robotNamed(
    organizationId: bigint,
    robot: { readonly id: bigint } | { readonly name: string },
  ): Promise<PrincipalRef | undefined>;
}

/** Names of what does not exist any more, for questions about a past moment. */
export interface FormerPrincipals {
  names(organizationId: bigint): Promise<ReadonlyMap<string, string>>;
  personNamed(organizationId: bigint, login: string): Promise<PrincipalRef | undefined>;
}

export type FindAskedPrincipal = ReturnType<typeof createAskedPrincipal>;

/**
 * About whom a question is: a user by their login name, or a robot of the organization such as `robot:deploy`.
 *
 * 1. Callers may always ask about themselves.
 * 2. Only callers who may see the members can ask about another user, and only callers who may view a robot about it.
 *    For all other callers, the robot does not exist.
 * 3. About the past of other users, only readers of the audit log can ask.
 */
export function createAskedPrincipal(store: AskedPrincipalStore, judge: Pick<Judge, 'holds'>) {
  return async (
    organizationId: bigint,
    callerId: bigint,
    text: string,
    past?: FormerPrincipals,
  ): Promise<PrincipalRef> => {
    const asked = robotNamedIn(text);
    const found = asked ? await store.robotNamed(organizationId, asked) : await store.personNamed(text);
    if (found?.id === callerId) return found;
    if (asked) return await viewedRobot(found ?? (await formerRobot(organizationId, asked, past)));
    await requireOn('can_view_members');
    if (past) await requireOn('can_view_audit_log');
    const person = found ?? (await past?.personNamed(organizationId, text));
    if (!person) throw new AppError('notFound', `user does not exist: ${text}`, { reason: 'user_not_found' });
    return person;

    async function viewedRobot(robot: PrincipalRef | undefined): Promise<PrincipalRef> {
      // A deleted robot is visible to readers of the audit log, where it can be read anyway.
      const object = robot && ({ type: 'robot_ac', id: principalOf(robot.id).id } as const);
      const isSeen = object && (!found || (await judge.holds(callerId, organizationId, 'can_view', object)));
      if (!robot || !isSeen)
        throw new AppError('notFound', `robot does not exist: ${text}`, { reason: 'robot_not_found' });
      if (past) await requireOn('can_view_audit_log');
      return robot;
    }

    async function requireOn(relation: string): Promise<void> {
      const organization = { type: 'organization', id: organizationId } as const;
      if (!(await judge.holds(callerId, organizationId, relation, organization))) throw missingRelation(relation);
    }
  };
}

/** Whether a text names the caller themselves. */
export function namesThemselves({ person, robot }: Themselves, text: string): boolean {
  const asked = robotNamedIn(text);
  if (asked === undefined) return nameKey(text) === nameKey(person.login);
  return robot !== undefined && ('id' in asked ? asked.id === robot.id : asked.name === robot.name);
}

interface Themselves {
  readonly person: { readonly login: string };
  readonly robot?: { readonly id: bigint; readonly name: string };
}

/** A robot that has been deleted since, under its last name. */
async function formerRobot(
  organizationId: bigint,
  asked: { readonly id: bigint } | { readonly name: string },
  past: FormerPrincipals | undefined,
): Promise<PrincipalRef | undefined> {
  for (const [object, name] of (await past?.names(organizationId)) ?? []) {
    const [type, number = '0'] = object.split(':');
    if (type !== 'robot_ac') continue;
    const isIt = 'id' in asked ? asked.id === BigInt(number) : asked.name === name;
    if (isIt) return { id: principalOfRobot(BigInt(number)), name };
  }
  return undefined;
}

/** Users by ID, then robots by ID. */
export function inPrincipalOrder(ids: readonly bigint[]): bigint[] {
  const users = BigInt64Array.from(ids.filter((id) => !isRobotPrincipal(id))).sort();
  const robots = BigInt64Array.from(ids.filter(isRobotPrincipal)).sort().reverse();
  return [...users, ...robots];
}
