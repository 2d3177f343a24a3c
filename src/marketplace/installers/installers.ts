import { AppError, invalidField } from '../../base/errors.ts';
import type { Actor } from '../../changes/audit-entry.ts';
import type { Once } from '../../changes/write.ts';
import { type MarketplaceName, profileOf, titleOf } from '../marketplaces.ts';
import { randomLetters } from '../subscriptions/binding.ts';
import type { Binding, Installer } from '../subscriptions/delivery-transaction.ts';
import type { BoundInstaller } from './archive-files.ts';
import type { FollowedLink, Links } from './links.ts';
import { OPERATOR } from './operator-actor.ts';
import type { SealedOptions } from './sealed-options.ts';

export interface NewInstaller {
  readonly id: string;
  readonly marketplace: MarketplaceName;
  readonly isTest: boolean;
  readonly expiresAt: Date;
}

export const INSTALLER_STATES = ['unbound', 'expired', 'bound', 'spent'] as const;
export type InstallerState = (typeof INSTALLER_STATES)[number];

export interface InstallerSearch {
  readonly marketplace?: MarketplaceName | undefined;
  readonly state?: InstallerState | undefined;
  /** Part of the ID, or of what the installer is bound to. */
  readonly text?: string | undefined;
  readonly subscriptionId?: bigint | undefined;
  /** The last installer of the previous page. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface InstallerStore {
  create(draft: NewInstaller, actor: Actor, once: Once<Installer> | undefined): Promise<Installer>;
  get(id: string): Promise<Installer | undefined>;
  /** Newest first. */
  list(search: InstallerSearch, now: Date): Promise<Installer[]>;
  recordLink(installer: Installer, expiresAt: Date, actor: Actor): Promise<void>;
  /** Invalidates all links issued so far; returns false if there is no such installer. */
  revokeLinks(id: string, actor: Actor): Promise<boolean>;
}

export interface IssuedLink {
  readonly link: string;
  readonly expiresAt: Date;
}

export type Installers = ReturnType<typeof createInstallers>;

const DAY_MS = 86_400_000;
export const DEFAULT_DAYS = 365;
export const MAX_DAYS = 3650;

/** Installers, as the operator creates them and customers download them. */
export function createInstallers(store: InstallerStore, links: Links, options: Pick<SealedOptions, 'open'>) {
  return { create, get, list: store.list, show, link, issueLink, revokeLinks, follow };

  /** A customer of marketplace A authenticates with the ID alone, so it has 155 bits of entropy. */
  async function create(
    wanted: { marketplace: MarketplaceName; isTest?: boolean | undefined; days?: number | undefined },
    now: Date,
    actor: Actor = OPERATOR,
    once?: Once<Installer>,
  ): Promise<Installer> {
    const days = wanted.days ?? DEFAULT_DAYS;
    if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS) {
      throw invalidField('days', `an installer can be bound for 1 to ${MAX_DAYS} days`);
    }
    const draft = {
      id: `${randomLetters(20)}-${randomLetters(10)}`,
      marketplace: wanted.marketplace,
      isTest: wanted.isTest ?? false,
      expiresAt: new Date(now.getTime() + days * DAY_MS),
    };
    if (draft.isTest && !profileOf(draft.marketplace).hasTestInstaller) {
      throw invalidField('is_test', `${titleOf(draft.marketplace)} cannot have a test installer`);
    }
    return await store.create(draft, actor, once);
  }

  async function get(id: string): Promise<Installer> {
    const installer = await store.get(id);
    if (!installer) throw absent();
    return installer;
  }

  /** Everything that is known about an installer, for the operator. */
  async function show(id: string): Promise<Installer | BoundInstaller> {
    const installer = await get(id);
    return installer.binding ? await openUp(installer, installer.binding) : installer;
  }

  async function link(id: string, now: Date): Promise<string> {
    return (await issueLink(id, now)).link;
  }

  /** Another link, for a customer who did not receive the answer. It opens what the customer chose, so it is recorded. */
  async function issueLink(id: string, now: Date, actor: Actor = OPERATOR): Promise<IssuedLink> {
    const installer = bound(await get(id));
    const expires = links.expiryFrom(now);
    const expiresAt = new Date(expires * 1000);
    await store.recordLink(installer, expiresAt, actor);
    return { link: links.make(installer, expires), expiresAt };
  }

  async function revokeLinks(id: string, actor: Actor = OPERATOR): Promise<void> {
    if (!(await store.revokeLinks(id, actor))) throw absent();
  }

  async function follow(followed: FollowedLink, now: Date): Promise<BoundInstaller> {
    const installer = await store.get(followed.installerId);
    links.follow(followed, installer, now);
    const whole = bound(installer);
    return await openUp(whole, whole.binding);
  }

  async function openUp(installer: Installer, binding: Binding): Promise<BoundInstaller> {
    return { ...installer, binding: { ...binding, options: await options.open(installer.id) } };
  }
}

/** The state of an installer at this moment. */
export function stateOf({ binding, isSpent, expiresAt }: Installer, now: Date): InstallerState {
  if (isSpent) return 'spent';
  if (binding) return 'bound';
  return expiresAt > now ? 'unbound' : 'expired';
}

function absent(): AppError {
  return new AppError('notFound', 'there is no such installer', { reason: 'installer_not_found' });
}

function bound(installer: Installer | undefined): Installer & { readonly binding: Binding } {
  if (installer?.isSpent) throw new AppError('conflict', 'the organization of the installer has been deleted');
  if (!installer?.binding) throw new AppError('conflict', 'the installer is not bound yet');
  if (installer.binding.contractRevoked) throw new AppError('conflict', 'the contract of the installer is revoked');
  return { ...installer, binding: installer.binding };
}
