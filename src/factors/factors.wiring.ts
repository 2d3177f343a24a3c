import { createSignedTexts } from '../base/signed-text.ts';
import type { Cookies } from '../http/cookies.ts';
import type { Brake } from '../http/limits/brake.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import { useOnce } from '../identity/single-use.store.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { SignIn } from '../users/sign-in.ts';
import type { Users } from '../users/users.ts';
import { createChallenges } from './challenges.ts';
import { factorRoutes } from './factors.routes.ts';
import { createFactorStore } from './factors.store.ts';
import { createFactors } from './factors.ts';
import { createPasskeyStore } from './passkeys.store.ts';
import { createPasskeys } from './passkeys.ts';
import { requiredFactorRoutes } from './required-factors.routes.ts';
import { secondStepRoutes } from './second-step.routes.ts';
import { createSecondStep } from './second-step.ts';
import { createTotpStore } from './totp.store.ts';
import { createTotps } from './totp.ts';

interface Neighbors {
  readonly users: Users;
  readonly signIn: SignIn;
  readonly cookies: Cookies;
  readonly isProviderOpen: (name: string) => Promise<boolean>;
}

export function wireFactors(infrastructure: Infrastructure, identity: Identity, neighbors: Neighbors, brake: Brake) {
  const { config, keys, db, revisions, quotas, vault, baseUrl } = infrastructure;
  const { callers, sessions, secondFactors, tickets } = identity;
  const { users, signIn, cookies, isProviderOpen } = neighbors;
  const { write } = revisions;
  const factors = createFactors(createFactorStore(db, write), secondFactors, keys.derive('recovery code'));
  const passkeys = createPasskeys({
    store: createPasskeyStore(db, write, quotas),
    factors,
    challenges: createChallenges(keys.derive('passkey challenge')),
    handleKey: keys.derive('passkey user'),
    baseUrl,
  });
  const totps = createTotps({
    store: createTotpStore(db, write),
    vault,
    factors,
    proposals: createSignedTexts(keys.derive('authenticator app')),
    // Key URIs allow no colon in the issuer, so a port is set apart by a blank.
    issuer: () => `Atrium (${new URL(baseUrl()).host.replaceAll(':', ' ')})`,
  });
  const secondStep = createSecondStep({
    ...{ callers, tickets, signIn, factors, passkeys, totps },
    useTicket: (proof) => db.transaction((query) => useOnce(query, proof)),
    hasPasswords: config.PASSWORDS === 'on',
    isProviderOpen,
    guarded: brake.password,
    guardedPlace: brake.token,
  });
  return { factors, mount };

  function mount(scope: Scope): void {
    factorRoutes(scope, { factors, passkeys, totps, cookies });
    secondStepRoutes(scope, { secondStep, sessions, signIn, cookies, baseUrl });
    requiredFactorRoutes(scope, { factors, passkeys, users, baseUrl });
  }
}
