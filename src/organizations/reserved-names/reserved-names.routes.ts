import Type from 'typebox';
import { actorOf, siteAdmin } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { PageQuery, readPage, showPage } from '../../http/wire/paging.ts';
import { Int64, NoBody, named, Timestamp, timestamp } from '../../http/wire/schemas.ts';
import type { ReservedName, ReservedNames } from './reserved-names.ts';

const Reserved = named(
  'ReservedName',
  Type.Object({
    name: Type.String(),
    account: Type.Object(
      {
        type: Type.Unsafe<ReservedName['kind']>({ type: 'string', enum: ['user', 'organization'] }),
        id: Int64,
        username: Type.String({ description: 'Its present name. Empty if it was deleted.' }),
      },
      { description: 'The user or organization that had the name.' },
    ),
    reserved_at: Timestamp,
    expires_at: Timestamp,
  }),
);

export function reservedNameRoutes(scope: Scope, names: ReservedNames, baseUrl: () => string): void {
  const common = { tags: ['organizations'], extension: true };
  const config = { access: siteAdmin('admin') };

  scope.get(
    '/admin/reserved-names',
    {
      config,
      schema: {
        ...common,
        summary: 'List the names that are reserved because their account was renamed or deleted',
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(Reserved) },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const found = await names.list(page);
      showPage(request, reply, baseUrl(), page, found);
      return found.items.map(present);
    },
  );

  scope.delete(
    '/admin/reserved-names/:name',
    {
      config,
      schema: {
        ...common,
        summary: 'Release a reserved name, so that anyone can take it',
        params: Type.Object({ name: Type.String() }),
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await names.release(request.params.name, actorOf(request));
      return reply.code(204).send();
    },
  );
}

function present({ name, kind, accountId, accountName, reservedAt, expiresAt }: ReservedName) {
  return {
    name,
    account: { type: kind, id: accountId, username: accountName },
    reserved_at: timestamp(reservedAt),
    expires_at: timestamp(expiresAt),
  };
}
