import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { actorOf, siteAdmin } from '../http/access.ts';
import { unchanged, versionTag } from '../http/etag.ts';
import { leavingOut } from '../http/left-out.ts';
import { NoBody } from '../http/schemas.ts';
import type { Scope } from '../http/server.ts';
import { presentSelf, User } from '../http/user.view.ts';
import { Text, Website } from './organizations.routes.ts';
import type { NumberedPerson, UserRegister } from './users.ts';

const Path = Type.Object({ username: Type.String() });
const Password = Type.String({ description: '8 to 255 characters. A new one ends all sessions.' });
const Flags = {
  admin: Type.Optional(Type.Boolean({ description: 'A site administrator.' })),
  active: Type.Optional(Type.Boolean({ description: 'Without this nobody can do anything as them.' })),
  prohibit_login: Type.Optional(Type.Boolean()),
};

const CreateUser = Type.Object({
  username: Type.String(),
  email: Type.String(),
  full_name: Type.Optional(Text(100)),
  password: Type.Optional(Password),
  ...Flags,
});

const EditUser = Type.Object({
  email: Type.Optional(Type.String({ description: 'Becomes the primary address, in place of the present one.' })),
  full_name: Type.Optional(Text(100)),
  password: Type.Optional(Password),
  description: Type.Optional(Text(1000)),
  website: Type.Optional(Website),
  location: Type.Optional(Text(100)),
  ...Flags,
});

/** People, as site administrators deal with them. */
export function adminUserRoutes(scope: Scope, register: UserRegister, baseUrl: () => string): void {
  const tags = ['administration'];
  const config = { access: siteAdmin('admin') };
  const preValidation = leavingOut('password', 'email');
  const show = (reply: FastifyReply, { person, version }: NumberedPerson) => {
    reply.header('ETag', versionTag({ id: person.id, version }));
    return presentSelf(person, baseUrl());
  };

  scope.post(
    '/admin/users',
    {
      preValidation: leavingOut('password'),
      config,
      schema: { summary: 'Make a user', tags, extension: true, body: CreateUser, response: { 201: User } },
    },
    async (request, reply) => {
      const { username, email, full_name, password, admin, active, prohibit_login } = request.body;
      const traits = { isAdmin: admin, active, prohibitLogin: prohibit_login, fullName: full_name, password };
      const made = await register.create({ name: username, email, ...traits }, actorOf(request));
      return reply.code(201).send(show(reply, made));
    },
  );

  scope.patch(
    '/admin/users/:username',
    {
      preValidation,
      config,
      schema: {
        summary: 'Change a user; what is left out stays',
        tags,
        extension: true,
        params: Path,
        body: EditUser,
        response: { 200: User },
      },
    },
    async (request, reply) => {
      const { full_name, admin, prohibit_login, ...same } = request.body;
      const { email, password, description, website, location, active } = same;
      const input = { email, password, description, website, location, active };
      const said = { ...input, fullName: full_name, isAdmin: admin, prohibitLogin: prohibit_login };
      const { username } = request.params;
      return show(reply, await register.update(username, said, unchanged(request), actorOf(request)));
    },
  );

  scope.delete(
    '/admin/users/:username',
    {
      config,
      schema: {
        summary: 'Delete a user with all that is theirs',
        tags,
        extension: true,
        params: Path,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await register.remove(request.params.username, unchanged(request), actorOf(request));
      return reply.code(204).send();
    },
  );
}
