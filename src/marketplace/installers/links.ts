import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import type { Installer } from '../subscriptions/delivery-transaction.ts';

/** A link as it was followed. */
export interface FollowedLink {
  readonly ownerId: string;
  readonly name: string;
  readonly installerId: string;
  readonly exp: unknown;
  readonly sig: unknown;
}

export type Links = ReturnType<typeof createLinks>;

const LIFETIME_SECONDS = 24 * 3600;
/** A link that is about to expire is of no use to the customer who gets it. */
const FRESH_SECONDS = 3600;

/**
 * Links to archives. They are signed so that they cannot be forged, they expire, and raising the generation invalidates
 * them.
 */
export function createLinks(key: Buffer, baseUrl: () => string) {
  const signatureKey = createSecretKey(key);
  return { make, expiryFrom, isFresh, follow };

  function expiryFrom(now: Date): number {
    return Math.floor(now.getTime() / 1000) + LIFETIME_SECONDS;
  }

  function isFresh(expires: number, now: Date): boolean {
    return expires > now.getTime() / 1000 + FRESH_SECONDS;
  }

  function make(installer: Installer, expires: number): string {
    const { binding } = installer;
    if (!binding) throw new AppError('internal', 'an installer that is not bound has no archive');
    const { organizationId, organizationName: name } = binding;
    const sig = sign(installer, String(organizationId), name, expires);
    return `${baseUrl()}/links/installer/${organizationId}/${name}/${installer.id}/archive.tar.gz?exp=${expires}&sig=${sig}`;
  }

  /**
   * Rejects a link that is not ours or is no longer valid. Only a caller with a genuine link learns that it has
   * expired.
   */
  function follow(link: FollowedLink, installer: Installer | undefined, now: Date): void {
    const expires = typeof link.exp === 'string' && /^[1-9]\d{0,11}$/.test(link.exp) ? Number(link.exp) : Number.NaN;
    const owner = String(installer?.binding?.organizationId ?? '');
    // Compares the texts, not the decoded bytes: base64 has several spellings of the same bytes.
    const given = Buffer.from(typeof link.sig === 'string' ? link.sig : '');
    const right = Buffer.from(sign(installer, owner, link.name, expires));
    const isOurs = given.length === right.length && timingSafeEqual(given, right) && owner === link.ownerId;
    // A repeated bind gets a link again even if its contract has been revoked since, so the contract is checked here.
    if (!installer?.binding || installer.binding.contractRevoked || !isOurs)
      throw new AppError('notFound', 'not found');
    if (expires <= now.getTime() / 1000) throw new AppError('gone', 'the link has expired');
  }

  function sign(installer: Installer | undefined, owner: string, name: string, expires: number): string {
    const said = [installer?.id ?? '', installer?.linkGeneration ?? 0, owner, name, expires];
    return createHmac('sha256', signatureKey).update(JSON.stringify(said)).digest('base64url');
  }
}
