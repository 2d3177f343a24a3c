import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { writeListInSlices } from '../base/json.ts';
import { callerIn, member } from '../http/admission/access.ts';
import { type Scope, sendText } from '../http/server.ts';
import { Int64Input, named, OrgQuery, PermissionPair, readIdNumber, UserReference } from '../http/wire/schemas.ts';
import type { CatalogEntry } from '../roles/catalog.ts';
import { readInput, UpdateRole } from '../roles/roles.routes.ts';
import type { RolePreview } from './role-preview.ts';

const PreviewRole = named(
  'RolePreview',
  Type.Object({
    ...UpdateRole.properties,
    id: Type.Optional(Int64Input),
    delete: Type.Optional(Type.Boolean({ description: 'If true, previews deleting the role. Requires id.' })),
  }),
);
const Effects = named(
  'RoleEffects',
  Type.Object({
    changes: Type.Array(
      Type.Object({ user: UserReference, gains: Type.Array(PermissionPair), loses: Type.Array(PermissionPair) }),
      {
        description: 'Ordered by user ID; those after the first thousand are left out.',
      },
    ),
    total: Type.Integer({ description: 'How many users the change affects.' }),
  }),
);

export function rolePreviewRoutes(scope: Scope, { preview }: RolePreview): void {
  const tags = ['authorization'];

  scope.post(
    '/authz/roles/preview',
    {
      config: { access: member('authz', 'as users', { level: 'read' }), costly: 'assign the role to fewer teams' },
      schema: {
        summary: 'Preview what creating, updating or deleting a role would change, and for whom',
        tags,
        extension: true,
        querystring: OrgQuery,
        body: PreviewRole,
        response: { 200: Effects },
      },
    },
    async (request, reply) => {
      const { person, organization } = callerIn(request);
      const { id, delete: isDelete, ...body } = request.body;
      if (isDelete && id === undefined) throw new AppError('invalid', 'delete needs the id of a role');
      const roleId = id === undefined ? undefined : readIdNumber(id, 'role ID');
      const wanted = isDelete ? 'delete' : readInput(body);
      const { effects, total } = await preview(organization.id, person.id, roleId, wanted);
      const changes = await writeListInSlices(effects, ({ person: user, gains, loses }) => ({
        user,
        gains: gains.map(pair),
        loses: loses.map(pair),
      }));
      return sendText(reply, `{"changes":${changes},"total":${total}}`);
    },
  );
}

function pair({ namespace, action }: CatalogEntry) {
  return { namespace, action };
}
