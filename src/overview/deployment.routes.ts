import Type from 'typebox';
import { siteAdmin } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { named } from '../http/wire/schemas.ts';
import type { Organizations } from '../organizations/organizations.ts';
import type { Users } from '../users/users.ts';

const DeploymentOverview = named(
  'DeploymentOverview',
  Type.Object({
    users: Type.Integer(),
    organizations: Type.Integer(),
    ownerless_organizations: Type.Integer({ description: 'Those without an owner, which site administrators manage.' }),
  }),
);

const COUNT_ONLY = { offset: 0, limit: 1 };

interface Nouns {
  readonly organizations: Pick<Organizations, 'listAll'>;
  readonly users: Pick<Users, 'list'>;
}

export function deploymentRoutes(scope: Scope, { organizations, users }: Nouns): void {
  scope.get(
    '/admin/overview',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        summary: 'Count the users and organizations of the deployment',
        tags: ['server'],
        extension: true,
        response: { 200: DeploymentOverview },
      },
    },
    async () => {
      const [people, all, ownerless] = await Promise.all([
        users.list('', undefined, COUNT_ONLY),
        organizations.listAll(COUNT_ONLY),
        organizations.listAll(COUNT_ONLY, { text: '', ownerless: true }),
      ]);
      return { users: people.total, organizations: all.total, ownerless_organizations: ownerless.total };
    },
  );
}
