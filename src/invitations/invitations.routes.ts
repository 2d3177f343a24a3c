import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { actorOf, callerIn, callerOf, member, requireProven } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsent } from '../http/wire/absent-fields.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { choice, PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { NoBody, PathId, readId, readIdNumber, readMoment } from '../http/wire/schemas.ts';
import { INVITATION_STATES, type Invited } from './invitation.ts';
import { InvitationResponse, NewInvitationBody, presentInvitation, presentInvited } from './invitation.view.ts';
import { checkInvitationInput } from './invitation-input.ts';
import type { InvitationSetting, Invitations } from './invitations.ts';

const OrgPath = Type.Object({ org: Type.String() });
const InvitationPath = Type.Object({ org: Type.String(), id: PathId });
const LinkQuery = Type.Object({
  show_link: Type.Optional(
    Type.Boolean({
      description: 'Also answer with a link that accepts the invitation. It does not prove the address.',
    }),
  ),
});

/** Invitations, for those who invite. */
export function invitationRoutes(scope: Scope, invitations: Invitations, baseUrl: () => string): void {
  const common = { tags: ['invitations'], extension: true, strictQuery: true };
  const access = member('organization', 'as users', { about: 'path' });
  const giving = member('organization', 'as users', { about: 'path', proven: 'owners' });
  const requireInviter = async (request: FastifyRequest) => invitations.requireInviter(settingOf(request));

  scope.get(
    '/orgs/:org/invitations',
    {
      config: { access },
      schema: {
        ...common,
        summary: 'List invitations: all for callers who can add members, and otherwise those that the caller has made',
        params: OrgPath,
        querystring: Type.Object({ ...PageQuery, state: choice(INVITATION_STATES, 'Only invitations in this state.') }),
        response: { 200: Type.Array(InvitationResponse) },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const { total, items } = await invitations.list(settingOf(request), request.query.state, page);
      showPage(request, reply, baseUrl(), page, total);
      return items.map(presentInvitation);
    },
  );

  scope.post(
    '/orgs/:org/invitations',
    {
      preValidation: [requireInviter, dropAbsent('message', 'expires_at')],
      config: { access: giving, creates: true },
      schema: {
        ...common,
        summary: 'Invite an address to teams of an organization; requires what adding a user to each of them requires',
        params: OrgPath,
        querystring: LinkQuery,
        body: NewInvitationBody,
        response: { 201: InvitationResponse },
      },
    },
    async (request, reply) => {
      const [setting, now] = [settingOf(request), new Date()];
      const input = readInput(request.body, now);
      return await createOnce(
        request,
        reply.code(201),
        (once) => invitations.create(setting, input, optionsOf(request, now), once),
        (invited: Invited) => presentInvited(invited),
      );
    },
  );

  scope.delete(
    '/orgs/:org/invitations/:id',
    {
      config: { access },
      schema: { ...common, summary: 'Revoke an invitation', params: InvitationPath, response: { 204: NoBody } },
    },
    async (request, reply) => {
      await invitations.remove(settingOf(request), idOf(request.params));
      return reply.code(204).send();
    },
  );

  scope.post(
    '/orgs/:org/invitations/:id/resend',
    {
      config: { access: giving },
      schema: {
        ...common,
        summary: 'Send an invitation again, with a new code and a new end; the caller becomes the inviter',
        params: InvitationPath,
        querystring: LinkQuery,
        grows: true,
        errors: [410],
        response: { 200: InvitationResponse },
      },
    },
    async (request) => {
      const { params } = request;
      return presentInvited(await invitations.resend(settingOf(request), idOf(params), optionsOf(request, new Date())));
    },
  );
}

function settingOf(request: FastifyRequest): InvitationSetting {
  const { id, name } = callerIn(request).organization;
  return { organization: { id, name }, actor: actorOf(request) };
}

function optionsOf(request: FastifyRequest<{ Querystring: Static<typeof LinkQuery> }>, now: Date) {
  return {
    showsLink: request.query.show_link === true,
    requireProof: () => requireProven(callerOf(request), new Date()),
    now,
  };
}

function idOf({ id }: Static<typeof InvitationPath>): bigint {
  return readId(id, 'invitation ID');
}

function readInput(body: Static<typeof NewInvitationBody>, now: Date) {
  const { email, team_ids, message, expires_at } = body;
  const teamIds = team_ids.map((id) => readIdNumber(id, 'team ID'));
  const expiresAt = expires_at === undefined ? undefined : readMoment(expires_at, 'expires_at');
  return checkInvitationInput({ email, teamIds, message, expiresAt }, now);
}
