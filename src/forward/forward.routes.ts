/**
 * Forward authentication: a proxy asks before each request whether its user may make it.
 *
 * 1. The answer is 204, 401 or 403, because proxies make 500 of everything else. 400 is for what an operator mistyped.
 * 2. Everything is decided before a body is read, and nothing that clients can send through a proxy decides: neither a
 *    body, nor a header but the credential.
 * 3. A 204 has all headers with the user, and no other answer has any of them.
 */

import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { callerIn, member } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { NoBody, OrgQuery } from '../http/wire/schemas.ts';
import { type Forwarding, type ForwardQuestion, readForwardObject } from './forward.ts';
import { headerText } from './header-text.view.ts';

const FURTHER_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const ALL_METHODS = ['GET', ...FURTHER_METHODS];
const ForwardQuery = Type.Object({
  ...OrgQuery.properties,
  relation: Type.String({ description: 'What the user must hold, with or without its prefix: can_connect, connect.' }),
  object: Type.String({
    description: 'On what, as type and ID or name: cluster:1, cluster:prod. `organization` alone means `org`.',
  }),
  namespace: Type.Optional(Type.String({ description: 'Of a cluster: in this namespace.' })),
});

export function forwardRoutes(scope: Scope, forwarding: Forwarding): void {
  const options = { level: 'read', limited: 'filtered', isForProxies: true } as const;
  const inQuery = member('authz', 'as users', options);
  const inPath = member('authz', 'as users', { ...options, about: 'path', isNamedOpenly: true });

  scope.register(async (inner) => {
    inner.addHook('onSend', async (_request, reply) => {
      reply.header('Vary', 'Authorization, Cookie');
    });

    inner.get(
      '/authz/forward',
      {
        config: { access: inQuery },
        onRequest: [answerQuery],
        schema: {
          summary: 'Whether the caller may do something, for proxies that ask before each request',
          tags: ['authorization'],
          extension: true,
          querystring: ForwardQuery,
          response: { 204: NoBody },
        },
      },
      answerQuery,
    );
    inner.route({
      method: FURTHER_METHODS,
      url: '/authz/forward',
      config: { access: inQuery },
      schema: { hide: true },
      onRequest: [answerQuery],
      handler: answerQuery,
    });
    for (const url of ['/authz/forward/:org/:relation/:object', '/authz/forward/:org/:relation/:object/*']) {
      // Envoy appends the address of the request.
      inner.route({
        method: ALL_METHODS,
        url,
        config: { access: inPath, takesNul: true },
        schema: { hide: true },
        onRequest: [answerPath],
        handler: answerPath,
      });
    }
  });

  async function answerQuery(request: FastifyRequest, reply: FastifyReply) {
    const { relation, object, namespace } = request.query as Readonly<Record<string, unknown>>;
    return await answer(request, reply, {
      ...{ relation: textOf(relation, 'relation'), object: readForwardObject(textOf(object, 'object')) },
      namespace: namespace === undefined ? undefined : textOf(namespace, 'namespace'),
    });
  }

  async function answerPath(request: FastifyRequest, reply: FastifyReply) {
    const { relation = '', object = '' } = request.params as { readonly relation?: string; readonly object?: string };
    return await answer(request, reply, { relation, object: readForwardObject(object), namespace: undefined });
  }

  async function answer(request: FastifyRequest, reply: FastifyReply, question: ForwardQuestion) {
    const { person, organization, limits, robot } = callerIn(request);
    const caller = { organization, id: person.id, login: person.login, limits };
    const reason = await forwarding.decide(caller, question);
    const id = robot?.id ?? person.id;
    const name = robot === undefined ? person.login : `${robot.organization.name}/${robot.name}`;
    reply.header('X-Atrium-User', headerText(name));
    reply.header('X-Atrium-User-Id', String(id));
    reply.header('X-Atrium-Reason', headerText(reason));
    // Envoy takes nothing else for a yes.
    return reply.code(request.headers.prefer === 'status=200' ? 200 : 204).send();
  }
}

function textOf(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value;
  const message = value === undefined || value === '' ? 'is required' : 'is given more than once';
  throw new AppError('invalid', `query parameter ${name} ${message}`);
}
