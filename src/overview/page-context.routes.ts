import Type from 'typebox';
import type { ObjectRef } from '../authz/object-ref.ts';
import { ObjectPermissions } from '../authz/objects.routes.ts';
import { readObjectType } from '../authz/objects.ts';
import { OBJECT_TYPES } from '../changes/object-kinds.ts';
import { callerOf, signedIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { documentedSchema, Int64, named, readId, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { expiryText } from '../organizations/expires-at.view.ts';
import { Organization, presentOrganization } from '../organizations/organization.view.ts';
import { presentSelf, User } from '../users/user.view.ts';
import { SOON_DAYS } from './overview.ts';
import type { GetPageContext } from './page-context.ts';

const PageContext = named(
  'PageContext',
  Type.Object({
    user: User,
    revision: Type.String({
      description: 'The answer is at least as new as this revision. Events continue from there.',
    }),
    // Absent if none was named, if it does not exist, or if the caller may not see it.
    organization: Type.Optional(Organization),
    allowed: Type.Array(ObjectPermissions, {
      description: 'What the caller may do with the organization, and with the object if one was named.',
    }),
    notices: Type.Object({
      tokens: Type.Array(Type.Object({ id: Int64, name: Type.String(), expires_at: Timestamp }), {
        description: `Tokens of the caller that have expired or expire within ${SOON_DAYS} days, at most 20.`,
      }),
      unverified_emails: Type.Array(Type.String()),
      memberships: Type.Array(
        Type.Object({
          team: Type.Object({ id: Int64, name: Type.String() }),
          organization: Type.String(),
          expires_at: Timestamp,
        }),
        { description: `Memberships of the caller that expire within ${SOON_DAYS} days, at most 20.` },
      ),
    }),
  }),
);

const Query = Type.Object({
  org: Type.Optional(Type.String({ description: 'The organization that the page is about.' })),
  object: Type.Optional(
    documentedSchema(
      Type.String({ description: 'The object of that organization that the page is about, such as team:7.' }),
      {
        pattern: `^(${OBJECT_TYPES.join('|')}):[1-9][0-9]{0,17}$`,
      },
    ),
  ),
});

export function pageContextRoutes(
  scope: Scope,
  getPageContext: GetPageContext,
  baseUrl: () => string,
  revisions: { readonly latest: bigint },
): void {
  scope.get(
    '/user/context',
    {
      // It answers what calls of several areas answer, so a token of one area is not enough.
      config: { access: signedIn('user', 'never', { scope: 'all' }) },
      schema: {
        summary:
          'Get what a page needs at load: the caller, an organization that they may see, and what they may do there',
        tags: ['user'],
        extension: true,
        querystring: Query,
        response: { 200: PageContext },
      },
    },
    async (request) => {
      const { person } = callerOf(request);
      const { org, object } = request.query;
      const revision = revisions.latest.toString();
      const question = { organization: org, object: object === undefined ? undefined : readObject(object) };
      const { organization, allowed, notices } = await getPageContext(person, question, new Date());
      return {
        user: presentSelf(person, baseUrl()),
        revision,
        ...(organization && { organization: presentOrganization(organization, baseUrl()) }),
        allowed: allowed.map(({ object: { type, id }, relations }) => ({
          objectType: type,
          objectID: id,
          allowedPermissions: [...relations],
        })),
        notices: {
          tokens: notices.tokens.map(({ id, name, expiresAt }) => ({ id, name, expires_at: timestamp(expiresAt) })),
          unverified_emails: [...notices.unverifiedEmails],
          memberships: notices.memberships.map(({ team, organization: name, expiresAt }) => ({
            ...{ team, organization: name, expires_at: expiryText(expiresAt) },
          })),
        },
      };
    },
  );
}

function readObject(text: string): ObjectRef {
  const [type = '', id = ''] = text.split(/:(.*)/s);
  return { type: readObjectType(type), id: readId(id, 'object ID') };
}
