/**
 * Subjects and resources of AuthZEN, as users, robots and objects of an organization.
 *
 * 1. Only digits are an ID. If another account has them as its login, the question has no answer, never one of the two.
 * 2. About themselves, callers may always ask. About another user, only those who may view members, and about a robot,
 *    those who may view it. Whatever else cannot be asked about is like what does not exist.
 * 3. Lookups are remembered until anything changes.
 */

import type { Judge } from '../authz/judge.ts';
import type { ObjectRef } from '../authz/object-ref.ts';
import { AppError, missingRelation } from '../base/errors.ts';
import { OBJECT_TYPES } from '../changes/object-kinds.ts';
import { isRobotPrincipal, principalOf } from '../changes/principal.ts';
import { createRemembered } from '../changes/remembered.ts';
import { nameKey } from '../identity/account-names/account-names.ts';
import type { Organization } from '../identity/callers.ts';
import type { MaybeLimits } from '../identity/tokens/token-limits.ts';

/** Who asks, in which organization. */
export interface AuthzenCaller {
  readonly organization: Organization;
  /** The number of changes/principal.ts. */
  readonly id: bigint;
  readonly login: string;
  readonly limits: MaybeLimits;
}

export interface Entity {
  readonly type: string;
  readonly id: string;
}

export interface AskedSubject {
  readonly id: bigint;
  /** How questions name it: a login, or `robot:5`. */
  readonly name: string;
}

interface Account {
  readonly id: bigint;
  readonly name: string;
  readonly isUsable: boolean;
}

export interface AskedThingStore {
  person(by: { readonly id: bigint } | { readonly key: string }): Promise<Account | undefined>;
  /** Which of these users are active and may sign in. */
  usable(ids: readonly bigint[]): Promise<ReadonlySet<bigint>>;
  /** The ID of the one object with that name. */
  objectNamed(type: string, ownerId: bigint, name: string): Promise<bigint | undefined>;
}

interface Parts {
  readonly store: AskedThingStore;
  readonly judge: Pick<Judge, 'holds'>;
  readonly robotNamed: (
    organizationId: bigint,
    robot: { readonly id: bigint } | { readonly name: string },
  ) => Promise<{ readonly id: bigint; readonly name: string } | undefined>;
  readonly revision: () => bigint;
}

const DIGITS = /^\d{1,19}$/;
const MAX_ID = 2n ** 63n - 1n;
const MAX_NAME = 255;

export type AskedThings = ReturnType<typeof createAskedThings>;

export function createAskedThings({ store, judge, robotNamed, revision }: Parts) {
  const remembered = createRemembered(revision);
  const personWithId = remembered((id: bigint) => store.person({ id }));
  const personNamed = remembered((key: string) => store.person({ key }));
  const robotWithId = remembered((organizationId: bigint, id: bigint) => robotNamed(organizationId, { id }));
  // The name is last, so that spaces in it cannot be taken for the end of something else.
  const robotCalled = remembered((organizationId: bigint, name: string) => robotNamed(organizationId, { name }));
  const objectCalled = remembered((type: string, ownerId: bigint, name: string) =>
    store.objectNamed(type, ownerId, name),
  );
  return { subjectOf, objectOf, usable: store.usable };

  /** Undefined for a subject that does not exist for the caller. `isPast`: accounts that have ended count as well. */
  async function subjectOf(caller: AuthzenCaller, entity: Entity, isPast = false): Promise<AskedSubject | undefined> {
    if (entity.type === 'user') return await userOf(caller, entity.id, isPast);
    return entity.type === 'robot_ac' ? await robotOf(caller, entity.id) : undefined;
  }

  async function userOf(caller: AuthzenCaller, text: string, isPast: boolean): Promise<AskedSubject | undefined> {
    const isDigits = DIGITS.test(text);
    const isSelf = !isRobotPrincipal(caller.id) && (isDigits ? text === String(caller.id) : isLogin(caller, text));
    if (!isSelf) await requireMembers(caller);
    if (isSelf && !isDigits) return { id: caller.id, name: caller.login };
    const found = isDigits ? await personByDigits(text) : await personByLogin(text);
    return found && (found.isUsable || isPast) ? { id: found.id, name: found.name } : undefined;
  }

  async function personByDigits(text: string): Promise<Account | undefined> {
    const id = BigInt(text);
    const [found, sameName] = [id > MAX_ID ? undefined : await personWithId(id), await personByLogin(text)];
    if (found && sameName && sameName.id !== found.id) {
      throw new AppError('conflict', `${text} is the ID of one user and the login of another: use another name`);
    }
    return found;
  }

  async function personByLogin(text: string): Promise<Account | undefined> {
    const key = nameKey(text);
    return key === '' || key.length > MAX_NAME ? undefined : await personNamed(key);
  }

  async function robotOf(caller: AuthzenCaller, text: string): Promise<AskedSubject | undefined> {
    const robot = await findRobot(caller, text);
    if (!robot) return undefined;
    const { id } = principalOf(robot.id);
    const organizationId = caller.organization.id;
    const isSeen = robot.id === caller.id || (await judge.holds(caller.id, organizationId, 'can_view', ofRobot(id)));
    return isSeen ? { id: robot.id, name: `robot:${id}` } : undefined;
  }

  async function findRobot({ organization }: AuthzenCaller, text: string) {
    if (DIGITS.test(text)) {
      const id = BigInt(text);
      return id > MAX_ID || id === 0n ? undefined : await robotWithId(organization.id, id);
    }
    const name = within(organization, text);
    return name === undefined ? undefined : await robotCalled(organization.id, name);
  }

  /** Undefined for a type, a number or a name that is nothing here. An ID need not exist: the graph knows. */
  async function objectOf({ organization, ...caller }: AuthzenCaller, entity: Entity): Promise<ObjectRef | undefined> {
    const type = OBJECT_TYPES.find((one) => one === entity.type);
    if (type === undefined) return undefined;
    if (DIGITS.test(entity.id)) {
      const id = BigInt(entity.id);
      return id > 0n && id <= MAX_ID ? { type, id } : undefined;
    }
    if (type === 'user') return isLogin(caller, entity.id) ? { type, id: caller.id } : undefined;
    if (type === 'organization') {
      return nameKey(entity.id) === nameKey(organization.name) ? { type, id: organization.id } : undefined;
    }
    const name = within(organization, entity.id);
    const id = name === undefined ? undefined : await objectCalled(type, organization.id, name);
    return id === undefined ? undefined : { type, id };
  }

  async function requireMembers({ id, organization }: AuthzenCaller): Promise<void> {
    const object = { type: 'organization', id: organization.id } as const;
    if (await judge.holds(id, organization.id, 'can_view_members', object)) return;
    throw missingRelation('can_view_members');
  }
}

function ofRobot(id: bigint) {
  return { type: 'robot_ac', id } as const;
}

function isLogin({ login }: Pick<AuthzenCaller, 'login'>, text: string): boolean {
  const key = nameKey(text);
  return key !== '' && key === nameKey(login);
}

/** `deploy`, or `acme/deploy` in acme. */
function within({ name }: Organization, text: string): string | undefined {
  const slash = text.indexOf('/');
  const isOurs = slash >= 0 && nameKey(text.slice(0, slash)) === nameKey(name);
  const rest = isOurs ? text.slice(slash + 1) : text;
  return rest === '' || rest.length > MAX_NAME || rest.includes('\0') ? undefined : rest;
}
