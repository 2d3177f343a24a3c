import { AppError } from '../../base/errors.ts';
import { bareAddress } from '../../base/ip.ts';
import type { MarketplaceName } from '../marketplaces.ts';
import type { Ranges } from '../ranges/ranges.ts';
import { isObject, type Json } from './canonical-json.ts';

import { forbidden, type Rejection, type RejectionReason } from './rejection.ts';
import type { Secrets } from './secrets.ts';

interface SenderCheckOptions {
  readonly secrets: Pick<Secrets, 'proves' | 'isTestInstaller'>;
  readonly ranges: Pick<Ranges, 'judge'>;
  /** A developer's machine has no public address. */
  readonly isDev: boolean;
  readonly onRejection: (marketplace: MarketplaceName, reason: RejectionReason, source: string) => void;
}

export type SenderCheck = ReturnType<typeof createSenderCheck>;

/** Checks who may deliver. Other callers learn nothing, and nothing they send reaches the database one by one. */
export function createSenderCheck({ secrets, ranges, isDev, onRejection }: SenderCheckOptions) {
  return { requireAddress, requireSecret, requireSecretOrTest };

  function requireAddress(marketplace: MarketplaceName, source: string): void {
    if (isDev) return;
    const verdict = ranges.judge(bareAddress(source));
    // A missing list is our fault, and only a 500 makes the caller retry.
    if (verdict === undefined) throw new AppError('internal', 'there is no list of address ranges: set CLOUD_A_RANGES');
    if (!verdict) {
      onRejection(marketplace, 'ip_outside_ranges', source);
      throw forbidden('ip_outside_ranges', 'the source address is outside the allowed ranges');
    }
  }

  function requireSecret(marketplace: MarketplaceName, given: unknown, source: string): void {
    if (!secrets.proves(marketplace, given)) throw mismatch(marketplace, source);
  }

  /**
   * `body` is undefined if it could not be read, so it names no installer. Returns true if the secret was not needed.
   */
  function requireSecretOrTest(marketplace: MarketplaceName, given: unknown, body: unknown, source: string): boolean {
    if (secrets.proves(marketplace, given)) return false;
    const id = installerIn(body);
    if (id === undefined || !secrets.isTestInstaller(id)) throw mismatch(marketplace, source);
    return true;
  }

  function mismatch(marketplace: MarketplaceName, source: string): Rejection {
    onRejection(marketplace, 'secret_mismatch', source);
    return forbidden('secret_mismatch', 'secret mismatch');
  }
}

function installerIn(body: unknown): string | undefined {
  const info = isObject(body) ? body.bindingInfo : undefined;
  if (!isObject(info)) return undefined;
  const named = Object.entries(info).filter(([key]) => key.toLowerCase() === 'installerid');
  const [, id] = named[0] ?? ['', null as Json];
  return named.length === 1 && typeof id === 'string' ? id : undefined;
}
