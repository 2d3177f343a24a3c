import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import type { Once } from '../changes/write.ts';
import { actorOf, siteAdmin } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsent } from '../http/wire/absent-fields.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { unchanged, versionEtag } from '../http/wire/etag.ts';
import { Line, NoBody, named } from '../http/wire/schemas.ts';
import { type Erasure, idIn, requireOwnName } from './erasure/erasure.ts';
import { ProfileFields, presentSelf, readProfile, User } from './user.view.ts';
import type { Users, VersionedPerson } from './users.ts';

const Path = Type.Object({ username: Type.String() });
const Removed = Type.Object({
  username: Type.String({
    description: 'Login name. To erase a user whose account was deleted before: id: and the ID, such as id:17.',
  }),
});
const Password = Type.String({ description: '8 to 255 characters. A new password ends all sessions of the user.' });
const Flags = {
  admin: Type.Optional(Type.Boolean({ description: 'Whether the user is a site administrator.' })),
  active: Type.Optional(Type.Boolean({ description: 'If false, all requests of the user are rejected.' })),
  prohibit_login: Type.Optional(Type.Boolean()),
};

const CreateUser = named(
  'NewUser',
  Type.Object({
    username: Type.String(),
    email: Type.String(),
    full_name: Type.Optional(Line(100)),
    password: Type.Optional(Password),
    ...Flags,
  }),
);

const EditUser = named(
  'EditUser',
  Type.Object({
    email: Type.Optional(Type.String({ description: 'New primary address. It replaces the current one.' })),
    password: Type.Optional(Password),
    ...ProfileFields,
    ...Flags,
  }),
);

/** Users, as site administrators manage them. */
export function adminUserRoutes(scope: Scope, users: Users, erasure: Erasure, baseUrl: () => string): void {
  const tags = ['users'];
  const config = { access: siteAdmin('admin') };
  const preValidation = dropAbsent('password', 'email');
  const show = (reply: FastifyReply, { person, version }: VersionedPerson) => {
    reply.header('ETag', versionEtag({ id: person.id, version }));
    return presentSelf(person, baseUrl());
  };

  scope.post(
    '/admin/users',
    {
      preValidation: dropAbsent('password'),
      config: { ...config, creates: true },
      schema: {
        summary: 'Create a user',
        tags,
        extension: true,
        body: CreateUser,
        etag: true,
        response: { 201: User },
      },
    },
    async (request, reply) => {
      const { username, email, full_name, password, admin, active, prohibit_login } = request.body;
      const traits = { isAdmin: admin, active, prohibitLogin: prohibit_login, fullName: full_name, password };
      const create = async (once?: Once<VersionedPerson>) => {
        await users.create({ name: username, email, ...traits }, actorOf(request), once);
        return await users.person(username);
      };
      return await createOnce(request, reply.code(201), create, (found: VersionedPerson) => show(reply, found));
    },
  );

  scope.patch(
    '/admin/users/:username',
    {
      preValidation,
      config,
      schema: {
        summary: 'Update a user; omitted fields stay unchanged',
        tags,
        extension: true,
        params: Path,
        optionalBody: true,
        body: EditUser,
        etag: true,
        ifMatch: true,
        response: { 200: User },
      },
    },
    async (request, reply) => {
      const { email, password, active, admin, prohibit_login } = request.body;
      const flags = { active, isAdmin: admin, prohibitLogin: prohibit_login };
      const fields = { email, password, ...flags, ...readProfile(request.body) };
      const { username } = request.params;
      await users.update(username, fields, unchanged(request), actorOf(request));
      return show(reply, await users.person(username));
    },
  );

  scope.delete(
    '/admin/users/:username',
    {
      config,
      schema: {
        summary: 'Delete a user and everything they own',
        tags,
        extension: true,
        params: Removed,
        querystring: Type.Object({
          erase: Type.Optional(
            Type.Boolean({
              description:
                'Also remove what identifies the user from the audit log, for good. IDs stay, and every hash stays valid.',
            }),
          ),
          orphan: Type.Optional(
            Type.Boolean({
              description: 'Delete even the last owner of organizations. Site administrators then manage them.',
            }),
          ),
        }),
        ifMatch: true,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { username } = request.params;
      const { erase: erases = false, orphan: orphans = false } = request.query;
      const actor = actorOf(request);
      if (erases) requireOwnName(actor);
      const id = erases ? idIn(username) : undefined;
      const present = id === undefined ? username : await erasure.nameOf(id);
      if (id !== undefined && present === undefined) await erasure.eraseDeleted(id, actor);
      else await users.remove(present ?? username, unchanged(request), actor, { orphans, erases });
      if (erases) await erasure.finishSoon();
      return reply.code(204).send();
    },
  );

  scope.post(
    '/admin/users/:username/view-as',
    {
      config,
      schema: {
        summary: 'Record that the caller begins to see what another user sees, by the Sudo header',
        tags,
        extension: true,
        params: Path,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await users.viewAs(request.params.username, actorOf(request));
      return reply.code(204).send();
    },
  );
}
