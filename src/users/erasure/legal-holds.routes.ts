import Type from 'typebox';
import { actorOf, siteAdmin } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { PageQuery, readPage, showPage } from '../../http/wire/paging.ts';
import { Int64, Line, NoBody, named, Timestamp, timestamp } from '../../http/wire/schemas.ts';
import type { Erasure, LegalHold } from './erasure.ts';

const Hold = named(
  'LegalHold',
  Type.Object({
    user: Type.Object(
      { id: Int64, username: Type.String({ description: 'Empty if the account is deleted.' }) },
      { description: 'Who must not be erased.' },
    ),
    reason: Type.String({ description: 'Why, such as the number of a lawsuit.' }),
    created_by_id: Type.Unsafe<number | bigint>({ ...Int64, description: 'Who began the hold.' }),
    created_at: Timestamp,
  }),
);
const NewHold = named('NewLegalHold', Type.Object({ reason: Line(200) }));
const Path = Type.Object({
  username: Type.String({ description: 'Login name, or id: and the ID, such as id:17, also of a deleted account.' }),
});

/** People who must not be erased. */
export function legalHoldRoutes(scope: Scope, erasure: Erasure, baseUrl: () => string): void {
  const common = { tags: ['users'], extension: true };
  const config = { access: siteAdmin('admin') };

  scope.get(
    '/admin/holds',
    {
      config,
      schema: {
        ...common,
        summary: 'List the users who must not be erased',
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(Hold) },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const found = await erasure.holds(page);
      showPage(request, reply, baseUrl(), page, found);
      return found.items.map(present);
    },
  );

  scope.put(
    '/admin/users/:username/hold',
    {
      config,
      schema: {
        ...common,
        summary: 'Begin a legal hold, which prevents that a user is erased, or give it another reason',
        params: Path,
        body: NewHold,
        response: { 200: Hold },
      },
    },
    async (request) => present(await erasure.hold(request.params.username, request.body.reason, actorOf(request))),
  );

  scope.delete(
    '/admin/users/:username/hold',
    { config, schema: { ...common, summary: 'Release a legal hold', params: Path, response: { 204: NoBody } } },
    async (request, reply) => {
      await erasure.release(request.params.username, actorOf(request));
      return reply.code(204).send();
    },
  );
}

function present({ accountId, username, reason, createdById, createdAt }: LegalHold) {
  return {
    user: { id: accountId, username },
    reason,
    created_by_id: createdById,
    created_at: timestamp(createdAt),
  };
}
