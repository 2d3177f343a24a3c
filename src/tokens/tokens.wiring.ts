import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { hostedTokenRoutes, keySetRoutes } from './hosted-token.routes.ts';
import { createHostedTokens } from './hosted-token.ts';
import { tokenRoutes } from './tokens.routes.ts';
import { createTokenStore } from './tokens.store.ts';
import { createTokens } from './tokens.ts';

export function wireTokens({ config, keys, db, baseUrl }: Infrastructure, { tokens, tokenUsage }: Identity) {
  const hostedTokens = createHostedTokens(keys.derive('hosted token'), baseUrl);
  const isHosted = config.DEPLOYMENT === 'hosted';
  return { mount, mountRoot };

  function mount(scope: Scope): void {
    tokenRoutes(scope, createTokens(createTokenStore(db), tokens, tokenUsage.flush), baseUrl);
    if (isHosted) hostedTokenRoutes(scope, hostedTokens);
  }

  /** Routes outside /api/v1. */
  function mountRoot(scope: Scope): void {
    if (isHosted) keySetRoutes(scope, hostedTokens);
  }
}
