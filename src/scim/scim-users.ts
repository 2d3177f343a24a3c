/**
 * People of an organization, as its identity provider manages them.
 *
 * 1. A provider acts with the authority of its organization, and of no other. Everything goes through the rules that
 *    people are managed by elsewhere, in one transaction: either all of a request happens, or nothing.
 * 2. An account is created, or taken over, only under an address in a domain that the operator has assigned to the
 *    organization. That organization then owns the account. An account has at most one owner, and that of a site
 *    administrator has none.
 * 3. Only the owner changes the account itself. What any other provider says about the person is kept for its
 *    organization, and changes nothing else.
 * 4. A user who is not active has no membership in the organization. If the organization owns the account, it is out of
 *    use everywhere: sessions, tokens and bus credentials are gone, and do not come back.
 */
import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { judgeName } from '../identity/account-names/account-names.ts';
import { isSameAddress } from '../users/emails/email-address.ts';
import { requireAddressField } from '../users/user-fields.ts';
import type { InTransaction, Provisioning, ScimUser, ScimUserStore, UserDraft } from './provisioning.ts';
import { rejected } from './scim-document.ts';

export interface Tenant {
  readonly id: bigint;
  readonly name: string;
}

export interface UserRequest extends UserDraft {
  /** Undefined leaves it as it is. */
  readonly active: boolean | undefined;
}

type Precondition = (current: ScimUser) => void;
/** Whether a domain belongs to the organization, by an address in it. */
export type OwnsAddress = (organization: Tenant, address: string) => boolean;

export type ScimUsers = ReturnType<typeof createScimUsers>;

const MAX_FULL_NAME = 100;
const MAX_ATTEMPTS = 3;
const unconditionally = () => undefined;

