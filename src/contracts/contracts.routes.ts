import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { ShownObjects } from '../authz/shown-objects.ts';
import { actorOf, callerIn, callerOf, holdsIn, holdsOn, ownerIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { showEtag, unchanged } from '../http/wire/etag.ts';
import { PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import {
  Int64,
  NoBody,
  named,
  PathId,
  readId,
  readMoment,
  shownAs,
  Timestamp,
  timestamp,
} from '../http/wire/schemas.ts';
import type { Asking, Contract, ContractInput, Contracts } from './contracts.ts';

const MAX_ITEMS = 1000;
/** In a request body any number passes here, so that the error can say which one is wrong. */
const quantities = (type: 'integer' | 'number') =>
  Type.Unsafe<Record<string, number>>({
    type: 'object',
    additionalProperties: { type },
    description: 'Amounts by kind, such as {"nodes": 100}.',
  });
const ContractInfo = named(
  'Contract',
  Type.Object({
    id: Int64,
    uid: Type.String({ format: 'uuid' }),
    owner_id: Int64,
    name: Type.String(),
    product: Type.String(),
    features: Type.Array(Type.String()),
    clusters: Type.Array(Type.String(), { description: 'UIDs of clusters.' }),
    start: Timestamp,
    end: Type.Union([Timestamp, Type.Null()], { description: 'Null if the contract never ends.' }),
    revoked: Type.Boolean(),
    quota: quantities('integer'),
  }),
);

const EditContract = named(
  'EditContract',
  Type.Object({
    name: Type.Optional(Type.String()),
    product: Type.Optional(Type.String()),
    features: Type.Optional(Type.Array(Type.String(), { maxItems: MAX_ITEMS })),
    clusters: Type.Optional(Type.Array(Type.String(), { maxItems: MAX_ITEMS })),
    start: Type.Optional(Timestamp),
    end: Type.Optional(Type.Union([Timestamp, Type.Null()])),
    quota: Type.Optional(shownAs(quantities('number'), quantities('integer'))),
    revoked: Type.Optional(Type.Boolean({ description: 'If true, revokes the contract permanently.' })),
  }),
);
const { revoked: _revoked, ...terms } = EditContract.properties;
const NewContract = named('NewContract', Type.Object({ ...terms, name: Type.String() }));
const ContractId = Type.Object({ id: PathId });
const OrgPath = Type.Object({ org: Type.String() });

export function contractRoutes(
  scope: Scope,
  contracts: Contracts,
  shownObjects: ShownObjects,
  baseUrl: () => string,
): void {
  const common = { tags: ['contracts'], extension: true };

  scope.get(
    '/orgs/:org/contracts',
    {
      config: { access: holdsIn('view_contracts:org', 'organization', { limited: 'filtered' }) },
      schema: {
        ...common,
        summary: 'List the contracts of an organization',
        params: OrgPath,
        querystring: Type.Object({ ...PageQuery, name: Type.Optional(Type.String()) }),
        response: { 200: Type.Array(ContractInfo) },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const caller = callerIn(request);
      const { organization } = caller;
      const among = await shownObjects(caller, organization.id, 'contract');
      const { total, items } = await contracts.list(organization.id, request.query.name, page, among);
      showPage(request, reply, baseUrl(), page, total);
      return items.map(present);
    },
  );

  scope.post(
    '/orgs/:org/contracts',
    {
      config: { access: holdsIn('create_contracts:org', 'organization'), creates: true },
      schema: {
        ...common,
        summary: 'Create a contract',
        params: OrgPath,
        body: NewContract,
        etag: true,
        response: { 201: ContractInfo },
      },
    },
    async (request, reply) => {
      const input = { ...readInput(request.body), name: request.body.name };
      return await createOnce(
        request,
        reply.code(201),
        (once) => contracts.create(callerIn(request).organization.id, input, askingOf(request), once),
        (contract: Contract) => show(reply, contract),
      );
    },
  );

  scope.get(
    '/contracts/:id',
    {
      config: { access: holdsOn('view:contract', 'organization') },
      schema: { ...common, summary: 'Get a contract', params: ContractId, etag: true, response: { 200: ContractInfo } },
    },
    async (request, reply) => show(reply, await contracts.get(ownerIn(request), idOf(request))),
  );

  scope.patch(
    '/contracts/:id',
    {
      config: { access: holdsOn('edit:contract', 'organization') },
      schema: {
        ...common,
        summary: 'Update or revoke a contract; omitted fields stay unchanged',
        params: ContractId,
        body: EditContract,
        etag: true,
        ifMatch: true,
        response: { 200: ContractInfo },
      },
    },
    async (request, reply) => {
      const about = [ownerIn(request), idOf(request)] as const;
      const input = readInput(request.body);
      return show(reply, await contracts.update(...about, input, unchanged(request), askingOf(request)));
    },
  );

  scope.delete(
    '/contracts/:id',
    {
      config: { access: holdsOn('delete:contract', 'organization') },
      schema: { ...common, summary: 'Delete a contract', params: ContractId, ifMatch: true, response: { 204: NoBody } },
    },
    async (request, reply) => {
      await contracts.remove(ownerIn(request), idOf(request), unchanged(request), actorOf(request));
      return reply.code(204).send();
    },
  );
}

function idOf(request: FastifyRequest<{ Params: Static<typeof ContractId> }>): bigint {
  return readId(request.params.id, 'contract ID');
}

function askingOf(request: FastifyRequest): Asking {
  return { actor: actorOf(request), isAdmin: callerOf(request).person.isAdmin, now: new Date() };
}

function readInput({ clusters, start, end, ...rest }: Static<typeof EditContract>): ContractInput {
  const { name, product, features, quota, revoked } = rest;
  return {
    ...(name !== undefined && { name }),
    ...(product !== undefined && { product }),
    ...(features !== undefined && { features }),
    ...(quota !== undefined && { quota }),
    ...(revoked !== undefined && { revoked }),
    ...(clusters !== undefined && { clusterUids: clusters }),
    ...(start !== undefined && { startsAt: readMoment(start, 'start') }),
    ...(end !== undefined && { endsAt: end === null ? null : readMoment(end, 'end') }),
  };
}

function show(reply: FastifyReply, contract: Contract) {
  showEtag(reply, contract);
  return present(contract);
}

function present(contract: Contract) {
  return {
    id: contract.id,
    uid: contract.uid,
    owner_id: contract.ownerId,
    name: contract.name,
    product: contract.product,
    features: [...contract.features],
    clusters: [...contract.clusterUids],
    start: timestamp(contract.startsAt),
    end: contract.endsAt && timestamp(contract.endsAt),
    revoked: contract.revokedAt !== null,
    quota: { ...contract.quota },
  };
}
