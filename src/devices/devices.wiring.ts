import { createAllowance } from '../http/allowance.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { deviceRoutes } from './devices.routes.ts';
import { createDeviceStore } from './devices.store.ts';
import { createDevices } from './devices.ts';

const WINDOW_MS = 5 * 60_000;
const BEGUN = 100;
const GUESSES = 20;

/** Signing in programs that cannot show a browser. */
export function wireDevices({ keys, db, baseUrl }: Infrastructure, { tokens }: Identity) {
  const devices = createDevices({ store: createDeviceStore(db), key: keys.derive('device'), issue: tokens.issue });
  return {
    mount(scope: Scope): void {
      const [begun, guesses] = [createAllowance(BEGUN, WINDOW_MS), createAllowance(GUESSES, WINDOW_MS)];
      deviceRoutes(scope, { devices, baseUrl, begun, guesses });
    },
  };
}
