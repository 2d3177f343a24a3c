import Type from 'typebox';
import { PlaceResponse, presentPlace } from '../authz/places/place.view.ts';
import type { SeesPlace } from '../authz/places/sees-place.ts';
import { PRINCIPAL_TYPES } from '../changes/object-kinds.ts';
import { callerIn, member } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { Int64, named, OrgQuery, PermissionPair, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { GRANT_KINDS, MAX_DAYS, type Unused, type UnusedGrant } from './unused.ts';

const says = (description: string) => ({ description });
const Reference = (description: string) =>
  Type.Object({ id: Int64, name: Type.String(says('Its name.')) }, { description });

export const UnusedAccess = named(
  'UnusedAccess',
  Type.Object({
    kind: Type.String({ enum: [...GRANT_KINDS], ...says('What was not used.') }),
    assignment_id: Type.Optional(
      Type.Unsafe<number | bigint>({ ...Int64, ...says('Of an assignment: its ID, to remove it.') }),
    ),
    team: Type.Optional(Reference('Of a membership: the team.')),
    role: Type.Optional(Reference('Of an assignment or a permission: the role.')),
    to: Type.Optional(
      Type.Object(
        {
          type: Type.String({ enum: [...PRINCIPAL_TYPES], ...says('What it is.') }),
          id: Int64,
          name: Type.String(says('Login name of the user, or name of the team or robot.')),
        },
        says('Of a membership or an assignment: who has it.'),
      ),
    ),
    on: Type.Optional(PlaceResponse),
    permission: Type.Optional(PermissionPair),
    since: Type.Unsafe<string>({
      ...Timestamp,
      ...says('Since when it exists. Of a permission: when its role last changed.'),
    }),
    last_used_on: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date',
      ...says('The last day on which it made a difference, in UTC. Null: on none that is known.'),
    }),
  }),
);
export const UnusedReportResponse = named(
  'UnusedReport',
  Type.Object({
    days: Type.Integer(says('How many days the report covers.')),
    tracked_since: Type.Unsafe<string>({ ...Timestamp, ...says('Uses before this time are not known.') }),
    complete: Type.Boolean(
      says('False if uses are not known for so many days yet. Then nothing is called unused, and items is empty.'),
    ),
    items: Type.Array(
      UnusedAccess,
      says('One page. All of them can be ended together: every use would still be allowed.'),
    ),
  }),
);

interface Parts {
  readonly unused: Unused;
  readonly seesPlace: SeesPlace;
  readonly baseUrl: () => string;
}

export function unusedRoutes(scope: Scope, { unused, seesPlace, baseUrl }: Parts): void {
  scope.get(
    '/authz/unused',
    {
      config: { access: member('authz', 'as users'), costly: 'ask when fewer requests are made' },
      schema: {
        summary: 'List memberships, assignments and permissions of roles that have not been used for some time',
        tags: ['reviews'],
        extension: true,
        strictQuery: true,
        querystring: Type.Object({
          ...OrgQuery.properties,
          days: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: MAX_DAYS,
              ...says('For how many days. By default 90. 0 lists everything, with the day of the last use.'),
            }),
          ),
          kind: Type.Optional(Type.String({ enum: [...GRANT_KINDS], ...says('Only these.') })),
          ...PageQuery,
        }),
        response: { 200: UnusedReportResponse },
      },
    },
    async (request, reply) => {
      const { organization, person } = callerIn(request);
      await unused.requireReader(organization.id, person.id);
      const { days = 90, kind } = request.query;
      const found = await unused.report(organization.id, days, new Date());
      const grants = found.grants.filter((grant) => kind === undefined || grant.kind === kind);
      const page = readPage(request.query);
      showPage(request, reply, baseUrl(), page, grants.length);
      const items = [];
      for (const grant of grants.slice(page.offset, page.offset + page.limit)) {
        const isSeen = grant.kind !== 'assignment' || (await seesPlace(person.id, organization.id, grant.on));
        items.push(present(grant, isSeen));
      }
      return { days, tracked_since: timestamp(found.trackedSince), complete: found.isComplete, items };
    },
  );
}

function present(grant: UnusedGrant, isPlaceSeen: boolean) {
  return {
    kind: grant.kind,
    ...(grant.kind === 'membership' && { team: grant.team }),
    ...(grant.kind === 'assignment' && { assignment_id: grant.id }),
    ...(grant.kind !== 'membership' && { role: grant.role }),
    ...(grant.kind !== 'permission' && { to: grant.to }),
    ...(grant.kind === 'assignment' && { on: presentPlace(grant.on, !isPlaceSeen) }),
    ...(grant.kind === 'permission' && { permission: { ...grant.permission } }),
    since: timestamp(grant.createdAt),
    last_used_on: grant.lastUsedOn ?? null,
  };
}
