/**
 * Checks what a browser says about a passkey (WebAuthn Level 3, sections 7.1 and 7.2).
 *
 * 1. The challenge is one that we gave to this browser for this purpose; the caller of these functions sees to that.
 * 2. The page that asked is ours, by its origin, and it was not shown in a frame of another site.
 * 3. The authenticator made the passkey for us, by the hash of our ID.
 * 4. A person was present, and proved to the authenticator who they are if that is asked for.
 * 5. The signature is by the key that was registered, and the counter has moved, if the authenticator has one.
 *
 * Which model of authenticator it is does not matter here, so no attestation is asked for and none is checked.
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { type AuthenticatorData, readAuthenticatorData } from './authenticator-data.ts';
import { readCbor } from './cbor.ts';
import type { RelyingParty } from './relying-party.ts';

/** What is kept of a passkey, to recognize it. */
export interface PasskeyKey {
  readonly credentialId: Buffer;
  /** SubjectPublicKeyInfo, as DER. */
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly isSynced: boolean;
}

/** In base64url, as browsers write it. */
export interface RegistrationAnswer {
  readonly clientDataJSON: string;
  readonly attestationObject: string;
}

export interface AssertionAnswer {
  readonly clientDataJSON: string;
  readonly authenticatorData: string;
  readonly signature: string;
}

interface Expected {
  readonly challenge: string;
  readonly party: RelyingParty;
  /** Whether the user must have proven to the authenticator who they are. */
  readonly isVerified: boolean;
}

/** The passkey that a browser has created. Throws if the answer is not right. */
export function checkRegistration(answer: RegistrationAnswer, expected: Expected): PasskeyKey {
  checkClientData(answer.clientDataJSON, 'webauthn.create', expected);
  const attestation = readCbor(bytesOf(answer.attestationObject));
  const data = attestation instanceof Map ? attestation.get('authData') : undefined;
  if (!(data instanceof Buffer)) throw new Error('the answer has no authenticator data');
  const read = readAuthenticatorData(data);
  checkAuthenticator(read, expected);
  if (read.credential === undefined) throw new Error('the answer has no credential');
  const { id: credentialId, publicKey } = read.credential;
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return { credentialId, publicKey: der, counter: read.counter, isSynced: read.isSynced };
}

/** The state of a known passkey after it was used. Throws if the answer is not right. */
export function checkAssertion(answer: AssertionAnswer, known: PasskeyKey, expected: Expected): PasskeyKey {
  const clientData = checkClientData(answer.clientDataJSON, 'webauthn.get', expected);
  const data = bytesOf(answer.authenticatorData);
  const read = readAuthenticatorData(data);
  checkAuthenticator(read, expected);
  const signed = Buffer.concat([data, sha256(clientData)]);
  const key = createPublicKey({ key: known.publicKey, type: 'spki', format: 'der' });
  if (!verify(digestOf(key), signed, key, bytesOf(answer.signature))) throw new Error('the signature is wrong');
  const { counter, isSynced } = read;
  // A copy of the authenticator may be in use.
  if ((counter !== 0 || known.counter !== 0) && counter <= known.counter) throw new Error('the counter went back');
  return { ...known, counter, isSynced };
}

/** The challenge that an answer is about. What is around it is checked later. */
export function challengeIn(clientDataJSON: string): string {
  const { challenge } = readClientData(bytesOf(clientDataJSON));
  if (typeof challenge !== 'string') throw new Error('the answer has no challenge');
  return challenge;
}

interface ClientData {
  readonly type?: unknown;
  readonly challenge?: unknown;
  readonly origin?: unknown;
  readonly crossOrigin?: unknown;
}

function checkClientData(text: string, type: string, { challenge, party }: Expected): Buffer {
  const bytes = bytesOf(text);
  const said = readClientData(bytes);
  if (said.type !== type) throw new Error(`the answer is not of type ${type}`);
  if (said.challenge !== challenge) throw new Error('the challenge is another one');
  if (said.origin !== party.origin) throw new Error('the page is of another origin');
  if (said.crossOrigin === true) throw new Error('the page was in a frame of another site');
  return bytes;
}

function readClientData(bytes: Buffer): ClientData {
  const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  if (typeof value !== 'object' || value === null) throw new Error('the client data is not an object');
  return value;
}

function checkAuthenticator(read: AuthenticatorData, { party, isVerified }: Expected): void {
  if (!read.rpIdHash.equals(sha256(Buffer.from(party.id)))) throw new Error('the passkey is for another site');
  if (!read.isPresent) throw new Error('nobody was present');
  if (isVerified && !read.isVerified) throw new Error('the user was not verified');
}

/** EdDSA has its own digest. */
function digestOf(key: KeyObject): string | null {
  return key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
}

/** Node ignores what is not base64; a browser never sends it. */
function bytesOf(text: string): Buffer {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new Error('the answer is not base64url');
  return Buffer.from(text, 'base64url');
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
