import { createHmac } from 'node:crypto';
import { UNKNOWN, type Whose } from '../../changes/personal-texts.ts';

/**
 * What finds the texts of an erased person that have no ID next to them, such as the address of an invitation.
 *
 * 1. Until the person is erased everywhere, these are the names and addresses themselves, in lower case.
 * 2. Afterwards they are removed. If archives have entries of earlier releases, a fingerprint of each stays, so that the
 *    restore of such an archive does not bring the person back. Who has only the database cannot guess the text from it,
 *    because the key of the fingerprints is not there.
 */
export interface ErasedIdentity {
  readonly id: bigint;
  readonly identifiers: readonly string[];
}

/** The same text has the same fingerprint, as long as the key ring of the deployment is the same. */
export type Fingerprint = (identifier: string) => string;

/** What the key of the fingerprints is derived for. */
export const ERASED_PEOPLE = 'erased people';
const MARK = 'hmac-sha256:';

export function createFingerprint(key: Buffer): Fingerprint {
  return (identifier) =>
    isFingerprint(identifier) ? identifier : `${MARK}${createHmac('sha256', key).update(identifier).digest('hex')}`;
}

export function whoseOf(people: readonly ErasedIdentity[], fingerprint: Fingerprint | undefined): Whose {
  const ids = new Set(people.map(({ id }) => id));
  const owners = new Map(people.flatMap(({ id, identifiers }) => identifiers.map((one) => [one, id] as const)));
  const hasFingerprints = owners.keys().some(isFingerprint);
  return (accountId, text) => {
    if (accountId !== UNKNOWN) return ids.has(accountId) ? accountId : undefined;
    const identifier = text.toLowerCase();
    const owner = owners.get(identifier);
    return owner === undefined && hasFingerprints && fingerprint ? owners.get(fingerprint(identifier)) : owner;
  };
}

function isFingerprint(identifier: string): boolean {
  return identifier.length === MARK.length + 64 && identifier.startsWith(MARK);
}
