import type { preValidationHookHandler } from 'fastify';
import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { callerOf, reviewer } from '../http/admission/access.ts';
import type { Allowance } from '../http/limits/allowance.ts';
import { type Scope, sendText } from '../http/server.ts';
import { maybe, named, PathId, readId } from '../http/wire/schemas.ts';
import type { AccessAnswer, AccessReviews } from './access-review.ts';
import { readAccessReview, readTokenReview } from './review-body.ts';
import type { ReviewedCluster, ReviewedClusters } from './reviewed-cluster.ts';
import type { TokenReviews } from './token-review.ts';

const ClusterPath = Type.Object({ id: PathId });
const text = (description: string) => maybe(Type.String({ description }));
const anything = (description: string) => maybe(Type.Object({}, { additionalProperties: true, description }));
const envelope = {
  apiVersion: Type.String({ description: 'As the API server sends it; v1 only.' }),
  kind: Type.String({ description: 'As the API server sends it.' }),
};
const TokenReviewBody = named(
  'TokenReviewRequest',
  Type.Object({
    ...envelope,
    spec: Type.Object(
      {
        token: text('The token of the request.'),
        audiences: maybe(Type.Array(Type.String(), { description: 'Whom the token must be for, one of them.' })),
      },
      { description: 'What is asked. Unknown members are ignored.' },
    ),
  }),
);
const AccessReviewBody = named(
  'SubjectAccessReviewRequest',
  Type.Object({
    ...envelope,
    spec: Type.Object(
      {
        user: text('The login of a user, or a robot such as acme/deploy.'),
        uid: text('As token-review gave it, such as user:5.'),
        extra: anything('As token-review gave it.'),
        resourceAttributes: anything('What the request is about.'),
        nonResourceAttributes: anything('Or which path.'),
      },
      { description: 'What is asked. Unknown members are ignored.' },
    ),
  }),
);
const Text = (description: string) => Type.String({ description });
const TokenReview = named(
  'TokenReview',
  Type.Object({
    apiVersion: Text('authentication.k8s.io/v1'),
    kind: Text('TokenReview'),
    status: Type.Object(
      {
        authenticated: Type.Boolean({ description: 'Whether the token is of a user or robot, and for this cluster.' }),
        error: Type.Optional(Text('Why not. The same for every token that is not accepted.')),
        audiences: Type.Optional(
          Type.Array(Type.String(), { description: 'Those of the request that the token is for.' }),
        ),
        user: Type.Optional(
          Type.Object(
            {
              username: Text('The login, or acme/deploy for a robot.'),
              uid: Text('user:5 or robot_ac:3.'),
              groups: Type.Array(Type.String(), { description: 'The organization of the cluster, and teams in it.' }),
              extra: Type.Unsafe<Readonly<Record<string, readonly string[]>>>({
                type: 'object',
                additionalProperties: { type: 'array', items: { type: 'string' } },
                description: 'What access-review recognizes the credential of the request by.',
              }),
            },
            { description: 'Who it is.' },
          ),
        ),
      },
      { description: 'The answer.' },
    ),
  }),
);
const AccessReview = named(
  'SubjectAccessReview',
  Type.Object({
    apiVersion: Text('authorization.k8s.io/v1'),
    kind: Text('SubjectAccessReview'),
    status: Type.Object(
      {
        allowed: Type.Boolean({ description: 'If not, the next authorizer of the cluster decides, such as RBAC.' }),
        denied: Type.Optional(Type.Boolean({ description: 'The credential of the request has ended: no, finally.' })),
        reason: Type.Optional(Text('Why not, for the user. Absent if there is no opinion.')),
      },
      { description: 'The answer.' },
    ),
  }),
);

declare module 'fastify' {
  interface FastifyRequest {
    /** On the routes of an API server, once it is known that the caller may ask about it. */
    reviewedCluster?: ReviewedCluster;
  }
}

interface Parts {
  readonly clusters: ReviewedClusters;
  readonly tokenReviews: TokenReviews;
  readonly accessReviews: AccessReviews;
  /** Of each cluster. */
  readonly allowance: Allowance;
}

export function apiServerReviewRoutes(scope: Scope, { clusters, tokenReviews, accessReviews, allowance }: Parts): void {
  const common = { tags: ['kubernetes'], extension: true, params: ClusterPath, errors: [409] };
  // Who may ask comes before what is asked, as on every route.
  const preValidation: preValidationHookHandler = (request, _reply, done) => {
    const { id: text } = request.params as { readonly id: string };
    const id = readId(text, 'cluster ID');
    const reviewer = callerOf(request);
    const found = (cluster: ReviewedCluster) => {
      takeOne(text);
      request.reviewedCluster = cluster;
    };
    const known = clusters.atHand(id, reviewer);
    if (known === undefined)
      clusters
        .forReviewer(id, reviewer)
        .then(found)
        .then(() => done(), done);
    else {
      found(known);
      done();
    }
  };

  scope.post(
    '/clusters/:id/token-review',
    {
      config: { access: reviewer },
      preValidation: [preValidation],
      schema: {
        ...common,
        summary: 'Answer a TokenReview of the API server of a cluster',
        body: TokenReviewBody,
        response: { 200: TokenReview },
      },
    },
    async (request) => {
      const cluster = clusterOf(request);
      const status = await tokenReviews.review(cluster, readTokenReview(request.body), new Date());
      return { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status };
    },
  );

  scope.post(
    '/clusters/:id/access-review',
    {
      config: {
        access: reviewer,
        atHand(request, reply) {
          const answer = accessReviews.atHand(clusterOf(request), readAccessReview(request.body));
          if (answer === undefined) return undefined;
          return sendText(reply, textOf(answer));
        },
      },
      preValidation: [preValidation],
      schema: {
        ...common,
        summary: 'Answer a SubjectAccessReview of the API server of a cluster',
        body: AccessReviewBody,
        response: { 200: AccessReview },
      },
    },
    async (request, reply) => {
      const cluster = clusterOf(request);
      const answer = await accessReviews.review(cluster, readAccessReview(request.body), new Date());
      return sendText(reply, textOf(answer));
    },
  );

  function takeOne(id: string): void {
    const now = performance.now();
    if (allowance.take(id, now)) return;
    const message = 'the API server of this cluster asks too often, try again later';
    throw new AppError('limited', message, { retryAfter: allowance.wait(id, now) });
  }
}

function clusterOf({ reviewedCluster }: { readonly reviewedCluster?: ReviewedCluster }): ReviewedCluster {
  if (reviewedCluster === undefined) throw new AppError('internal', 'the cluster of the request was not looked up');
  return reviewedCluster;
}

const ANSWER = '{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","status":';
const ALLOWED = `${ANSWER}{"allowed":true}}`;
const NO_OPINION = `${ANSWER}{"allowed":false}}`;

/** An API server asks about every request: nearly every answer is one of two texts. */
function textOf(answer: AccessAnswer): string {
  if (answer.allowed) return ALLOWED;
  return answer.reason === undefined ? NO_OPINION : `${ANSWER}${JSON.stringify(answer)}}`;
}
