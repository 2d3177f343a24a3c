import Type from 'typebox';
import { callerOf, seesAsAdmin, seesAsSelf, signedIn, siteAdmin } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { versionEtag } from '../http/wire/etag.ts';
import { choice, PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { named, readId, shownAs } from '../http/wire/schemas.ts';
import { hideAddresses, ListedUser, presentListed, presentSelf, User } from './user.view.ts';
import { USER_STATES, type Users } from './users.ts';

const Path = Type.Object({ username: Type.String() });
const Search = Type.Object({ q: Type.Optional(Type.String({ description: 'Part of a name.' })), ...PageQuery });
const ProfileSearch = Type.Object({
  ...Search.properties,
  uid: Type.Optional(
    shownAs(Type.String({ description: 'Only the user with this ID. 0 means any user.' }), {
      type: 'integer',
      format: 'int64',
      minimum: 0,
    }),
  ),
});
const AdminSearch = Type.Object({
  ...Search.properties,
  state: choice(
    USER_STATES,
    'Only users who can sign in (active), who are deactivated (inactive), who may not sign in (prohibited), or who are site administrators (admin).',
  ),
});
const tags = ['users'];

/** Users, as every signed-in caller can look them up. */
export function userRoutes(scope: Scope, users: Users, baseUrl: () => string): void {
  scope.get(
    '/users/search',
    {
      config: { access: signedIn('user', 'as users', { isPublic: true }), isSearch: true },
      schema: {
        summary: 'Search users by name, or find one by ID',
        tags,
        extension: true,
        querystring: ProfileSearch,
        response: { 200: named('UserSearchResult', Type.Object({ ok: Type.Boolean(), data: Type.Array(ListedUser) })) },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const { q = '', uid = '' } = request.query;
      const id = uid === '' || uid === '0' ? undefined : readId(uid, 'user ID');
      const found = await users.search(q.trim(), page, id);
      showPage(request, reply, baseUrl(), page, found);
      const caller = callerOf(request);
      const seesStatus = (id: bigint) => seesAsAdmin(caller) || seesAsSelf(caller, id);
      const shown = hideAddresses(found.items, caller);
      return { ok: true, data: shown.map((profile) => presentListed(profile, baseUrl(), seesStatus(profile.id))) };
    },
  );

  scope.get(
    '/users/:username',
    {
      config: { access: signedIn('user', 'as users', { isPublic: true }) },
      schema: {
        summary: 'Get a user; only the user and site administrators see all fields',
        tags,
        extension: true,
        params: Path,
        etag: true,
        response: { 200: ListedUser },
      },
    },
    async (request, reply) => {
      const { username } = request.params;
      const caller = callerOf(request);
      const isSelf = caller.person.login.toLowerCase() === username.toLowerCase();
      const seesAll = seesAsAdmin(caller) || (isSelf && seesAsSelf(caller, caller.person.id));
      if (!seesAll) return presentListed(await users.profile(username), baseUrl(), false);
      const { person, version } = await users.person(username);
      reply.header('ETag', versionEtag({ id: person.id, version }));
      return presentSelf(person, baseUrl());
    },
  );

  scope.get(
    '/admin/users',
    {
      config: { access: siteAdmin('admin'), isSearch: true },
      schema: {
        summary: 'List all users, or search them by name or email address',
        tags,
        extension: true,
        querystring: AdminSearch,
        response: { 200: Type.Array(User) },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const { q = '', state } = request.query;
      const found = await users.list(q.trim(), state, page);
      showPage(request, reply, baseUrl(), page, found);
      return found.items.map((person) => presentSelf(person, baseUrl()));
    },
  );
}
