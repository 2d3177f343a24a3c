import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { AskedPrincipalStore } from '../authz/asked-principal.ts';
import { AppError } from '../base/errors.ts';
import { robotNamedIn } from '../changes/principal.ts';
import { actorOf, callerIn, callerOf, member, signedIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsent } from '../http/wire/absent-fields.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { OrgQuery, readIdNumber, readMoment } from '../http/wire/schemas.ts';
import { REQUEST_STATES, type RequestState, requestIdIn } from './access-request.ts';
import type { Approving } from './approving.ts';
import type { Asked, Asking, RequestInput } from './asking.ts';
import {
  ApprovalBody,
  DenialBody,
  NewRequestBody,
  type NewRequestInput,
  presentRequest,
  RequestResponse,
} from './request.view.ts';
import { requestNotFound } from './request-errors.ts';
import type { ListQuestion, RequestSetting, Requests } from './requests.ts';

interface Parts {
  readonly asking: Asking;
  readonly approving: Approving;
  readonly requests: Requests;
  readonly people: AskedPrincipalStore;
  readonly baseUrl: () => string;
}

const RequestId = Type.Object({ id: Type.String({ description: 'ID of the access request, such as req_123.' }) });
const STATES = `One or several states, separated by commas: ${REQUEST_STATES.join(', ')}.`;
const ForMe = Type.Optional(Type.Boolean({ description: 'Only what the caller can decide.' }));
const ListQuery = Type.Object({
  ...OrgQuery.properties,
  state: Type.Optional(Type.String({ description: STATES })),
  by: Type.Optional(Type.String({ description: 'Who asked: a login name, user:5, or a robot such as robot:deploy.' })),
  for_me: ForMe,
  ...PageQuery,
});
const OwnQuery = Type.Object({
  state: Type.Optional(Type.String({ description: STATES })),
  for_me: ForMe,
  ...PageQuery,
});
export function requestRoutes(scope: Scope, { asking, approving, requests, people, baseUrl }: Parts): void {
  const common = { tags: ['requests'], extension: true, strictQuery: true };
  const config = { access: member('authz', 'as users', { limited: 'filtered' }) };
  const asks = { access: member('authz', 'as users', { limited: 'filtered', delegates: true }) };
  const response = { 200: RequestResponse };

  scope.get(
    '/authz/requests',
    {
      config,
      schema: {
        ...common,
        summary: 'List access requests: those of the caller, and those that the caller can decide or may read',
        querystring: ListQuery,
        response: { 200: Type.Array(RequestResponse) },
      },
    },
    async (request, reply) => {
      const { organization, person, limits } = callerIn(request);
      const { state, by, for_me: isForMe = false } = request.query;
      const asked = by === undefined ? undefined : await askedBy(organization.id, by);
      const page = readPage(request.query);
      const question: ListQuestion = {
        ...{
          organizationId: organization.id,
          readerId: person.id,
          states: readStates(state),
          by: asked,
          isForMe,
          limits,
        },
      };
      const found = await requests.list(question, page);
      showPage(request, reply, baseUrl(), page, found.total);
      return found.items.map(presentRequest);
    },
  );

  scope.post(
    '/authz/requests',
    {
      preValidation: dropAbsent(),
      config: { ...asks, creates: true },
      schema: {
        ...common,
        summary: 'Ask for a relation on an object, for a while',
        querystring: OrgQuery,
        body: NewRequestBody,
        response: { 200: RequestResponse, 201: RequestResponse },
      },
    },
    async (request, reply) => {
      const { organization, tokenId, delegate } = callerIn(request);
      const asker = { ...settingOf(request), organizationName: organization.name, tokenId };
      const input = { ...readInput(request.body), needsApproval: delegate !== undefined };
      await createOnce(
        request,
        reply,
        (once) => asking.ask(asker, input, once),
        ({ shown, isNew }: Asked) => {
          reply.code(isNew ? 201 : 200);
          return presentRequest(shown);
        },
      );
    },
  );

  scope.get(
    '/authz/requests/:id',
    {
      config,
      schema: {
        ...common,
        summary: 'Get an access request, with what it would change now',
        params: RequestId,
        querystring: OrgQuery,
        response,
      },
    },
    async (request) => {
      return presentRequest(await requests.get(settingOf(request), idOf(request.params)));
    },
  );

  scope.post(
    '/authz/requests/:id/approve',
    {
      preValidation: dropAbsent(),
      config,
      schema: {
        ...common,
        summary: 'Approve exactly what the digest stands for',
        params: RequestId,
        querystring: OrgQuery,
        body: ApprovalBody,
        optionalBody: true,
        response,
      },
    },
    async (request) => {
      const { digest, comment } = request.body;
      return presentRequest(await approving.approve(settingOf(request), idOf(request.params), digest, comment));
    },
  );

  scope.post(
    '/authz/requests/:id/deny',
    {
      preValidation: dropAbsent(),
      config,
      schema: {
        ...common,
        summary: 'Deny an access request',
        params: RequestId,
        querystring: OrgQuery,
        body: DenialBody,
        optionalBody: true,
        response,
      },
    },
    async (request) => {
      const { comment } = request.body;
      return presentRequest(await requests.deny(settingOf(request), idOf(request.params), comment));
    },
  );

  for (const [verb, summary] of [
    ['cancel', 'Cancel an access request of the caller'],
    ['end', 'End the access that was requested'],
    ['acknowledge', 'Acknowledge that a user took access without an approval; for owners'],
  ] as const) {
    scope.post(
      `/authz/requests/:id/${verb}`,
      {
        config: verb === 'cancel' ? asks : config,
        schema: { ...common, summary, params: RequestId, querystring: OrgQuery, response },
      },
      async (request) => presentRequest(await requests[verb](settingOf(request), idOf(request.params))),
    );
  }

  scope.get(
    '/user/requests',
    {
      config: { access: signedIn('authz', 'never', { limited: 'filtered' }) },
      schema: {
        ...common,
        summary: 'List the access requests of the caller in all organizations, or those that they can decide',
        querystring: OwnQuery,
        response: { 200: Type.Array(RequestResponse) },
      },
    },
    async (request, reply) => {
      const { person, limits } = callerOf(request);
      const { state, for_me: isForMe = false } = request.query;
      const page = readPage(request.query);
      const states = readStates(state);
      const question = { organizationId: undefined, readerId: person.id, states, by: undefined, isForMe, limits };
      // A token that is limited to objects is in no organization, but reaches what is decided about them.
      const owners = limits?.objects.map(({ ownerId }) => ownerId) ?? [];
      const organizations = [...new Set([...person.organizations.keys(), ...owners])];
      const found = await requests.inbox(question, organizations, page);
      showPage(request, reply, baseUrl(), page, found.total);
      return found.items.map(presentRequest);
    },
  );

  /** Zero for a name that does not exist, of which there are no requests. */
  async function askedBy(organizationId: bigint, text: string): Promise<bigint> {
    const robot = robotNamedIn(text);
    if (robot) return (await people.robotNamed(organizationId, robot))?.id ?? 0n;
    const [, rest] = /^user:(.+)$/s.exec(text) ?? [];
    if (rest !== undefined && /^\d{1,18}$/.test(rest)) return BigInt(rest);
    return (await people.personNamed(rest ?? text))?.id ?? 0n;
  }
}

