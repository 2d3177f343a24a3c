import Type from 'typebox';
import { MARKETPLACE_NAMES } from '../marketplaces.ts';

/** For the documentation only: notification.ts reads the bodies and is more lenient than a schema can express. */
export const BindingInfoBody = Type.Object({
  marketplace: Type.Optional(Type.String({ enum: MARKETPLACE_NAMES })),
  installerId: Type.String({ description: 'The installer to bind. Keys in here are matched ignoring case.' }),
  clusterId: Type.Optional(Type.String({ description: 'Required on marketplaces A and C.' })),
  cloudAAccountID: Type.Optional(Type.String()),
  adminUsername: Type.Optional(Type.String()),
  adminPassword: Type.Optional(Type.String({ description: 'Hashed at once and kept nowhere.' })),
  domainWhiteList: Type.Optional(Type.Array(Type.String())),
  options: Type.Optional(Type.Object({}, { additionalProperties: true })),
});

const eventTime = Type.Optional(Type.String({ format: 'date-time' }));

export const BindNotification = Type.Object({
  eventType: Type.Optional(Type.String()),
  eventTime,
  bindingInfo: BindingInfoBody,
});

export const LifecycleNotification = Type.Object({
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
});

export const SecretQuery = Type.Object({ secret: Type.Optional(Type.String()) });
export const BindResponse = Type.Object({ link: Type.String({ description: 'The archive of the installer.' }) });
export const ClaimableResponse = Type.Object({ isClaimable: Type.Boolean(), claimID: Type.String() });
