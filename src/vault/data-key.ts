import type { RingKey } from './ring.ts';
import { newSecret, openWith, type Sealed, type Secret, sealWith, secretOf } from './sealing.ts';

/** The key that an owner's values are sealed with, as it is stored: wrapped by a key of the ring. */
export interface DataKey {
  readonly id: bigint;
  readonly ownerId: bigint;
  readonly ringKeyId: bigint;
  readonly wrapped: Sealed;
}

export type NewDataKey = Omit<DataKey, 'id'>;

export function newDataKey(wrapping: RingKey, ownerId: bigint): NewDataKey {
  const wrapped = sealWith(wrapping.secret, wrapping.id, identityOfKey(ownerId), newSecret().export());
  return { ownerId, ringKeyId: wrapping.id, wrapped };
}

export function openDataKey(wrapping: RingKey, { ownerId, wrapped }: DataKey): Secret {
  return secretOf(openWith(wrapping.secret, identityOfKey(ownerId), wrapped));
}

/** What a sealed value is bound to: its owner, and which of the owner's values it is. */
export function bind(ownerId: bigint, identity: string): string {
  return `${ownerId}\0${identity}`;
}

function identityOfKey(ownerId: bigint): string {
  return bind(ownerId, 'data key');
}