function settingOf(request: FastifyRequest): RequestSetting {
  const { organization, limits } = callerIn(request);
  return { organizationId: organization.id, actor: actorOf(request), limits };
}

function idOf({ id }: Static<typeof RequestId>): bigint {
  const found = requestIdIn(id);
  if (found === undefined) throw requestNotFound();
  return found;
}

function readStates(text = ''): RequestState[] {
  const words = text.split(',').filter((word) => word !== '');
  const states = words.flatMap((word) => REQUEST_STATES.find((state) => state === word) ?? []);
  if (states.length === words.length) return states;
  throw new AppError('invalid', `state must be one or several of ${REQUEST_STATES.join(', ')}`);
}

function readInput(body: NewRequestInput): RequestInput {
  const { relation, object, namespaces, reason, until, remedy, break_glass: isBreakGlass = false } = body;
  return {
    ...{ relation, namespaces, reason, for: body.for, isBreakGlass },
    object: {
      ...{ type: object.type === 'robot' ? 'robot_ac' : object.type, name: object.name ?? undefined },
      id: object.id == null ? undefined : readIdNumber(object.id, 'object ID'),
    },
    until: until === undefined ? undefined : readMoment(until, 'until'),
    remedy: readRemedy(remedy),
  };
}

function readRemedy(remedy: NewRequestInput['remedy']): RequestInput['remedy'] {
  if (remedy === undefined) return undefined;
  if (typeof remedy === 'number' && Number.isInteger(remedy)) return remedy;
  if (typeof remedy === 'object' && Array.isArray(remedy.changes)) return { changes: remedy.changes };
  throw new AppError('malformed', 'remedy must be the position of a remedy, or an object with its changes');
}
