import Type from 'typebox';
import { actorOf, siteAdmin } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { dropAbsent } from '../../http/wire/absent-fields.ts';
import { createOnce } from '../../http/wire/create-once.ts';
import { NoBody, named, Timestamp, timestamp } from '../../http/wire/schemas.ts';
import { MarketplaceText } from '../marketplace.view.ts';
import { MARKETPLACE_NAMES, type MarketplaceName, profileOf } from '../marketplaces.ts';
import { newSecret } from './secret-text.ts';
import { FINGERPRINT_LENGTH, type LiveSecret, type Secrets } from './secrets.ts';

const SECRET_NAMES = MARKETPLACE_NAMES.filter((name) => profileOf(name).provenBy === 'secret');
const MAX_SECRET = 1024;

const SecretEntry = named(
  'NotificationSecret',
  Type.Object({
    marketplace: MarketplaceText,
    fingerprint: Type.String({
      description: `${FINGERPRINT_LENGTH} hexadecimal digits that tell secrets apart and say nothing about them.`,
    }),
    source: Type.String({
      enum: ['settings', 'added'],
      description: 'Secrets from the settings of the server are changed there. Those that were added can be retired.',
    }),
    added_at: Type.Optional(Timestamp),
  }),
);
const NewSecret = named(
  'NewNotificationSecret',
  Type.Object({
    marketplace: Type.Unsafe<MarketplaceName>({ type: 'string', enum: SECRET_NAMES }),
    secret: Type.Optional(
      Type.String({ minLength: 1, maxLength: MAX_SECRET, description: 'By default, the server creates one.' }),
    ),
  }),
);
const AddedSecret = named(
  'AddedNotificationSecret',
  Type.Object({
    ...SecretEntry.properties,
    secret: Type.Optional(
      Type.String({ description: 'Only if the server created it, and only in this response: it is not stored.' }),
    ),
  }),
);

/** The secrets by which marketplaces prove who they are, for site administrators. */
export function secretRoutes(scope: Scope, secrets: Secrets): void {
  const common = { tags: ['marketplace'], extension: true };
  const config = { access: siteAdmin('admin') };

  scope.get(
    '/admin/marketplace/secrets',
    {
      config,
      schema: {
        ...common,
        summary: 'List the live secrets of marketplaces, by fingerprint',
        response: { 200: Type.Array(SecretEntry) },
      },
    },
    async () => (await secrets.list()).map(present),
  );

  scope.post(
    '/admin/marketplace/secrets',
    {
      preValidation: dropAbsent(),
      config: { ...config, creates: true },
      schema: {
        ...common,
        summary: 'Add a secret of a marketplace, in addition to those that it has',
        body: NewSecret,
        response: { 201: AddedSecret },
      },
    },
    async (request, reply) => {
      const { marketplace, secret: given } = request.body;
      const secret = given ?? newSecret();
      return await createOnce(
        request,
        reply.code(201),
        (once) => secrets.add(marketplace, secret, actorOf(request), once),
        (added: LiveSecret) => ({ ...present(added), ...(given === undefined && { secret }) }),
      );
    },
  );

  scope.delete(
    '/admin/marketplace/secrets/:fingerprint',
    {
      config,
      schema: {
        ...common,
        summary: 'Retire a secret of a marketplace that was added',
        params: Type.Object({ fingerprint: Type.String() }),
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await secrets.retireByFingerprint(request.params.fingerprint, actorOf(request));
      return reply.code(204).send();
    },
  );
}

function present({ marketplace, fingerprint, addedAt }: LiveSecret) {
  if (addedAt === null) return { marketplace, fingerprint, source: 'settings' };
  return { marketplace, fingerprint, source: 'added', added_at: timestamp(addedAt) };
}
