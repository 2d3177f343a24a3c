import Type from 'typebox';
import { actorOf, siteAdmin } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { dropAbsent } from '../../http/wire/absent-fields.ts';
import { createOnce } from '../../http/wire/create-once.ts';
import { choice } from '../../http/wire/paging.ts';
import { documentedSchema, NoBody, named, Timestamp, timestamp } from '../../http/wire/schemas.ts';
import { marketplaceQuery, PlaceQuery, pageOf, readMarketplace, showPlaces, text } from '../marketplace.view.ts';
import { MARKETPLACE_NAMES, type MarketplaceName } from '../marketplaces.ts';
import type { Installer } from '../subscriptions/delivery-transaction.ts';
import { InstallerEntry, presentInstaller } from './installer.view.ts';
import { DEFAULT_DAYS, INSTALLER_STATES, type Installers, MAX_DAYS } from './installers.ts';

const ListQuery = Type.Object({
  marketplace: marketplaceQuery('installers'),
  state: choice(INSTALLER_STATES, 'Only installers in this state.'),
  q: text('Part of the ID, or of the organization, the cluster ID, the cloud account or the administrator.'),
  ...PlaceQuery,
});
const NewInstaller = named(
  'NewInstaller',
  Type.Object({
    marketplace: Type.Unsafe<MarketplaceName>({ type: 'string', enum: MARKETPLACE_NAMES }),
    days: Type.Optional(
      documentedSchema(
        Type.Integer({
          description: `Number of days in which it can be bound: ${DEFAULT_DAYS} by default, maximum ${MAX_DAYS}.`,
        }),
        { minimum: 1, maximum: MAX_DAYS },
      ),
    ),
    is_test: Type.Optional(
      Type.Boolean({ description: 'For tests: it can be bound without the secret. Only some marketplaces have that.' }),
    ),
  }),
);
const InstallerPath = Type.Object({ id: Type.String() });
const ArchiveLink = named(
  'ArchiveLink',
  Type.Object({
    link: Type.String({ description: 'Shown only here. Anyone who has it can download the archive.' }),
    expires_at: Timestamp,
  }),
);
const PLACES = {
  kind: 'installer',
  write: ({ id }: Installer) => id,
  read: (given: string) => (/^[\w-]{1,100}$/.test(given) ? given : undefined),
};

/** Installers, for site administrators. */
export function installerRoutes(scope: Scope, installers: Installers): void {
  const common = { tags: ['marketplace'], extension: true };
  const config = { access: siteAdmin('admin') };

  scope.get(
    '/admin/marketplace/installers',
    {
      config,
      schema: {
        ...common,
        summary: 'List marketplace installers, newest first',
        querystring: ListQuery,
        response: { 200: pageOf('InstallerPage', InstallerEntry) },
      },
    },
    async (request) => {
      const now = new Date();
      const { state, q } = request.query;
      const search = { marketplace: readMarketplace(request.query.marketplace), state, text: q || undefined };
      return await showPlaces(
        request.query,
        PLACES,
        (after, limit) => installers.list({ ...search, after, limit }, now),
        (installer) => presentInstaller(installer, now),
      );
    },
  );

  scope.post(
    '/admin/marketplace/installers',
    {
      preValidation: dropAbsent(),
      config: { ...config, creates: true },
      schema: {
        ...common,
        summary: 'Create an installer, which a customer of the marketplace can bind once',
        body: NewInstaller,
        response: { 201: InstallerEntry },
      },
    },
    async (request, reply) => {
      const now = new Date();
      const { marketplace, days, is_test: isTest } = request.body;
      return await createOnce(
        request,
        reply.code(201),
        (once) => installers.create({ marketplace, days, isTest }, now, actorOf(request), once),
        (created: Installer) => presentInstaller(created, now),
      );
    },
  );

  scope.get(
    '/admin/marketplace/installers/:id',
    {
      config,
      schema: { ...common, summary: 'Get an installer', params: InstallerPath, response: { 200: InstallerEntry } },
    },
    async (request) => presentInstaller(await installers.get(request.params.id), new Date()),
  );

  scope.post(
    '/admin/marketplace/installers/:id/link',
    {
      config,
      schema: {
        ...common,
        summary: 'Issue another link to the archive of a bound installer, valid for 24 hours',
        params: InstallerPath,
        response: { 200: ArchiveLink },
      },
    },
    async (request) => {
      const { link, expiresAt } = await installers.issueLink(request.params.id, new Date(), actorOf(request));
      return { link, expires_at: timestamp(expiresAt) };
    },
  );

  scope.post(
    '/admin/marketplace/installers/:id/revoke',
    {
      config,
      schema: {
        ...common,
        summary: 'Revoke all links to the archive of an installer that were issued so far',
        params: InstallerPath,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await installers.revokeLinks(request.params.id, actorOf(request));
      return reply.code(204).send();
    },
  );
}
