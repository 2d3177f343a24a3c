import Type from 'typebox';
import { writeJson } from '../../base/json.ts';
import { OBJECT_TYPES } from '../../changes/object-kinds.ts';
import { AtQuery, ChangedSince, historianOf, presentSince, readAt, showAsOf } from '../../history/as-of.view.ts';
import type { Past } from '../../history/past.ts';
import { callerIn, member } from '../../http/admission/access.ts';
import { type Scope, sendText } from '../../http/server.ts';
import { PageQuery, readPage, showPage } from '../../http/wire/paging.ts';
import { Int64, named, OrgQuery, shownAs, Timestamp, timestamp } from '../../http/wire/schemas.ts';
import { namesThemselves } from '../asked-principal.ts';
import { REASON_KINDS } from '../explain/all-paths.ts';
import { MarkedUser, presentMarked } from '../explain/marked-user.view.ts';
import { readObjectType } from '../objects.ts';
import type { TimeMachine } from '../time-machine.ts';
import type { UserAccessRules } from './user-access.ts';

const Reference = named('ObjectName', Type.Object({ id: Int64, name: Type.String() }));
const REASON = {
  kind: Type.String({
    enum: REASON_KINDS,
    description:
      'team: the permission of a team, or being in it. role: a custom role. owner: the user owns the object themselves. ' +
      'platform: the user is a site administrator.',
  }),
  id: Type.Unsafe<number | bigint>({ ...Int64, description: 'Of the team, role or user; 0 for the platform.' }),
  name: Type.String(),
};
const Reason = named('AccessReason', Type.Object(REASON));
const Group = named(
  'AccessGroup',
  Type.Object({
    relations: Type.Array(Type.String(), { description: 'What the user holds on each of the objects.' }),
    via: Type.Array(
      named(
        'AccessGroupReason',
        Type.Object({
          ...REASON,
          relations: Type.Array(Type.String(), { description: 'Which of the relations come from there.' }),
        }),
      ),
      { description: 'Every reason that the caller may see.' },
    ),
    count: Type.Integer({ description: 'How many objects are in the group.' }),
    objects: Type.Array(Reference, { description: 'Those of them that are on this page, by ID.' }),
  }),
);
const Access = named(
  'UserAccess',
  Type.Object({
    user: MarkedUser,
    at: Timestamp,
    changed_since: Type.Optional(ChangedSince),
    teams: Type.Array(Reference, { description: 'The teams of the organization that the user is in.' }),
    roles: Type.Array(
      named(
        'AccessRole',
        Type.Object({
          id: Int64,
          name: Type.String(),
          via: Type.Array(Reason, { description: 'The teams of the user that have the role.' }),
        }),
      ),
    ),
    permissions: Type.Array(
      named(
        'AccessPermission',
        Type.Object({
          relation: Type.String(),
          via: Type.Array(Reason, { description: 'Every reason that the caller may see.' }),
        }),
      ),
      { description: 'What the user holds on the organization.' },
    ),
    types: Type.Array(
      named(
        'AccessType',
        Type.Object({
          type: Type.String({ enum: OBJECT_TYPES }),
          total: Type.Integer({ description: 'On how many objects of the type the user holds anything.' }),
          groups: Type.Array(Group, {
            description:
              'Objects on which the user holds the same for the same reasons. Small groups come first; a page contains ' +
              'the next objects of this order.',
          }),
        }),
      ),
    ),
  }),
);

export function userAccessRoutes(
  scope: Scope,
  { access }: UserAccessRules,
  past: Pick<Past, 'graphsAt'>,
  timeMachine: Pick<TimeMachine, 'requireReader' | 'changesSince'>,
  baseUrl: () => string,
): void {
  scope.get(
    '/authz/users/:username/access',
    {
      config: { access: member('authz', 'as users'), costly: 'ask about one type of objects' },
      schema: {
        summary:
          'Show everything that a user, or a robot such as robot:deploy, holds in an organization, and why, as far as the caller may see it',
        tags: ['authorization'],
        extension: true,
        params: Type.Object({ username: Type.String() }),
        querystring: Type.Object({
          ...OrgQuery.properties,
          ...PageQuery,
          type: Type.Optional(
            shownAs(Type.String(), {
              type: 'string',
              enum: OBJECT_TYPES,
            }),
          ),
          ...AtQuery,
        }),
        response: { 200: Access },
      },
    },
    async (request, reply) => {
      const { person, organization, limits } = callerIn(request);
      const { type } = request.query;
      const question = {
        organizationId: organization.id,
        callerId: person.id,
        type: type === undefined ? undefined : readObjectType(type),
        // What the caller owns themselves is outside the limits of every token.
        withOwn: limits === undefined,
      };
      const page = readPage(request.query);
      const then = readAt(request.query.at);
      const at = timestamp(then ?? new Date());
      const historian = historianOf(callerIn(request));
      const isSelf = namesThemselves(callerIn(request), request.params.username);
      if (then && !isSelf) await timeMachine.requireReader(historian);
      const found = await access(question, request.params.username, page, then && past.graphsAt(then));
      const since = then && (await timeMachine.changesSince(historian, then));
      if (then) showAsOf(reply, then, since);
      const total = found.types.reduce((most, one) => Math.max(most, one.total), 0);
      showPage(request, reply, baseUrl(), page, total);
      return sendText(
        reply,
        writeJson({
          ...found,
          user: presentMarked(found.user),
          at,
          ...(since && { changed_since: presentSince(since) }),
        }),
      );
    },
  );
}
