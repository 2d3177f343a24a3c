import Type from 'typebox';
import { callerOf, seesAsSelf, signedIn } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { PageQuery, readPage, showPage } from '../../http/wire/paging.ts';
import { NoBody } from '../../http/wire/schemas.ts';
import { hideAddresses, presentProfile, User } from '../user.view.ts';
import type { Follows } from './follows.ts';

const Username = Type.Object({ username: Type.String() });

export function followRoutes(scope: Scope, follows: Follows, baseUrl: () => string): void {
  const tags = ['user'];
  const config = { access: signedIn('user', 'never') };

  for (const list of ['followers', 'following'] as const) {
    scope.get(
      `/user/${list}`,
      {
        config,
        schema: {
          summary:
            list === 'followers'
              ? 'List the followers of the caller, newest first'
              : 'List the users that the caller follows, newest first',
          tags,
          querystring: Type.Object(PageQuery),
          response: { 200: Type.Array(User) },
        },
      },
      async (request, reply) => {
        const page = readPage(request.query);
        const { items, total } = await follows[list](callerOf(request).person.id, page);
        showPage(request, reply, baseUrl(), page, total);
        return items.map((profile) => presentProfile(profile, baseUrl()));
      },
    );
  }

  // As every caller sees them: only the lists of the caller show addresses.
  for (const list of ['followers', 'following'] as const) {
    scope.get(
      `/users/:username/${list}`,
      {
        config: { access: signedIn('user', 'as users', { isPublic: true }) },
        schema: {
          summary:
            list === 'followers'
              ? 'List the followers of a user, newest first'
              : 'List the users that a user follows, newest first',
          tags,
          extension: true,
          params: Username,
          querystring: Type.Object(PageQuery),
          response: { 200: Type.Array(User) },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request);
        const id = await follows.idOf(request.params.username);
        const page = readPage(request.query);
        const { items, total } = await follows[list](id, page);
        showPage(request, reply, baseUrl(), page, total);
        const shown = seesAsSelf(caller, id) ? items : hideAddresses(items, caller);
        return shown.map((profile) => presentProfile(profile, baseUrl()));
      },
    );
  }

  scope.get(
    '/users/:username/following/:target',
    {
      config: { access: signedIn('user', 'as users', { isPublic: true }) },
      schema: {
        summary: 'Check whether a user follows another: 204 if so, otherwise 404',
        tags,
        extension: true,
        params: Type.Object({ username: Type.String(), target: Type.String() }),
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await follows.check(await follows.idOf(request.params.username), request.params.target);
      return reply.code(204).send();
    },
  );

  for (const [method, verb, summary] of [
    ['GET', 'check', 'Check whether the caller follows a user: 204 if so, otherwise 404'],
    ['PUT', 'follow', 'Follow a user'],
    ['DELETE', 'unfollow', 'Unfollow a user'],
  ] as const) {
    scope.route({
      method,
      url: '/user/following/:username',
      config,
      schema: { summary, tags, params: Username, grows: method === 'PUT', response: { 204: NoBody } },
      handler: async (request, reply) => {
        await follows[verb](callerOf(request).person.id, request.params.username);
        return reply.code(204).send();
      },
    });
  }
}
