import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { webhook } from '../../http/admission/access.ts';
import { toAppError } from '../../http/error-format.ts';
import { logOf, type Scope } from '../../http/server.ts';
import type { Deliveries, Origin } from '../deliveries/deliveries.ts';
import { MARKETPLACE_NAMES, type MarketplaceName, profileOf, shortNameOf, titleOf } from '../marketplaces.ts';
import { readNotification } from './notification.ts';
import { BindNotification, BindResponse, LifecycleNotification, SecretQuery } from './notification.view.ts';
import { invalid, Rejection } from './rejection.ts';
import type { SenderCheck } from './sender-check.ts';

const UNREADABLE = new Set(['malformed', 'tooLarge']);
/** The schemas are for the documentation only: our own rules read what marketplaces really send. */
const undemanding = { validatorCompiler: () => () => true } as const;

export function notificationRoutes(scope: Scope, deliveries: Deliveries, senders: SenderCheck): void {
  for (const name of MARKETPLACE_NAMES) mount(name);

  function mount(name: MarketplaceName): void {
    const { provenBy, hasLifecycle, hasTestInstaller } = profileOf(name);
    scope.post(
      `/marketplaces/${shortNameOf(name)}/notification/resource`,
      {
        ...undemanding,
        config: { access: webhook },
        schema: {
          summary: `Receive a notification from ${titleOf(name)}${hasLifecycle ? '; only a BIND returns a link' : ''}`,
          tags: ['marketplace'],
          ...(provenBy === 'secret' && { querystring: SecretQuery }),
          body: hasLifecycle ? LifecycleNotification : BindNotification,
          response: { 200: BindResponse },
        },
        ...(!hasTestInstaller && { onRequest: async (request) => proveEarly(name, request) }),
        errorHandler: recordUnreadable(name),
      },
      async (request, reply) => {
        if (hasTestInstaller) proveLate(name, request);
        return await receive(name, request, reply);
      },
    );
  }

  /** Runs before the body is read. */
  function proveEarly(name: MarketplaceName, request: FastifyRequest): void {
    if (profileOf(name).provenBy === 'address') senders.requireAddress(name, request.ip);
    else senders.requireSecret(name, secretOf(request), request.ip);
  }

  /** Only the body shows whether this is the test installer, so the secret is checked after the body is parsed. */
  function proveLate(name: MarketplaceName, request: FastifyRequest): void {
    const isTest = senders.requireSecretOrTest(name, secretOf(request), request.body, request.ip);
    if (isTest) logOf(request).warn(`the test installer of ${titleOf(name)} was used without the secret`);
  }

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
        await deliveries.rejectUnread(marketplace, request.body, error, originOf(request));
      throw error;
    }
  }

  /** A body that is not even JSON never reaches the handler, but it is still recorded. */
  function recordUnreadable(marketplace: MarketplaceName) {
    return async (thrown: FastifyError, request: FastifyRequest) => {
      const error = toAppError(thrown);
      if (!UNREADABLE.has(error.kind)) throw thrown;
      if (profileOf(marketplace).hasTestInstaller) {
        senders.requireSecretOrTest(marketplace, secretOf(request), undefined, request.ip);
      }
      const rejection = invalid('malformed', error.message);
      await deliveries.rejectUnread(marketplace, undefined, rejection, originOf(request));
      throw error;
    };
  }
}

function secretOf(request: FastifyRequest): unknown {
  return (request.query as { secret?: unknown }).secret;
}

function originOf(request: FastifyRequest): Origin {
  return { source: request.ip, requestId: request.id };
}
