import Type from 'typebox';
import { actorOf, siteAdmin } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { NoBody, named, PathId, readId, Timestamp, timestamp } from '../../http/wire/schemas.ts';
import type { Users } from '../../users/users.ts';
import type { LinkedAccounts } from '../linked-accounts.ts';
import { LinkedInfo, presentLinked } from './linked-account.view.ts';

const Relink = named(
  'LinkPermission',
  Type.Object({
    until: Type.Unsafe<string>({
      ...Timestamp,
      description: 'Until then, the next sign-in with a provider that tells the primary address is linked.',
    }),
  }),
);

interface AdminLinkedAccountsRoutesOptions {
  readonly linkedAccounts: Pick<LinkedAccounts, 'list' | 'removeFor' | 'allowRelink'>;
  readonly users: Pick<Users, 'idOf'>;
  readonly displayNames: () => Promise<ReadonlyMap<string, string>>;
}

/** The linked accounts of users, for administrators: an account at a provider can be gone, or be made again. */
export function adminLinkedAccountRoutes(
  scope: Scope,
  { linkedAccounts, users, displayNames }: AdminLinkedAccountsRoutesOptions,
): void {
  const common = { tags: ['sign-in'], extension: true };
  const Path = Type.Object({ username: Type.String() });

  scope.get(
    '/admin/users/:username/linked_accounts',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        ...common,
        summary: 'List the accounts at providers that are linked to a user',
        params: Path,
        response: { 200: Type.Array(LinkedInfo) },
      },
    },
    async (request) => {
      const links = await linkedAccounts.list(await users.idOf(request.params.username));
      const names = await displayNames();
      return links.map((link) => presentLinked(link, names));
    },
  );

  scope.delete(
    '/admin/users/:username/linked_accounts/:id',
    {
      config: { access: siteAdmin('admin', { proven: true }) },
      schema: {
        ...common,
        summary: 'Unlink an account at a provider from a user, and end the sessions that were opened with it',
        description:
          'If the user has no other way to sign in, the next sign-in with a provider that tells their primary address ' +
          'is linked without asking, for seven days.',
        params: Type.Object({ username: Type.String(), id: PathId }),
        errors: [404],
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { username, id } = request.params;
      const accountId = await users.idOf(username);
      await linkedAccounts.removeFor(accountId, readId(id, 'linked account ID'), actorOf(request), new Date());
      return reply.code(204).send();
    },
  );

  scope.put(
    '/admin/users/:username/link_permission',
    {
      config: { access: siteAdmin('admin', { proven: true }) },
      schema: {
        ...common,
        summary: 'Link the next sign-in with the primary address of a user without asking them, for seven days',
        description:
          'For users who cannot sign in to confirm it, such as those who only had a password that is now off.',
        params: Path,
        response: { 200: Relink },
      },
    },
    async (request) => {
      const accountId = await users.idOf(request.params.username);
      return { until: timestamp(await linkedAccounts.allowRelink(accountId, actorOf(request), new Date())) };
    },
  );
}
