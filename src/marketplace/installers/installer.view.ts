import Type from 'typebox';
import { Int64, named, Timestamp, timestamp } from '../../http/wire/schemas.ts';
import { MarketplaceText } from '../marketplace.view.ts';
import type { Binding, Installer } from '../subscriptions/delivery-transaction.ts';
import { INSTALLER_STATES, stateOf } from './installers.ts';

const OptionalText = Type.Optional(Type.String());
const BindingEntry = named(
  'InstallerBinding',
  Type.Object(
    {
      bound_at: Timestamp,
      subscription_id: Type.Optional(Int64),
      organization: Type.Object({ id: Int64, name: Type.String() }),
      contract: Type.Object({ id: Int64, uid: Type.String({ format: 'uuid' }), revoked: Type.Boolean() }),
      cluster_id: OptionalText,
      cloud_account: OptionalText,
      admin_login: Type.String(),
      domains: Type.Array(Type.String()),
      base_url: Type.String(),
      version: Type.String(),
      claim_id: Type.String(),
    },
    {
      description: [
        'What the installer is bound to. Absent if it is not bound, or if that has been deleted.',
        'The options that the customer chose are not shown: they may contain keys.',
      ].join(' '),
    },
  ),
);
export const InstallerEntry = named(
  'Installer',
  Type.Object({
    id: Type.String({
      description: 'A person who has the ID of an installer that is not bound may be able to bind it.',
    }),
    marketplace: MarketplaceText,
    is_test: Type.Boolean(),
    state: Type.String({
      enum: [...INSTALLER_STATES],
      description: [
        'Unbound installers can be bound until they expire. An installer is spent if its organization or its contract',
        'has been deleted: it can never be bound again.',
      ].join(' '),
    }),
    created_at: Timestamp,
    expires_at: Timestamp,
    binding: Type.Optional(BindingEntry),
  }),
);

export function presentInstaller(installer: Installer, now: Date) {
  const { id, marketplace, isTest, createdAt, expiresAt, binding } = installer;
  return {
    id,
    marketplace,
    is_test: isTest,
    state: stateOf(installer, now),
    created_at: timestamp(createdAt),
    expires_at: timestamp(expiresAt),
    ...(binding && { binding: presentBinding(binding) }),
  };
}

function presentBinding(binding: Binding) {
  const { subscriptionId, clusterId, cloudAccount } = binding;
  return {
    bound_at: timestamp(binding.boundAt),
    ...(subscriptionId !== null && { subscription_id: subscriptionId }),
    organization: { id: binding.organizationId, name: binding.organizationName },
    contract: { id: binding.contractId, uid: binding.contractUid, revoked: binding.contractRevoked },
    ...(clusterId !== null && { cluster_id: clusterId }),
    ...(cloudAccount !== null && { cloud_account: cloudAccount }),
    admin_login: binding.adminLogin,
    domains: [...binding.domains],
    base_url: binding.baseUrl,
    version: binding.version,
    claim_id: binding.claimId,
  };
}
