import type { Authz } from '../authz/authz.wiring.ts';
import type { Clusters } from '../clusters/clusters.ts';
import { createAllowance } from '../http/limits/allowance.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createAccessReviews, type IsRequestable } from './access-review.ts';
import { apiServerReviewRoutes } from './api-server-reviews.routes.ts';
import { bindingRoutes } from './bindings.routes.ts';
import { createBindingStore } from './bindings.store.ts';
import { createBindings } from './bindings.ts';
import { clusterTokenRoutes, discoveryRoutes } from './cluster-token.routes.ts';
import { createClusterTokens } from './cluster-token.ts';
import { kubeconfigRoutes } from './kubeconfig.routes.ts';
import { createKubernetesStore } from './kubernetes.store.ts';
import { reviewCountRoutes } from './review-counts.routes.ts';
import { createReviewCounts } from './review-counts.ts';
import { createReviewSubjects } from './review-subjects.ts';
import { createReviewedClusters } from './reviewed-cluster.ts';
import { createSigningKeyStore } from './signing-keys.store.ts';
import { createSigningKeys } from './signing-keys.ts';
import { createTokenReviews } from './token-review.ts';

const REVIEWS_A_SECOND = 2_000;

export function wireKubernetes(
  { db, vault, revisions, share, baseUrl }: Infrastructure,
  { callers }: Identity,
  { judge, graphs, explain, names, model }: Pick<Authz, 'judge' | 'graphs' | 'explain' | 'names' | 'model'>,
  clusters: Pick<Clusters, 'get'>,
  isRequestable: IsRequestable,
) {
  const store = createKubernetesStore(db);
  const reviewed = createReviewedClusters(store, revisions, judge);
  const subjects = createReviewSubjects(store, callers, revisions);
  const tokens = createClusterTokens(createSigningKeys(createSigningKeyStore(db), vault), baseUrl);
  const counts = createReviewCounts(new Date());
  const accessReviews = createAccessReviews({
    judge,
    graphs,
    subjects,
    explain,
    isRequestable,
    revision: () => revisions.latest,
    note: counts.note,
  });
  const tokenReviews = createTokenReviews({ callers, subjects, tokens });
  const allowance = share('cluster reviews', createAllowance(REVIEWS_A_SECOND, 1000));
  return { tokens, mount, mountRoot };

  function mount(scope: Scope): void {
    apiServerReviewRoutes(scope, { clusters: reviewed, tokenReviews, accessReviews, allowance });
    clusterTokenRoutes(scope, { tokens, clusters });
    kubeconfigRoutes(scope, { clusters, judge });
    bindingRoutes(scope, reviewed, createBindings({ store: createBindingStore(db), graphs, model, revisions }));
    reviewCountRoutes(scope, { counts, judge, names: names.names });
  }

  /** Routes outside /api/v1. */
  function mountRoot(scope: Scope): void {
    discoveryRoutes(scope, baseUrl);
  }
}
