import type { Keys } from '../base/keys.ts';
import { createSignedTexts } from '../base/signed-text.ts';
import type { Quotas } from '../changes/quotas.store.ts';
import type { Revisions } from '../changes/revision.ts';
import type { Db } from '../db/db.ts';
import { createCallerStore } from './callers.store.ts';
import { createCallers } from './callers.ts';
import { createSecondFactorStore } from './second-factor.store.ts';
import { createSecondFactors, type SecondFactorPolicy } from './second-factor.ts';
import { createSessionLiveness } from './sessions/session-liveness.ts';
import type { SessionPolicy } from './sessions/session-policy.ts';
import { createSessionUsageStore } from './sessions/session-usage.store.ts';
import { createSessionUsage } from './sessions/session-usage.ts';
import { createSessionStore } from './sessions/sessions.store.ts';
import { createSessions } from './sessions/sessions.ts';
import { createSignInTickets } from './sign-in-ticket.ts';
import { createTokenIssuerStore, expireSuperseded } from './tokens/token-issuer.store.ts';
import { createTokenIssuer } from './tokens/token-issuer.ts';
import { createTokenUsageStore } from './tokens/token-usage.store.ts';
import { createTokenUsage } from './tokens/token-usage.ts';

export type Identity = ReturnType<typeof wireIdentity>;

interface Policies {
  readonly policy?: SecondFactorPolicy;
  readonly hasPasswords?: boolean;
  readonly sessionPolicy?: SessionPolicy;
}

/** Who a caller is, and how they prove it. */
export function wireIdentity(
  db: Db,
  revisions: Revisions,
  quotas: Quotas,
  keys: Pick<Keys, 'derive'>,
  { policy = 'optional', hasPasswords = true, sessionPolicy }: Policies = {},
) {
  const secretKey = keys.derive('token');
  const sessionUsage = createSessionUsage(createSessionUsageStore(db));
  const sessionStore = createSessionStore(db, revisions.write, quotas);
  const liveness = createSessionLiveness(sessionStore, sessionUsage.lastNoted);
  revisions.addExpirer(expireSuperseded);
  return {
    callers: createCallers(createCallerStore(db), revisions, secretKey, hasPasswords, liveness),
    sessions: createSessions(sessionStore, secretKey, sessionUsage.flush, sessionPolicy),
    liveness,
    sessionUsage,
    secondFactors: createSecondFactors(createSecondFactorStore(db), revisions, policy),
    tickets: createSignInTickets(createSignedTexts(keys.derive('sign-in'))),
    tokens: createTokenIssuer(createTokenIssuerStore(revisions.write, quotas), secretKey),
    tokenUsage: createTokenUsage(createTokenUsageStore(db)),
  };
}
