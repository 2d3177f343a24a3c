import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { anyone, callerOf, holdsOn, ownerIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { named, PathId, readId, Timestamp, timestamp } from '../http/wire/schemas.ts';
import type { ClusterTokens } from './cluster-token.ts';
import { referenceTo } from './review-subjects.ts';

interface Parts {
  readonly tokens: ClusterTokens;
  readonly clusters: { get(ownerId: bigint, id: bigint): Promise<{ readonly uid: string }> };
}

export function clusterTokenRoutes(scope: Scope, { tokens, clusters }: Parts): void {
  scope.post(
    '/clusters/:id/kube-token',
    {
      config: { access: holdsOn('view:cluster', 'organization', { scope: 'kube' }) },
      schema: {
        summary: 'Get a token for this one cluster, for ten minutes; it opens nothing else',
        tags: ['kubernetes'],
        extension: true,
        strictQuery: true,
        params: Type.Object({ id: PathId }),
        response: {
          201: named(
            'ClusterToken',
            Type.Object({
              token: Type.String({ description: 'A JWT, signed with ES256.' }),
              expires_at: Type.Unsafe<string>({ ...Timestamp, description: 'When it expires.' }),
            }),
          ),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      // It would show that this is the other user, and nothing would show who it really was.
      if (caller.sudoBy) {
        const message = 'a token for a cluster cannot be issued on behalf of another user';
        throw new AppError('forbidden', message, { reason: 'sudo_forbidden' });
      }
      const { uid } = await clusters.get(ownerIn(request), readId(request.params.id, 'cluster ID'));
      const bearer = { person: caller.person, reference: referenceTo(caller), until: caller.until };
      const { token, expiresAt } = await tokens.issue(bearer, uid, new Date());
      return reply.code(201).send({ token, expires_at: timestamp(expiresAt) });
    },
  );
}

/** Outside /api/v1: what an API server needs to know who a token of a cluster belongs to, without asking. */
export function discoveryRoutes(scope: Scope, issuer: () => string): void {
  scope.get(
    '/.well-known/openid-configuration',
    {
      config: { access: anyone },
      schema: {
        summary: 'Get the OpenID discovery document: who signs tokens of clusters, and where the keys are',
        tags: ['kubernetes'],
        extension: true,
        strictQuery: true,
        response: {
          200: named(
            'OpenIdConfiguration',
            Type.Object({
              issuer: Type.String({ description: 'BASE_URL, as tokens have it.' }),
              jwks_uri: Type.String({ description: 'Where the public keys are.' }),
              token_endpoint: Type.String({ description: 'Where robots exchange tokens of other issuers.' }),
              response_types_supported: Type.Array(Type.String(), { description: 'Required by the standard.' }),
              subject_types_supported: Type.Array(Type.String(), { description: 'Required by the standard.' }),
              id_token_signing_alg_values_supported: Type.Array(Type.String(), {
                description: 'How tokens of clusters are signed.',
              }),
            }),
          ),
        },
      },
    },
    async () => ({
      issuer: issuer(),
      jwks_uri: `${issuer()}/.well-known/jwks.json`,
      token_endpoint: `${issuer()}/oauth/token`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    }),
  );
}
