import { apart, mapInSlices } from '../../base/scheduling/slices.ts';
import type { SignAttestation, SignedAttestation } from './attestation-signer.ts';

/**
 * Entries from which a person was erased. Their hash covers texts that are gone, so it cannot be computed any more. Such
 * an entry is as it should be only if an entry `user.erase` in the deployment's log lists it with its hash.
 */
export interface Erasable {
  readonly id: bigint;
  readonly hash: Buffer;
  /** What the hash must be. */
  readonly expected: Buffer;
  readonly isErased: boolean;
}

/** The hashes of the erased entries of one log, by their IDs. */
export type Attested = ReadonlyMap<bigint, Buffer>;

const NONE: Attested = new Map();
/** What no hash is equal to. */
const UNATTESTED = Buffer.alloc(0);

/** Judges the erased entries of one log. What is attested is read once, and again for entries that were erased since. */
export function createAttestations(attestedIn: () => Promise<Attested>) {
  let known = NONE;
  const isAttested = ({ id, hash }: Erasable) => known.get(id)?.equals(hash) ?? false;
  return async <Entry extends Erasable>(entries: Entry[]): Promise<Entry[]> => {
    const erased = entries.filter((entry) => entry.isErased);
    if (erased.length === 0) return entries;
    if (!erased.every(isAttested)) known = await attestedIn();
    return entries.map((entry) => {
      if (!entry.isErased) return entry;
      return { ...entry, expected: isAttested(entry) ? entry.hash : UNATTESTED };
    });
  };
}

/** An entry of one log, as an export shows it. */
interface Exported {
  readonly id: bigint;
  readonly hash: Buffer;
  readonly isErased?: boolean;
}

/**
 * Signs the erased entries of one log that are attested, so that its reader can verify it without the deployment's. What
 * is attested is read once, and again for entries that were erased since.
 */
export function createAttesting<Given extends Exported>(
  chainId: bigint,
  attestedIn: () => Promise<Attested>,
  leftOf: (entry: Given) => Buffer,
  sign: SignAttestation,
) {
  let known = NONE;
  const isAttested = ({ id, hash }: Exported) => known.get(id)?.equals(hash) ?? false;
  const attest = (entry: Given) => sign({ chainId, id: entry.id, hash: entry.hash, left: leftOf(entry) });
  return async (entries: readonly Given[]): Promise<readonly (Given & { readonly attested?: SignedAttestation })[]> => {
    const erased = entries.filter((entry) => entry.isErased);
    if (erased.length === 0) return entries;
    if (!erased.every(isAttested)) known = await attestedIn();
    // A long export is no single answer: its reader takes it batch by batch, and hangs up to end it. The budget of a
    // request would cut it off.
    return await apart(() =>
      mapInSlices(entries, (entry) =>
        entry.isErased && isAttested(entry) ? { ...entry, attested: attest(entry) } : entry,
      ),
    );
  };
}
