import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { webhook } from '../../http/access.ts';
import { toAppError } from '../../http/error-format.ts';
import { journalOf, type Scope } from '../../http/server.ts';
import type { Deliveries, Origin } from '../deliveries/deliveries.ts';
import { type MarketplaceName, readNotification } from './notification.ts';
import { BindNotification, BindResponse, LifecycleNotification, SecretQuery } from './notification.view.ts';
import { invalid, Rejection } from './rejection.ts';
import type { Gate } from './sender-check.ts';

const UNREADABLE = new Set(['malformed', 'tooLarge']);
/** The schemas are for the documentation: what marketplaces really send is read by our own rules. */
const undemanding = { validatorCompiler: () => () => true } as const;

export function notificationRoutes(scope: Scope, deliveries: Deliveries, gate: Gate): void {
  const tags = ['marketplace'];

  scope.post(
    '/marketplaces/cloudA/notification/resource',
    {
      ...undemanding,
      config: { access: webhook },
      schema: { summary: 'Marketplace A reports a subscription', tags, body: BindNotification, response: answers() },
      onRequest: async (request) => gate.requireAddress(request.ip),
      errorHandler: recordUnreadable('CloudA'),
    },
    async (request, reply) => receive('CloudA', request, reply),
  );

  scope.post(
    '/marketplaces/cloudB/notification/resource',
    {
      ...undemanding,
      config: { access: webhook },
      schema: {
        summary: 'Marketplace B reports a subscription; only a BIND is answered with a link',
        tags,
        querystring: SecretQuery,
        body: LifecycleNotification,
        response: answers(),
      },
      onRequest: async (request) => gate.requireSecret('CloudB', secretOf(request), request.ip),
      errorHandler: recordUnreadable('CloudB'),
    },
    async (request, reply) => receive('CloudB', request, reply),
  );

  scope.post(
    '/marketplaces/cloudC/notification/resource',
    {
      ...undemanding,
      config: { access: webhook },
      schema: {
        summary: 'Marketplace C reports a subscription',
        tags,
        querystring: SecretQuery,
        body: BindNotification,
        response: answers(),
      },
      errorHandler: recordUnreadable('CloudC', (request) => {
        gate.requireSecretOrTest(secretOf(request), undefined, request.ip);
      }),
    },
    async (request, reply) => {
      // Only the body tells whether this is the installer for tests, so here the secret comes after it is parsed.
      const isSpared = gate.requireSecretOrTest(secretOf(request), request.body, request.ip);
      if (isSpared) journalOf(request).warn('the test installer of marketplace C was used without the secret');
      return await receive('CloudC', request, reply);
    },
  );

  async function receive(marketplace: MarketplaceName, request: FastifyRequest, reply: FastifyReply) {
    const reading = await understand(marketplace, request);
    const { link } = await deliveries.receive(reading, originOf(request));
    return link === undefined ? reply.code(200).send() : reply.code(200).send({ link });
  }

  async function understand(marketplace: MarketplaceName, request: FastifyRequest) {
    try {
      return readNotification(marketplace, request.body);
    } catch (error) {
      if (error instanceof Rejection)
        await deliveries.refuseUnread(marketplace, request.body, error, originOf(request));
      throw error;
    }
  }

  /** A body that is not even JSON never reaches the handler; it is recorded all the same. */
  function recordUnreadable(marketplace: MarketplaceName, proveFirst: (request: FastifyRequest) => void = () => {}) {
    return async (thrown: FastifyError, request: FastifyRequest) => {
      const error = toAppError(thrown);
      if (!UNREADABLE.has(error.kind)) throw thrown;
      proveFirst(request);
      const rejection = invalid('malformed', error.message);
      await deliveries.refuseUnread(marketplace, undefined, rejection, originOf(request));
      throw error;
    };
  }
}

function answers() {
  return { 200: BindResponse };
}

function secretOf(request: FastifyRequest): unknown {
  return (request.query as { secret?: unknown }).secret;
}

function originOf(request: FastifyRequest): Origin {
  return { source: request.ip, requestId: request.id };
}
