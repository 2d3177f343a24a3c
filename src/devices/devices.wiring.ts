import { createAllowance } from '../http/limits/allowance.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { TokensWired } from '../tokens/tokens.wiring.ts';
import { deviceRoutes } from './devices.routes.ts';
import { createDeviceStore } from './devices.store.ts';
import { createDevices } from './devices.ts';

const WINDOW_MS = 5 * 60_000;
const BEGUN = 100;
const GUESSES = 20;

/** Signing in programs that cannot show a browser. */
export function wireDevices(
  { keys, db, revisions, share, baseUrl }: Infrastructure,
  { tokens: issuer }: Identity,
  { policies, soon }: Pick<TokensWired, 'policies' | 'soon'>,
) {
  const [store, key] = [createDeviceStore(db, revisions.write), keys.derive('device')];
  const devices = createDevices({ store, key, issue: issuer.issue, policies });
  return {
    mount(scope: Scope): void {
      const begun = share('devices begun', createAllowance(BEGUN, WINDOW_MS));
      const guesses = share('device codes', createAllowance(GUESSES, WINDOW_MS));
      deviceRoutes(scope, { devices, baseUrl, soon, begun, guesses });
    },
  };
}
