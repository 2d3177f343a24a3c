import Type from 'typebox';
import { siteAdmin } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { named, Timestamp, timestamp } from '../../http/wire/schemas.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { Users } from '../../users/users.ts';
import type { DeploymentStore } from './deployment.ts';

const DeploymentOverview = named(
  'DeploymentOverview',
  Type.Object({
    users: Type.Integer(),
    organizations: Type.Integer(),
    ownerless_organizations: Type.Integer({ description: 'Those without an owner, which site administrators manage.' }),
    administrators: Type.Integer({ description: 'Site administrators who can sign in.' }),
    administrators_without_factor: Type.Integer({ description: 'Those of them who have no second factor.' }),
    last_backup_at: Type.Union([Timestamp, Type.Null()], { description: 'Null if no backup was made.' }),
  }),
);

const COUNT_ONLY = { offset: 0, limit: 1 };

interface Nouns {
  readonly organizations: Pick<Organizations, 'listAll'>;
  readonly users: Pick<Users, 'list'>;
  readonly deployment: DeploymentStore;
}

export function deploymentRoutes(scope: Scope, { organizations, users, deployment }: Nouns): void {
  scope.get(
    '/admin/overview',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        summary: 'Count the users and organizations of the deployment, and tell how safe it is',
        tags: ['server'],
        extension: true,
        response: { 200: DeploymentOverview },
      },
    },
    async () => {
      const [people, all, ownerless, found] = await Promise.all([
        users.list('', undefined, COUNT_ONLY),
        organizations.listAll(COUNT_ONLY),
        organizations.listAll(COUNT_ONLY, { text: '', ownerless: true }),
        deployment.find(),
      ]);
      return {
        users: people.total,
        organizations: all.total,
        ownerless_organizations: ownerless.total,
        administrators: found.administrators,
        administrators_without_factor: found.administratorsWithoutFactor,
        last_backup_at: found.lastBackupAt && timestamp(found.lastBackupAt),
      };
    },
  );
}
