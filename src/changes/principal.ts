/**
 * A user or a robot as one number.
 *
 * 1. Users and robots have IDs of their own: robot 5 is not user 5. Inside the server, a robot is the negative of its ID.
 *    Whatever is kept by that number keeps the two apart: idempotency keys, event streams, allowances, the audit log,
 *    "themselves". A statement that looks for a user with the number of a robot finds nothing.
 * 2. The negative number never leaves the server. Responses show a type and an ID.
 */
export interface Principal {
  readonly type: PrincipalType;
  readonly id: bigint;
}

export type PrincipalType = 'user' | 'robot_ac';

const ROBOT = 'robot_ac:';
const USER = 'user:';

/** The number of a robot with this ID. */
export function principalOfRobot(robotId: bigint): bigint {
  return -robotId;
}

export function isRobotPrincipal(principalId: bigint): boolean {
  return principalId < 0n;
}

/** Type and ID, as responses show them. */
export function principalOf(principalId: bigint): Principal {
  return isRobotPrincipal(principalId) ? { type: 'robot_ac', id: -principalId } : { type: 'user', id: principalId };
}

/** Whether a type and an ID are those of this user or robot. */
export function isPrincipal(
  { type, id }: { readonly type: string; readonly id: bigint },
  principalId: bigint,
): boolean {
  const principal = principalOf(principalId);
  return principal.type === type && principal.id === id;
}

/** How the model names a user or a robot: `user:5`, `robot_ac:5`. */
export function subjectOfPrincipal(principalId: bigint): string {
  return isRobotPrincipal(principalId) ? `${ROBOT}${-principalId}` : `${USER}${principalId}`;
}

/** Not all of a type together, as `robot_ac:*` is. */
export function isSingle(subject: string): boolean {
  return !subject.endsWith(':*');
}

/** The number of `user:5` or `robot_ac:5`. */
export function principalOfSubject(subject: string): bigint {
  return subject.startsWith(ROBOT) ? -BigInt(subject.slice(ROBOT.length)) : BigInt(subject.slice(USER.length));
}

/** The robot that a text such as `robot:deploy` or `robot_ac:5` names: by ID if the rest is digits, otherwise by name. */
export function robotNamedIn(text: string): { readonly id: bigint } | { readonly name: string } | undefined {
  const [, rest] = /^robot(?:_ac)?:(.+)$/s.exec(text) ?? [];
  if (rest === undefined) return undefined;
  return /^\d{1,18}$/.test(rest) ? { id: BigInt(rest) } : { name: rest };
}
