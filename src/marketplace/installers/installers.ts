import { AppError } from '../../base/errors.ts';
import { type MarketplaceName, profileOf, titleOf } from '../marketplaces.ts';
import { randomLetters } from '../subscriptions/binding.ts';
import type { Binding, Installer } from '../subscriptions/delivery-transaction.ts';
import type { BoundInstaller } from './archive-files.ts';
import type { FollowedLink, Links } from './links.ts';
import type { SealedOptions } from './sealed-options.ts';

export interface NewInstaller {
  readonly id: string;
  readonly marketplace: MarketplaceName;
  readonly isTest: boolean;
  readonly expiresAt: Date;
}

export interface InstallerStore {
  create(draft: NewInstaller): Promise<void>;
  get(id: string): Promise<Installer | undefined>;
  /** Invalidates all links issued so far; returns false if there is no such installer. */
  revokeLinks(id: string): Promise<boolean>;
}

export type Installers = ReturnType<typeof createInstallers>;

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 365;

/** Installers, as the operator creates them and customers download them. */
export function createInstallers(store: InstallerStore, links: Links, options: Pick<SealedOptions, 'open'>) {
  return { create, show, link, revokeLinks, follow };

  /** A customer of marketplace A authenticates with the ID alone, so it has 155 bits of entropy. */
  async function create(wanted: { marketplace: MarketplaceName; isTest?: boolean; days?: number }, now: Date) {
    const draft = {
      id: `${randomLetters(20)}-${randomLetters(10)}`,
      marketplace: wanted.marketplace,
      isTest: wanted.isTest ?? false,
      expiresAt: new Date(now.getTime() + (wanted.days ?? DEFAULT_DAYS) * DAY_MS),
    };
    if (draft.isTest && !profileOf(draft.marketplace).hasTestInstaller) {
      throw new AppError('invalid', `${titleOf(draft.marketplace)} cannot have a test installer`);
    }
    await store.create(draft);
    return draft;
  }

  async function get(id: string): Promise<Installer> {
    const installer = await store.get(id);
    if (!installer) throw new AppError('notFound', 'there is no such installer');
    return installer;
  }

  /** Everything that is known about an installer, for the operator. */
  async function show(id: string): Promise<Installer | BoundInstaller> {
    const installer = await get(id);
    return installer.binding ? await openUp(installer, installer.binding) : installer;
  }

  /** Another link, for a customer who did not receive the answer. */
  async function link(id: string, now: Date): Promise<string> {
    return links.make(bound(await get(id)), links.expiryFrom(now));
  }

  async function revokeLinks(id: string): Promise<void> {
    if (!(await store.revokeLinks(id))) throw new AppError('notFound', 'there is no such installer');
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

function bound(installer: Installer | undefined): Installer & { readonly binding: Binding } {
  if (installer?.isSpent) throw new AppError('invalid', 'the organization of the installer has been deleted');
  if (!installer?.binding) throw new AppError('invalid', 'the installer is not bound yet');
  if (installer.binding.contractRevoked) throw new AppError('invalid', 'the contract of the installer is revoked');
  return { ...installer, binding: installer.binding };
}
