import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { AppError } from '../base/errors.ts';
import { actorOf, callerIn, member } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { readMoment } from '../http/wire/schemas.ts';
import { requestIdIn } from '../requests/access-request.ts';
import type { Asked } from '../requests/asking.ts';
import { requestNotFound } from '../requests/request-errors.ts';
import type { RequestSetting, Requests } from '../requests/requests.ts';
import { EvaluationBody, namespaceIn } from './evaluation-request.ts';
import { presentTask, taskUrl } from './request-task.view.ts';
import type { RequestTasks, TaskCaller, TaskInput } from './request-tasks.ts';

interface Parts {
  readonly tasks: RequestTasks;
  readonly requests: Pick<Requests, 'get' | 'cancel'>;
  readonly baseUrl: () => string;
}

const TaskBody = Type.Object({
  ...EvaluationBody.properties,
  items: Type.Optional(Type.Array(Type.Unknown())),
  requested_access: Type.Optional(
    Type.Object({ requested_until: Type.Optional(Type.String()), emergency: Type.Optional(Type.Boolean()) }),
  ),
  denial: Type.Object({ evaluation_id: Type.Optional(Type.String()) }),
});

/** The access request profile, below `/access/v1/ORGANIZATION/requests`. */
export function requestTaskRoutes(scope: Scope, { tasks, requests, baseUrl }: Parts): void {
  const plain = { hide: true, strictQuery: true };
  const writing = { access: member('authz', 'as users', { about: 'path', isNamedOpenly: true, limited: 'filtered' }) };

  scope.post(
    '/:org/requests',
    { config: { ...writing, creates: true }, schema: { ...plain, body: TaskBody } },
    async (request, reply) => {
      const input = readTask(request.body);
      const caller = callerFor(request);
      await createOnce(
        request,
        reply,
        (once) => tasks.ask(caller, input, new Date(), once),
        ({ shown }: Asked) => {
          reply.code(shown.request.state === 'open' ? 202 : 201);
          reply.header('Location', taskUrl(shown.request, baseUrl()));
          return presentTask(shown, baseUrl());
        },
      );
    },
  );

  scope.get('/:org/requests/:id', { config: writing, schema: plain }, async (request, reply) => {
    const shown = await requests.get(settingOf(request), idOf(request));
    if (shown.request.state === 'open') reply.header('Retry-After', '5');
    return presentTask(shown, baseUrl());
  });

  scope.post('/:org/requests/:id/cancel', { config: writing, schema: plain }, async (request) =>
    presentTask(await requests.cancel(settingOf(request), idOf(request)), baseUrl()),
  );
}

function readTask(body: Static<typeof TaskBody>): TaskInput {
  if (body.items !== undefined) throw new AppError('invalid', 'items are not supported: ask for one thing at a time');
  const { requested_until: until, emergency: isEmergency = false } = body.requested_access ?? {};
  const { business_justification: why } = (body.context ?? {}) as { readonly business_justification?: unknown };
  return {
    ...{ subject: body.subject, action: body.action.name, resource: body.resource, isEmergency },
    namespace: namespaceIn(body.context),
    justification: typeof why === 'string' ? why : undefined,
    until: until === undefined ? undefined : readMoment(until, 'requested_access.requested_until'),
    evaluationId: body.denial.evaluation_id,
  };
}

function callerFor(request: FastifyRequest): TaskCaller {
  const { person, organization, limits, tokenId } = callerIn(request);
  return { organization, id: person.id, login: person.login, limits, actor: actorOf(request), tokenId };
}

function settingOf(request: FastifyRequest): RequestSetting {
  const { organization, limits } = callerIn(request);
  return { organizationId: organization.id, actor: actorOf(request), limits };
}

function idOf(request: FastifyRequest): bigint {
  const found = requestIdIn((request.params as { readonly id: string }).id);
  if (found === undefined) throw requestNotFound();
  return found;
}
