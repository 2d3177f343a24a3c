import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { actorOf, callerIn, callerOf, holdsIn, siteAdmin } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { flag, PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { NoBody, named } from '../http/wire/schemas.ts';
import type { Users } from '../users/users.ts';
import type { Factors, HolderSearch } from './factors.ts';
import { FactorList, Holder, presentFactors, presentHolder } from './factors.view.ts';
import type { Passkeys } from './passkeys.ts';

interface RequiredFactorsRoutesOptions {
  readonly factors: Factors;
  readonly passkeys: Pick<Passkeys, 'isAvailable'>;
  readonly users: Pick<Users, 'person' | 'idOf'>;
  readonly baseUrl: () => string;
}

const Requirement = named(
  'SecondFactorRequirement',
  Type.Object({ required: Type.Boolean({ description: 'Whether all members must have a second factor.' }) }),
);
const Adoption = named(
  'SecondFactorAdoption',
  Type.Object(
    {
      required: Type.Boolean({ description: 'Whether all members must have a second factor.' }),
      members: Type.Integer({ description: 'How many members can have one: active users, and no robots.' }),
      without: Type.Integer({ description: 'How many of them have none.' }),
    },
    { description: 'Whether an organization requires a second factor, and how many of its members have one.' },
  ),
);
/** Only to know how many there are. */
const FIRST = { offset: 0, limit: 1 };
const Missing = {
  missing: Type.Optional(flag('If true, only those who have no second factor.')),
  ...PageQuery,
};

/** Who has a second factor, who must have one, and what administrators do for users who have lost theirs. */
export function requiredFactorRoutes(
  scope: Scope,
  { factors, passkeys, users, baseUrl }: RequiredFactorsRoutesOptions,
): void {
  const tags = ['second-factors'];
  const Org = Type.Object({ org: Type.String() });
  const Username = Type.Object({ username: Type.String() });

  scope.get(
    '/orgs/:org/second_factor',
    {
      config: { access: holdsIn('edit:org', 'organization') },
      schema: {
        summary: 'Get whether an organization requires a second factor of its members, and how many have one',
        tags,
        extension: true,
        params: Org,
        response: { 200: Adoption },
      },
    },
    async (request) => {
      const organizationId = callerIn(request).organization.id;
      const [required, members, missing] = [
        await factors.isRequiredIn(organizationId),
        await factors.holders({ organizationId, isMissing: false }, FIRST),
        await factors.holders({ organizationId, isMissing: true }, FIRST),
      ];
      return { required, members: members.total, without: missing.total };
    },
  );

  scope.put(
    '/orgs/:org/second_factor',
    {
      config: { access: holdsIn('edit:org', 'organization', { proven: true }) },
      schema: {
        summary: 'Require a second factor of all members of an organization, or stop requiring it',
        tags,
        extension: true,
        params: Org,
        body: Requirement,
        errors: [409],
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { organization, person } = callerIn(request);
      await factors.require(organization.id, request.body.required, person.secondFactors, actorOf(request));
      return reply.code(204).send();
    },
  );

  scope.get(
    '/orgs/:org/second_factor/members',
    {
      config: { access: holdsIn('edit:org', 'organization') },
      schema: {
        summary: 'List which second factors the members of an organization have',
        tags,
        extension: true,
        params: Org,
        querystring: Type.Object(Missing),
        response: { 200: Type.Array(Holder) },
      },
    },
    async (request, reply) => await list(request, reply, { organizationId: callerIn(request).organization.id }),
  );

  scope.get(
    '/admin/factors',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        summary: 'List which second factors users have',
        tags,
        extension: true,
        querystring: Type.Object(Missing),
        response: { 200: Type.Array(Holder) },
      },
    },
    async (request, reply) => await list(request, reply, {}),
  );

  scope.get(
    '/admin/users/:username/factors',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        summary: 'List the second factors of a user',
        tags,
        extension: true,
        params: Username,
        response: { 200: FactorList },
      },
    },
    async (request) => {
      const { person } = await users.person(request.params.username);
      const isRequired = await factors.isRequired(person);
      return presentFactors(await factors.summary(person.id), { isRequired, isAvailable: passkeys.isAvailable() });
    },
  );

  scope.delete(
    '/admin/users/:username/factors',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        summary: 'Remove all second factors of a user who has lost them, and end their sessions',
        tags,
        extension: true,
        params: Username,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await factors.reset(await users.idOf(request.params.username), actorOf(request));
      return reply.code(204).send();
    },
  );

  async function list(request: ListRequest, reply: FastifyReply, search: Omit<HolderSearch, 'isMissing'>) {
    callerOf(request);
    const page = readPage(request.query);
    const isMissing = request.query.missing === 'true';
    const found = await factors.holders({ ...search, isMissing }, page);
    showPage(request, reply, baseUrl(), page, found);
    return found.items.map(presentHolder);
  }
}

type ListRequest = FastifyRequest<{ Querystring: { missing?: string; page?: unknown; limit?: unknown } }>;
