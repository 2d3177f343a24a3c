import Type from 'typebox';
import { callerIn, holdsIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { choice, Descending, PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { Int64, named, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { ListedUser, presentListed } from '../users/user.view.ts';
import { Expiry, presentExpiry } from './expires-at.view.ts';
import type { ListMembers, Member as MemberValue, Work } from './member-list.ts';

const given = (description: string) =>
  Type.Optional(Type.String({ description: `${description} Absent if the identity provider does not give it.` }));

const Member = named(
  'Member',
  Type.Object({
    ...ListedUser.properties,
    teams: Type.Array(
      Type.Object({
        id: Int64,
        name: Type.String(),
        permission: Type.String({ enum: ['none', 'read', 'write', 'admin', 'owner'] }),
        expires_at: Expiry,
      }),
      {
        description: 'The teams of the organization that the member is in, as far as the caller may see them.',
      },
    ),
    joined_at: Type.Unsafe<string>({
      ...Timestamp,
      description: 'When the earliest of the present memberships in teams of the organization began.',
    }),
    expires_at: Type.Optional(
      Type.Unsafe<string>({
        ...Timestamp,
        description: 'When the user stops being a member. Absent if one of the memberships in teams does not end.',
      }),
    ),
    managed_by_scim: Type.Optional(
      Type.Boolean({ description: 'True if an identity provider manages the member by SCIM. Absent otherwise.' }),
    ),
    title: given('The job title.'),
    department: given('The department.'),
    employee_number: given('The number of the member in the company.'),
    cost_center: given('The cost center.'),
    manager: Type.Optional(
      Type.Object(
        {
          type: Type.String({ enum: ['user'], description: 'Always user.' }),
          id: Int64,
          name: Type.String({ description: 'The login name of the manager.' }),
        },
        { description: 'The manager, by SCIM. Absent if no member of the organization is meant.' },
      ),
    ),
    manager_name: given('The name of the manager.'),
  }),
);

const Query = Type.Object({
  q: Type.Optional(Type.String({ description: 'Part of the login, the full name or the primary email address.' })),
  team: Type.Optional(
    Type.String({ description: 'Only members of this team: its ID, or its name if that is not a number.' }),
  ),
  sort: choice(['name', 'joined'], 'Sort by name or by joined_at. By default, by ID.'),
  order: Descending,
  ...PageQuery,
});

export function memberListRoutes(scope: Scope, list: ListMembers, baseUrl: () => string): void {
  scope.get(
    '/orgs/:org/members',
    {
      config: { access: holdsIn('view_members:org', 'organization') },
      schema: {
        summary: 'List the members of an organization, with their teams',
        tags: ['members'],
        extension: true,
        params: Type.Object({ org: Type.String() }),
        querystring: Query,
        response: { 200: Type.Array(Member) },
      },
    },
    async (request, reply) => {
      const { organization, person } = callerIn(request);
      const { q = '', team, sort, order } = request.query;
      const page = readPage(request.query);
      const question = { text: q.trim(), team, orderBy: sort ?? ('id' as const), isDescending: order === 'desc' };
      const { items, total } = await list(organization.id, person.id, question, page);
      showPage(request, reply, baseUrl(), page, total);
      return items.map((member) => presentMember(member, baseUrl()));
    },
  );

  scope.get(
    '/orgs/:org/public_members',
    {
      config: { access: holdsIn('view_members:org', 'organization') },
      schema: {
        summary: 'List the members of an organization as users: no membership is public, or hidden from members',
        tags: ['members'],
        extension: true,
        params: Type.Object({ org: Type.String() }),
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(ListedUser) },
      },
    },
    async (request, reply) => {
      const { organization, person } = callerIn(request);
      const page = readPage(request.query);
      const question = { text: '', team: undefined, orderBy: 'id' as const, isDescending: false };
      const { items, total } = await list(organization.id, person.id, question, page);
      showPage(request, reply, baseUrl(), page, total);
      return items.map(({ profile }) => presentListed(profile, baseUrl(), true));
    },
  );
}

function presentMember({ profile, teams, joinedAt, expiresAt, isProvisioned, work }: MemberValue, baseUrl: string) {
  return {
    // A caller who may list the members may see them.
    ...presentListed(profile, baseUrl, true),
    teams: teams.map(({ expiresAt: until, ...team }) => ({ ...team, ...presentExpiry(until) })),
    joined_at: timestamp(joinedAt),
    ...presentExpiry(expiresAt),
    ...(isProvisioned && { managed_by_scim: true }),
    ...presentWork(work),
  };
}

function presentWork({ title, department, employeeNumber, costCenter, manager, managerName }: Work) {
  return {
    ...(title !== '' && { title }),
    ...(department !== '' && { department }),
    ...(employeeNumber !== '' && { employee_number: employeeNumber }),
    ...(costCenter !== '' && { cost_center: costCenter }),
    ...(manager && { manager: { type: 'user' as const, ...manager } }),
    ...(managerName !== '' && { manager_name: managerName }),
  };
}
