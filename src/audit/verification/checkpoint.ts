import { sign, verify } from 'node:crypto';
import { seedKey } from './seed-key.ts';

/** How far a chain has been verified. */
export interface Checkpoint {
  readonly chainId: bigint;
  /** The last entry that was verified. */
  readonly lastId: bigint;
  /** How many entries the chain has from the first to that one. */
  readonly entries: number;
  /** The hash of that entry, which follows from all before it. */
  readonly hash: Buffer;
  readonly createdAt: Date;
}

export interface SignedCheckpoint extends Checkpoint {
  readonly signature: Buffer;
}

export interface CheckpointSigner {
  sign(checkpoint: Checkpoint): SignedCheckpoint;
  /** Whether this deployment signed exactly this checkpoint. */
  isOurs(checkpoint: SignedCheckpoint): boolean;
}

/** The key is derived from one that stays the same if the root key is replaced, and that backups contain. */
export function createCheckpointSigner(seed: Buffer): CheckpointSigner {
  const { privateKey: key, publicKey } = seedKey(seed);
  return {
    sign: (checkpoint) => ({ ...checkpoint, signature: sign(null, textOf(checkpoint), key) }),
    isOurs: (checkpoint) => verify(null, textOf(checkpoint), publicKey, checkpoint.signature),
  };
}

/** The signed values: texts, as in the hash of an entry. */
function textOf({ chainId, lastId, entries, hash, createdAt }: Checkpoint): Buffer {
  const fields = [chainId, lastId, entries, hash.toString('hex'), createdAt.toISOString()].map(String);
  return Buffer.from(JSON.stringify(['audit checkpoint', ...fields]));
}
