import type { FastifyRequest } from 'fastify';
import { AppError } from '../base/errors.ts';
import { anyone } from '../http/admission/access.ts';
import type { Brake } from '../http/limits/brake.ts';
import type { Scope } from '../http/server.ts';
import type { ExchangedToken, TokenExchange } from './token-exchange.ts';
import { ACCESS_TOKEN_TYPE, GRANT_TYPES, readForm, readTokenForm } from './token-form.ts';

interface Parts {
  readonly exchange: TokenExchange;
  readonly brake: Pick<Brake, 'password'>;
  readonly baseUrl: () => string;
}

const FORM = 'application/x-www-form-urlencoded';
const MAX_FORM = 64 * 1024;

/** Below `/oauth`, with the errors of RFC 6749. */
export function tokenEndpointRoutes(scope: Scope, { exchange, brake, baseUrl }: Parts): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    FORM,
    { parseAs: 'string', bodyLimit: MAX_FORM },
    async (_request: unknown, body: string) => readForm(body),
  );
  scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MAX_FORM }, async () => {
    throw new AppError('invalid', `the body must be sent as ${FORM}`);
  });

  scope.post(
    '/token',
    { config: { access: anyone, takesNul: true }, bodyLimit: MAX_FORM, schema: { hide: true } },
    async (request, reply) => {
      if (request.url.includes('?')) throw new AppError('invalid', 'parameters belong in the body, not in the address');
      const fields = request.body instanceof Map ? (request.body as ReadonlyMap<string, string>) : new Map();
      const { rejection, ...wanted } = readTokenForm(fields, baseUrl());
      const issued = await counted(request, wanted.clientId, () =>
        exchange.exchange(wanted, new Date(), request.id),
      ).catch((error: unknown) => {
        if (!(error instanceof AppError) || error.kind !== 'unauthenticated') throw error;
        const kind = rejection === 'invalid_client' ? 'unauthenticated' : 'invalid';
        throw new AppError(kind, error.message, { oauthError: rejection });
      });
      return reply.header('Cache-Control', 'no-store').header('Pragma', 'no-cache').send(present(issued));
    },
  );

  /** As wrong passwords are. The slash keeps the names of robots apart from those of users. */
  function counted<T>(request: FastifyRequest, clientId: string, attempt: () => Promise<T>): Promise<T> {
    return brake.password(`robot/${clientId}`, request.ip, attempt);
  }
}

/** RFC 8414: where tokens are issued, for clients that know only the address of the server. */
export function oauthMetadataRoutes(scope: Scope, baseUrl: () => string): void {
  scope.get(
    '/.well-known/oauth-authorization-server',
    { config: { access: anyone }, schema: { hide: true } },
    async () => ({
      issuer: baseUrl(),
      token_endpoint: `${baseUrl()}/oauth/token`,
      grant_types_supported: [...GRANT_TYPES],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    }),
  );
}

function present({ text, scopes, expiresIn }: ExchangedToken) {
  return {
    access_token: text,
    token_type: 'Bearer',
    issued_token_type: ACCESS_TOKEN_TYPE,
    expires_in: expiresIn,
    scope: scopes.join(' '),
  };
}
