import { randomInt, randomUUID } from 'node:crypto';
import { judgeName } from '../../identity/account-names/account-names.ts';
import { profileOf } from '../marketplaces.ts';
import type { BindingInfo } from '../notifications/binding-info.ts';
import type { Notification } from '../notifications/notification.ts';
import { forbidden, invalid } from '../notifications/rejection.ts';
import type { DeliveryTransaction, Installer, Subscription } from './delivery-transaction.ts';

export interface BindingSetting {
  readonly version: string;
  readonly baseUrl: () => string;
}

export interface BindRequest {
  readonly notification: Notification;
  readonly info: BindingInfo;
  readonly adminPasswordHash: string | null;
  readonly subscription: Subscription | undefined;
  /** This bind reinstates a contract that was revoked with its subscription. */
  readonly reinstates: boolean;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const MAX_LOGIN = 27;

/** Binds an installer exactly once, or finds that the same binding already exists. */
export async function bindInstaller(
  transaction: DeliveryTransaction,
  request: BindRequest,
  setting: BindingSetting,
): Promise<Installer> {
  const { info, notification } = request;
  const installer = await transaction.installer(info.installerId);
  if (!installer || installer.marketplace !== notification.marketplace) {
    throw invalid('installer_unknown', 'bindingInfo.installerId names no installer of this marketplace');
  }
  if (installer.isSpent) throw spent(installer);
  if (installer.binding) return await meetAgain(transaction, installer, request);
  if (installer.expiresAt <= transaction.now) throw invalid('installer_expired', 'the installer has expired');
  const bound = await transaction.bind(installer, await draft(transaction, request, setting));
  transaction.announce({ type: 'installer.bound', data: announced(bound) });
  return bound;
}

/**
 * What it was bound to has been deleted. If the marketplace rejects repeated binds, this is rejected with the same
 * message.
 */
function spent({ marketplace }: Installer) {
  if (profileOf(marketplace).repeatedBind === 'rejected')
    return forbidden('already_bound', 'the installer is already bound');
  return invalid('installer_expired', 'the organization of the installer has been deleted');
}

async function meetAgain(
  transaction: DeliveryTransaction,
  installer: Installer,
  { notification, info, subscription, reinstates }: BindRequest,
) {
  const { binding } = installer;
  if (profileOf(notification.marketplace).repeatedBind === 'rejected')
    throw forbidden('already_bound', 'the installer is already bound');
  const isSame =
    (binding?.subscriptionId ?? null) === (subscription?.id ?? null) &&
    agree(binding?.clusterId, info.clusterId) &&
    agree(binding?.cloudAccount, info.cloudAccount);
  if (!isSame) throw invalid('bound_elsewhere', 'the installer is already bound to another subscription or cluster');
  // A deletion failed, or the application was created again under its old name: the customer is back. A contract that a
  // user revoked stays revoked.
  if (reinstates && binding?.contractRevoked && binding.contractLapsed) await transaction.reinstateContract(installer);
  return installer;
}

/** A value that is missing is not a contradiction. */
function agree(before: string | null | undefined, now: string | null): boolean {
  return now === null || before === null || before === undefined || before === now;
}

async function draft(
  transaction: DeliveryTransaction,
  { notification, info, ...request }: BindRequest,
  setting: BindingSetting,
) {
  const suffix = randomLetters(12);
  const product = notification.plan?.product;
  return {
    subscriptionId: request.subscription?.id ?? null,
    organizationName: `standalone-${suffix}`,
    adminLogin: await freeLogin(transaction, info.adminUsername, suffix),
    adminPasswordHash: request.adminPasswordHash,
    contractUid: randomUUID(),
    contractName: `${notification.marketplace} ${suffix}`,
    product: typeof product === 'string' && product !== '' ? product.slice(0, 256) : 'platform',
    clusterId: info.clusterId,
    cloudAccount: info.cloudAccount,
    domains: info.domains,
    baseUrl: setting.baseUrl(),
    version: setting.version,
    claimId: randomUUID(),
  };
}

/** The requested name if it is valid and free, otherwise a similar one: all customers share one namespace. */
async function freeLogin(transaction: DeliveryTransaction, wanted: string | null, suffix: string): Promise<string> {
  const name = wanted ?? '';
  if (judgeName(name) === 'VALID' && !(await transaction.isNameTaken(name))) return name;
  const bare = name.replace(/[^0-9A-Za-z]+/g, '').slice(0, MAX_LOGIN) || 'admin';
  return `${bare}-${suffix}`;
}

export function randomLetters(count: number): string {
  return Array.from({ length: count }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

function announced({ marketplace, binding }: Installer) {
  return {
    marketplace,
    organization: binding?.organizationName ?? '',
    contract: binding?.contractUid ?? '',
    cluster: binding?.clusterId ?? '',
  };
}
