import type { Authz } from '../authz/authz.wiring.ts';
import { createMailer } from '../base/mail/mailer.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createExpiryNoticeStore } from './expiry-notices.store.ts';
import { createExpiryNotices } from './expiry-notices.ts';
import { hostedTokenRoutes, keySetRoutes } from './hosted-token.routes.ts';
import { createHostedTokens } from './hosted-token.ts';
import { createLimitReader } from './limit-request.ts';
import { ownTokenRoutes } from './own-token.routes.ts';
import { tokenPolicyRoutes } from './token-policy.routes.ts';
import { createTokenPolicyStore } from './token-policy.store.ts';
import { createTokenPolicies } from './token-policy.ts';
import { tokenRoutes } from './tokens.routes.ts';
import { createTokenStore } from './tokens.store.ts';
import { createTokens } from './tokens.ts';

export type TokensWired = ReturnType<typeof wireTokens>;

const DAY_MS = 86_400_000;

export function wireTokens(
  { config, keys, db, revisions, log, baseUrl }: Infrastructure,
  { callers, tokens: issuer, tokenUsage }: Identity,
  { judge, owners, names }: Pick<Authz, 'judge' | 'owners' | 'names'>,
) {
  const hostedTokens = createHostedTokens(keys.derive('hosted token'), baseUrl);
  const isHosted = config.DEPLOYMENT === 'hosted';
  const policies = createTokenPolicies(createTokenPolicyStore(db, revisions.write));
  const limits = createLimitReader({
    organizationNamed: callers.organizationNamed,
    ownerOf: owners.ownerOf,
    holds: judge.holds,
    names: names.names,
  });
  const noticeMs = Math.max(...config.TOKEN_NOTICE_DAYS) * DAY_MS;
  const soon = () => new Date(Date.now() + noticeMs);
  // Without a mail server, nothing is claimed: the emails are sent once there is one.
  const noticeDays = config.SMTP_URL === undefined ? [] : config.TOKEN_NOTICE_DAYS;
  const notices = createExpiryNotices(createExpiryNoticeStore(db), createMailer(config, log), noticeDays, baseUrl);
  return { policies, limits, notices, soon, mount, mountRoot };

  function mount(scope: Scope): void {
    const store = createTokenStore(db);
    const tokens = createTokens({ store, issuer, policies, limits, flushUsage: tokenUsage.flush });
    tokenRoutes(scope, tokens, soon, baseUrl);
    ownTokenRoutes(scope, tokens, soon);
    tokenPolicyRoutes(scope, policies);
    if (isHosted) hostedTokenRoutes(scope, hostedTokens);
  }

  /** Routes outside /api/v1. */
  function mountRoot(scope: Scope, clusterKeys: (now: Date) => Promise<object[]>): void {
    // Tokens for clusters are signed with keys of their own: Kubernetes does not know the algorithm of hosted tokens.
    const hosted = async () => (isHosted ? (await hostedTokens.keySet()).keys : []);
    keySetRoutes(scope, async () => ({ keys: [...(await hosted()), ...(await clusterKeys(new Date()))] }));
  }
}
