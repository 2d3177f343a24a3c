import Type from 'typebox';
import { named } from '../../http/wire/schemas.ts';
import { MARKETPLACE_NAMES, profileOf, titleOf } from '../marketplaces.ts';

const WITH_CLUSTER = MARKETPLACE_NAMES.filter((name) => profileOf(name).mustNameCluster);

/** For the documentation only: notification.ts reads the bodies and is more lenient than a schema can express. */
export const BindingInfoBody = named(
  'BindingInfo',
  Type.Object({
    marketplace: Type.Optional(Type.String({ enum: MARKETPLACE_NAMES })),
    installerId: Type.String({ description: 'The installer to bind. Keys of this object are case-insensitive.' }),
    clusterId: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9._:-]{1,253}$',
        description: `Required by ${WITH_CLUSTER.map(titleOf).join(' and ')}.`,
      }),
    ),
    cloudAAccountID: Type.Optional(Type.String()),
    adminUsername: Type.Optional(Type.String()),
    adminPassword: Type.Optional(
      Type.String({ description: 'Hashed immediately. The password itself is not stored.' }),
    ),
    domainWhiteList: Type.Optional(Type.Array(Type.String())),
    options: Type.Optional(Type.Object({}, { additionalProperties: true })),
  }),
);

const eventTime = Type.Optional(Type.String({ format: 'date-time' }));

export const BindNotification = named(
  'BindNotification',
  Type.Object({
    eventType: Type.Optional(Type.String()),
    eventTime,
    bindingInfo: BindingInfoBody,
  }),
);

export const LifecycleNotification = named(
  'LifecycleNotification',
  Type.Object({
    eventType: Type.String({ enum: ['PUT', 'DELETE', 'BIND'] }),
    applicationId: Type.String(),
    eventTime,
    provisioningState: Type.Optional(Type.String()),
    billingDetails: Type.Optional(Type.Object({ resourceUsageId: Type.Optional(Type.String()) })),
    plan: Type.Optional(
      Type.Object({
        publisher: Type.Optional(Type.String()),
        product: Type.Optional(Type.String()),
        name: Type.Optional(Type.String()),
        version: Type.Optional(Type.String()),
      }),
    ),
    error: Type.Optional(Type.Object({}, { additionalProperties: true })),
    bindingInfo: Type.Optional(BindingInfoBody),
  }),
);

export const SecretQuery = Type.Object({ secret: Type.Optional(Type.String()) });
export const BindResponse = named(
  'BindResponse',
  Type.Object({ link: Type.String({ description: 'URL of the installer archive.' }) }),
);
export const ClaimableResponse = named(
  'Claimability',
  Type.Object({ isClaimable: Type.Boolean(), claimID: Type.String() }),
);
