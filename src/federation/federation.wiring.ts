import type { Authz } from '../authz/authz.wiring.ts';
import { createGuardedFetch } from '../base/outbound/guarded-fetch.ts';
import type { Brake } from '../http/limits/brake.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { TokensWired } from '../tokens/tokens.wiring.ts';
import { createIssuerKeys } from './issuer-keys.client.ts';
import { oauthMetadataRoutes, tokenEndpointRoutes } from './token-endpoint.routes.ts';
import { createTokenExchangeStore } from './token-exchange.store.ts';
import { createTokenExchange } from './token-exchange.ts';
import { createTrustCheck } from './trust-check.ts';
import { trustRuleRoutes } from './trust-rules.routes.ts';
import { createTrustRuleStore } from './trust-rules.store.ts';
import { createTrustRules } from './trust-rules.ts';
import { verifySignature as verify } from './verify-signature.ts';

/** Discovery documents and key sets have a few kilobytes. */
const MAX_BYTES = 256 * 1024;
const TIMEOUT_MS = 5000;

/** Robots that sign in with a token of the platform that they run on. */
export function wireFederation(
  { config, db, revisions, quotas, baseUrl }: Infrastructure,
  { tokens }: Identity,
  { judge, heldPlaces }: Pick<Authz, 'judge' | 'heldPlaces'>,
  { limits }: Pick<TokensWired, 'limits'>,
  brake: Brake,
) {
  const allowedNetworks = config.OIDC_ALLOWED_NETWORKS;
  const fetch = createGuardedFetch({
    allowedNetworks,
    maxBytes: MAX_BYTES,
    timeoutMs: TIMEOUT_MS,
    service: 'token issuer',
  });
  const keys = createIssuerKeys(fetch);
  const store = createTokenExchangeStore(db, revisions.write, tokens);
  const exchange = createTokenExchange({ store, keys, verify });
  const check = createTrustCheck({ rulesOf: store.rulesOf, isSpent: store.isSpent, keys, verify });
  const trustRules = createTrustRules({
    store: createTrustRuleStore(db, revisions.write, quotas),
    judge,
    rejectGiving: heldPlaces.rejectGivingOfRobot,
    limits,
    terms: () => ({ baseUrl: baseUrl(), allowsPlainHttp: allowedNetworks.length > 0 }),
  });
  return {
    trustRules,
    /** Removes issued tokens that have expired. */
    sweep: store.sweep,
    mount: (scope: Scope) => trustRuleRoutes(scope, trustRules, check, baseUrl),
    mountRoot: (scope: Scope) => oauthMetadataRoutes(scope, baseUrl),
    mountOAuth: (scope: Scope) => tokenEndpointRoutes(scope, { exchange, brake, baseUrl }),
  };
}
