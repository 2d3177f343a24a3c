import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { TimeMachine } from '../authz/time-machine.ts';
import { writeJson } from '../base/json.ts';
import type { Page } from '../base/page.ts';
import { AtQuery, historianOf, readAt, showAsOf } from '../history/as-of.view.ts';
import { callerIn, member } from '../http/admission/access.ts';
import { type Scope, sendText } from '../http/server.ts';
import type { AuthzenCaller } from './asked-things.ts';
import type { EntitySearch } from './entity-search.ts';
import type { Evaluations } from './evaluation.ts';
import {
  ActionSearchBody,
  EvaluationBody,
  EvaluationsBody,
  namespaceIn,
  ResourceSearchBody,
  readItem,
  readItems,
  SubjectSearchBody,
} from './evaluation-request.ts';
import type { PageInput, PageTokens } from './page-tokens.ts';
import type { PresentVerdict } from './verdict.view.ts';

interface Parts {
  readonly evaluations: Evaluations;
  readonly search: EntitySearch;
  readonly pages: PageTokens;
  readonly present: PresentVerdict;
  readonly timeMachine: Pick<TimeMachine, 'changesSince'>;
}

const Moment = Type.Object(AtQuery);

/** The Authorization API of AuthZEN 1.0, below `/access/v1/ORGANIZATION`. */
export function authzenRoutes(scope: Scope, { evaluations, search, pages, present, timeMachine }: Parts): void {
  const config = {
    access: member('authz', 'as users', { about: 'path', isNamedOpenly: true, level: 'read', limited: 'filtered' }),
  };
  const options = { config: { ...config, costly: 'ask fewer questions' } };
  const asking = { hide: true, strictQuery: true, querystring: Moment };

  scope.post(
    '/:org/evaluation',
    {
      config: {
        ...options.config,
        atHand(request, reply) {
          if ((request.query as Static<typeof Moment>).at !== undefined) return undefined;
          const caller = askingCaller(request);
          const verdict = evaluations.atHand(caller, readItem(request.body as Static<typeof EvaluationBody>));
          if (verdict === undefined) return undefined;
          return sendText(reply, JSON.stringify(present.single(caller, verdict)));
        },
      },
      schema: { ...asking, body: EvaluationBody },
    },
    async (request, reply) => {
      const { caller, at } = await askerOf(request, reply);
      const [verdict] = await evaluations.evaluate(caller, [readItem(request.body)], at);
      return present.single(caller, verdict);
    },
  );

  scope.post(
    '/:org/evaluations',
    { ...options, schema: { ...asking, body: EvaluationsBody } },
    async (request, reply) => {
      const { caller, at } = await askerOf(request, reply);
      const { items, isSingle, semantic } = readItems(request.body);
      const verdicts = await evaluations.evaluate(caller, items, at, semantic);
      if (isSingle) return present.single(caller, verdicts[0]);
      return { evaluations: verdicts.map((verdict) => present.item(caller, verdict)) };
    },
  );

  scope.post(
    '/:org/search/subject',
    { ...options, schema: { ...asking, body: SubjectSearchBody } },
    async (request, reply) => {
      const { subject, action, resource, context } = request.body;
      const asked = { type: subject.type, action: action.name, resource, namespace: namespaceIn(context) };
      return await found(request, reply, (caller, place, at) => search.subjects(caller, asked, place, at));
    },
  );

  scope.post(
    '/:org/search/resource',
    { ...options, schema: { ...asking, body: ResourceSearchBody } },
    async (request, reply) => {
      const { subject, action, resource, context } = request.body;
      const asked = { type: resource.type, subject, action: action.name, namespace: namespaceIn(context) };
      return await found(request, reply, (caller, place, at) => search.resources(caller, asked, place, at));
    },
  );

  scope.post(
    '/:org/search/action',
    { ...options, schema: { ...asking, body: ActionSearchBody } },
    async (request, reply) => {
      const { subject, resource, context } = request.body;
      const asked = { subject, resource, namespace: namespaceIn(context) };
      return await found(request, reply, async (caller, place, at) => {
        const { items, total } = await search.actions(caller, asked, place, at);
        return { items: items.map((name) => ({ name })), total };
      });
    },
  );

  async function found<Entity>(
    request: FastifyRequest,
    reply: FastifyReply,
    ask: (
      caller: AuthzenCaller,
      place: { offset: number; limit: number },
      at: Date | undefined,
    ) => Promise<Page<Entity>>,
  ) {
    const { caller, at } = await askerOf(request, reply);
    const { page, ...rest } = request.body as { readonly page?: { token?: string; limit?: number } };
    const input: PageInput = { token: page?.token, limit: page?.limit };
    const now = new Date();
    const asked = [caller.id, caller.organization.id, request.routeOptions.url, at?.toISOString(), sorted(rest)];
    const place = pages.read(input, asked, now);
    const { items, total } = await ask(caller, place, at);
    const next = { next_token: pages.next(place, total, asked, now), count: items.length };
    return sendText(reply, writeJson({ page: next, results: items }));
  }

  async function askerOf(request: FastifyRequest, reply: FastifyReply) {
    const caller = askingCaller(request);
    const at = readAt((request.query as Static<typeof Moment>).at);
    if (at) showAsOf(reply, at, await timeMachine.changesSince(historianOf(callerIn(request)), at));
    return { caller, at };
  }
}

function askingCaller(request: FastifyRequest): AuthzenCaller {
  const { person, organization, limits } = callerIn(request);
  return { organization, id: person.id, login: person.login, limits };
}

/** The same request is the same, in whatever order its members are. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, part]) => [name, sorted(part)]);
}