export function createScimUsers(store: ScimUserStore, inTransaction: InTransaction, ownsAddress: OwnsAddress) {
  return { list: store.list, groups: store.groups, get, create, update, remove };

  async function get(organization: Tenant, id: bigint): Promise<ScimUser> {
    return (await store.find(organization.id, id)) ?? missing(id);
  }

  /** A person who has an account already, or is a member already, is taken up as they are. */
  async function create(organization: Tenant, request: UserRequest, actor: Actor): Promise<ScimUser> {
    requireUsable(request);
    for (let attempt = 1; ; attempt++) {
      try {
        return await inTransaction((inside) => createIn(inside, organization, request, actor));
      } catch (error) {
        // Another account got the login name that was free a moment ago. Another one will be found.
        const isLost = error instanceof AppError && error.detail.reason === 'name_taken';
        if (!isLost || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  async function createIn(inside: Provisioning, organization: Tenant, request: UserRequest, actor: Actor) {
    const { people, members } = inside;
    if (await people.isNameTaken(organization.id, request.userName)) throw nameTaken(request.userName);
    const found = await lockedCandidate(inside, organization, request);
    if (found?.isLinked) throw known(found.id);
    const isOurs = ownsAddress(organization, request.email);
    if (!found?.isMember && !isOurs) throw foreignDomain(organization, request.email);
    const isOwned = isOurs && (!found || (found.isFree && found.hasAddress));
    const { id, login } = found ?? (await createAccount(inside, request, actor));
    if ((await people.save(organization.id, id, request, isOwned)) === 'name taken') throw nameTaken(request.userName);
    if (found && isOwned) {
      await inside.users.update(login, { fullName: fullNameOf(request) }, unconditionally, actor);
      if (!found.isUsable) await activate(inside, found, actor);
    }
    if (!found?.isMember) await members.add(organization.id, login, undefined, actor);
    const created = (await people.find(organization.id, id)) ?? missing(id);
    if (request.active === false) await deactivate(inside, organization, created, actor);
    return await recorded(inside, organization, undefined, id, actor);
  }

  /**
   * As they are once no other transaction can change them: another organization may have taken them up a moment ago.
   */
  async function lockedCandidate({ people }: Provisioning, organization: Tenant, { email, userName }: UserRequest) {
    let found = await people.candidate(organization.id, email, userName);
    for (let lockedId: bigint | undefined; found && found.id !== lockedId; ) {
      lockedId = found.id;
      await people.lock(lockedId);
      found = await people.candidate(organization.id, email, userName);
    }
    return found;
  }

  async function createAccount({ people, users }: Provisioning, request: UserRequest, actor: Actor) {
    const login = await people.freeLogin(loginsFor(request.userName));
    if (login === undefined) throw new AppError('conflict', 'no login name is free', { scimType: 'uniqueness' });
    const id = await users.create({ name: login, email: request.email, fullName: fullNameOf(request) }, actor);
    return { id, login };
  }

  /** `decide` sees the person as they are while no other transaction can change them. */
  async function update(
    organization: Tenant,
    id: bigint,
    decide: (current: ScimUser) => UserRequest,
    precondition: Precondition,
    actor: Actor,
  ): Promise<ScimUser> {
    return await inTransaction(async (inside) => {
      const before = await locked(inside, organization, id);
      precondition(before);
      const request = decide(before);
      requireUsable(request);
      const current = await changed(inside, organization, before, request, actor);
      if (request.active === false && before.isEnabled) await deactivate(inside, organization, current, actor);
      if (request.active === true && !before.active) await reactivate(inside, organization, current, actor);
      return await recorded(inside, organization, before, id, actor);
    });
  }

  async function changed(
    inside: Provisioning,
    organization: Tenant,
    before: ScimUser,
    request: UserRequest,
    actor: Actor,
  ): Promise<ScimUser> {
    const { people, users } = inside;
    const { id, login } = before;
    const isOwned = await owns(inside, organization, before);
    if (isOwned) {
      const isMoved = !isSameAddress(before.email, request.email);
      if (isMoved && !ownsAddress(organization, request.email)) throw foreignDomain(organization, request.email);
      const fullName = fullNameOf(request);
      const fields = {
        ...(fullName !== fullNameOf(before) && { fullName }),
        ...(request.email !== before.email && { email: request.email }),
      };
      if (Object.keys(fields).length > 0) await users.update(login, fields, unconditionally, actor);
    }
    if ((await people.save(organization.id, id, request, isOwned)) === 'name taken') throw nameTaken(request.userName);
    return (await people.find(organization.id, id)) ?? missing(id);
  }

  /** The account stays, and can be taken up again. Only site administrators delete accounts, with all that they own. */
  async function remove(organization: Tenant, id: bigint, precondition: Precondition, actor: Actor): Promise<void> {
    await inTransaction(async (inside) => {
      const { people } = inside;
      const before = await locked(inside, organization, id);
      precondition(before);
      const isOwned = await owns(inside, organization, before);
      if (!before.isLinked) await people.save(organization.id, id, before, isOwned);
      if (before.isEnabled) await deactivate(inside, organization, { ...before, isOwned }, actor);
      await people.resume(organization.id, id);
      await people.forget(organization.id, id);
      people.record(organization.id, id, actor, before);
    });
  }

  async function locked({ people }: Provisioning, organization: Tenant, id: bigint): Promise<ScimUser> {
    await people.lock(id);
    return (await people.find(organization.id, id)) ?? missing(id);
  }

  /** A member about whom the provider says something for the first time may be one of its own. */
  async function owns({ people }: Provisioning, organization: Tenant, user: ScimUser): Promise<boolean> {
    if (user.isLinked) return user.isOwned;
    return ownsAddress(organization, user.email) && (await people.isFree(user.id, user.email));
  }

  async function deactivate(inside: Provisioning, organization: Tenant, user: ScimUser, actor: Actor): Promise<void> {
    const { people, members, users } = inside;
    const { id, login } = user;
    const held = await people.memberships(organization.id, id);
    if (held.length > 0) {
      await people.suspend(id, held);
      await members.remove(organization.id, login, actor);
    }
    if (user.isOwned) {
      const orphans = await people.lastOwnerOf(id);
      if (orphans.length > 0) throw lastOwner(login, orphans);
      await users.update(login, { active: false }, unconditionally, actor);
      await inside.endCredentials(id, actor);
    }
    await people.setActive(organization.id, id, false);
  }

  async function reactivate(inside: Provisioning, organization: Tenant, user: ScimUser, actor: Actor): Promise<void> {
    const { people, members } = inside;
    const { id, login } = user;
    if (user.isOwned) await activate(inside, user, actor);
    else if (!user.isUsable) throw notOurs(login);
    for (const { teamId, expiresAt } of await people.resume(organization.id, id)) {
      await members.addToTeam(organization.id, teamId, login, actor, expiresAt ?? undefined);
    }
    await people.setActive(organization.id, id, true);
  }

  /**
   * Nothing is revived, also not what was created at the moment of the deactivation, or kept by that of another
   * organization.
   */
  async function activate(inside: Provisioning, { id, login }: { id: bigint; login: string }, actor: Actor) {
    await inside.endCredentials(id, actor);
    await inside.users.update(login, { active: true }, unconditionally, actor);
  }

  async function recorded(
    { people }: Provisioning,
    organization: Tenant,
    before: ScimUser | undefined,
    id: bigint,
    actor: Actor,
  ): Promise<ScimUser> {
    const after = (await people.find(organization.id, id)) ?? missing(id);
    people.record(organization.id, id, actor, before, after);
    return after;
  }
}

function requireUsable({ userName, email }: UserDraft): void {
  if (userName.trim() === '') throw rejected('userName must not be empty');
  requireAddressField(email);
}

/** The name that other users see, as far as an account has room for it. */
function fullNameOf({ displayName, formattedName, givenName, familyName }: UserDraft): string {
  const whole = displayName || formattedName || `${givenName} ${familyName}`.trim();
  return [...whole].slice(0, MAX_FULL_NAME).join('');
}

/** Login names that remind of a user name: for bjensen@acme.example, bjensen, bjensen-2 and so on. */
export function loginsFor(userName: string): string[] {
  const [local = ''] = userName.normalize('NFKD').split('@');
  const plain = local
    .replace(/[^0-9A-Za-z._-]+/g, '-')
    .replace(/[-._]*([-._])/g, '$1')
    .slice(0, 34)
    .replace(/^[-._]+|[-._]+$/g, '');
  const base = plain === '' ? 'user' : plain;
  const numbered = Array.from({ length: 500 }, (_, index) => `${base}-${index + 2}`);
  return [base, ...numbered].filter((name) => judgeName(name) === 'VALID');
}

function missing(id: bigint): never {
  throw new AppError('notFound', `there is no user ${id}`, { reason: 'user_not_found' });
}

function nameTaken(userName: string): AppError {
  const message = `another user of the organization has the user name ${JSON.stringify(userName.slice(0, 100))}`;
  return new AppError('conflict', message, { scimType: 'uniqueness' });
}

function known(id: bigint): AppError {
  const message = `the account with this address is user ${id} already`;
  return new AppError('conflict', message, { scimType: 'uniqueness' });
}

function foreignDomain({ name }: Tenant, address: string): AppError {
  const domain = address.slice(address.lastIndexOf('@') + 1).slice(0, 100);
  const advice = `ask the operator of the server to add ${name}:${domain} to SCIM_DOMAINS`;
  return new AppError('forbidden', `${domain} is no domain of ${name}, so it cannot manage accounts there: ${advice}`);
}

function notOurs(login: string): AppError {
  const advice = 'a site administrator can activate it';
  return new AppError('forbidden', `the account ${login} is inactive, and ${advice}: the organization does not own it`);
}

function lastOwner(login: string, organizations: readonly string[]): AppError {
  const names = organizations.join(', ').slice(0, 200);
  const message = `${login} is the last active owner of ${names}: make another user an owner first`;
  return new AppError('conflict', message, { reason: 'last_owner' });
}
