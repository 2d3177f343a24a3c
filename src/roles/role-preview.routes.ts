import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { callerIn, member } from '../http/access.ts';
import { Int64, Int64Input, OrgQuery, readIdNumber } from '../http/schemas.ts';
import type { Scope } from '../http/server.ts';
import type { CatalogEntry } from './catalog.ts';
import type { RolePreview } from './role-preview.ts';
import { readInput, UpdateRole } from './roles.routes.ts';

const User = Type.Object({ id: Int64, name: Type.String() });
const Pair = Type.Object({ namespace: Type.String(), action: Type.String() });
const PreviewRole = Type.Object({
  ...UpdateRole.properties,
  id: Type.Optional(Int64Input),
  delete: Type.Optional(Type.Boolean({ description: 'If true, previews deleting the role. Requires id.' })),
});
const Effects = Type.Object({
  changes: Type.Array(Type.Object({ user: User, gains: Type.Array(Pair), loses: Type.Array(Pair) })),
});

export function rolePreviewRoutes(scope: Scope, { preview }: RolePreview): void {
  const tags = ['authorization'];

  scope.post(
    '/authz/roles/preview',
    {
      config: { access: member('authz', { level: 'read' }) },
      schema: {
        summary: 'Preview what creating, updating or deleting a role would change, and for whom',
        tags,
        extension: true,
        querystring: OrgQuery,
        body: PreviewRole,
        response: { 200: Effects },
      },
    },
    async (request) => {
      const { person, organization } = callerIn(request);
      const { id, delete: isDelete, ...body } = request.body;
      if (isDelete && id === undefined) throw new AppError('invalid', 'delete needs the id of a role');
      const roleId = id === undefined ? undefined : readIdNumber(id, 'role ID');
      const found = await preview(organization.id, person.id, roleId, isDelete ? 'delete' : readInput(body));
      const changes = found.map(({ person: user, gains, loses }) => ({
        user,
        gains: gains.map(pair),
        loses: loses.map(pair),
      }));
      return { changes };
    },
  );
}

function pair({ namespace, action }: CatalogEntry) {
  return { namespace, action };
}
