import { sign } from 'node:crypto';
import { seedKey } from './seed-key.ts';

/** That the deployment's log attests an erased entry, for readers who do not have that log. */
export interface SignedAttestation {
  readonly keyId: string;
  readonly signature: Buffer;
}

export type SignAttestation = (entry: {
  readonly chainId: bigint;
  readonly id: bigint;
  readonly hash: Buffer;
  /** The hash of what is left of the entry. Otherwise its other elements could be changed, and so what it follows from. */
  readonly left: Buffer;
}) => SignedAttestation;

/** With the key of the segments. What is signed begins differently, so that neither is ever taken for the other. */
export function createAttestationSigner(seed: Buffer): SignAttestation {
  const { privateKey, id: keyId } = seedKey(seed);
  return ({ chainId, id, hash, left }) => {
    const hashes = [hash, left].map((one) => one.toString('hex'));
    const text = JSON.stringify(['erased entry', String(chainId), String(id), ...hashes]);
    return { keyId, signature: sign(null, Buffer.from(text), privateKey) };
  };
}

/** As a member of a line of an export or archive. */
export function attestationText({ keyId, signature }: SignedAttestation): string {
  return `"attested":{"key_id":${JSON.stringify(keyId)},"signature":"${signature.toString('base64')}"}`;
}
