import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { checkAssertion, checkRegistration, type PasskeyKey } from '../../src/factors/passkey-check.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { type Algorithm, createAuthenticator, type Quirks } from '../support/services/authenticator.ts';

const PARTY = { id: 'atrium.example.com', origin: 'https://atrium.example.com' };
const CHALLENGE = Buffer.alloc(64, 7).toString('base64url');
const CREATION = { rp: PARTY, user: { id: 'AAAA' }, challenge: CHALLENGE };
const REQUEST = { rpId: PARTY.id, challenge: CHALLENGE };

type Registration = ReturnType<ReturnType<typeof createAuthenticator>['create']>;
type Assertion = ReturnType<ReturnType<typeof createAuthenticator>['get']>;

/** What the other implementation says, which was written by somebody else from the same specification. */
async function theirRegistration(id: string, answer: Registration): Promise<boolean> {
  const response = { ...answer, transports: [] };
  const { verified } = await verifyRegistrationResponse({
    response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response },
    expectedChallenge: CHALLENGE,
    expectedOrigin: PARTY.origin,
    expectedRPID: PARTY.id,
    requireUserVerification: false,
    supportedAlgorithmIDs: [-7, -8, -257],
  });
  return verified;
}

async function theirAssertion(
  { id, response }: Assertion,
  cose: Uint8Array<ArrayBuffer>,
  counter: number,
): Promise<boolean> {
  const { verified } = await verifyAuthenticationResponse({
    response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response },
    expectedChallenge: CHALLENGE,
    expectedOrigin: PARTY.origin,
    expectedRPID: PARTY.id,
    requireUserVerification: true,
    credential: { id, publicKey: cose, counter },
  });
  return verified;
}

async function accepts(check: () => unknown): Promise<boolean> {
  try {
    return (await check()) !== false;
  } catch {
    return false;
  }
}

/** The COSE key, as it is in the answer: behind the head, the model, the length of the ID and the ID. */
async function coseIn(id: string, answer: Registration): Promise<Uint8Array<ArrayBuffer>> {
  const { registrationInfo } = await verifyRegistrationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { ...answer, transports: [] },
    },
    expectedChallenge: CHALLENGE,
    expectedOrigin: PARTY.origin,
    expectedRPID: PARTY.id,
    requireUserVerification: false,
    supportedAlgorithmIDs: [-7, -8, -257],
  });
  return registrationInfo?.credential.publicKey ?? assert.fail('no key');
}

const ONES: readonly Quirks[] = [
  {},
  { origin: 'https://evil.example.com' },
  { origin: 'https://atrium.example.com:444' },
  { rpId: 'example.com' },
  { type: 'webauthn.something' },
  { challenge: 'AAAA' },
  { isPresent: false },
  { isVerified: false },
  { counter: 5 },
  { counter: 0 },
  { signature: Buffer.alloc(64) },
  { trailing: Buffer.from([0]) },
];

describe('Our check of passkeys and that of @simplewebauthn/server', () => {
  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] satisfies Algorithm[]) {
    it(`Both accept and reject the same answers of ${algorithm} keys`, async () => {
      const authenticator = createAuthenticator(PARTY.origin, algorithm);
      const good = authenticator.create(CREATION);
      const expected = { challenge: CHALLENGE, party: PARTY, isVerified: false };
      const known: PasskeyKey = { ...checkRegistration(good, expected), counter: 5 };
      const cose = await coseIn(authenticator.id, good);
      const verdicts = { accepted: 0, rejected: 0 };
      const agree = async (what: string, ours: () => unknown, theirs: () => Promise<boolean>) => {
        const [one, other] = [await accepts(ours), await accepts(theirs)];
        assert.equal(one, other, `${what}: we ${one ? 'accept' : 'reject'} it`);
        verdicts[one ? 'accepted' : 'rejected']++;
      };
      const compare = async (what: string, registration: Registration, assertion: Assertion) => {
        await agree(
          `registration with ${what}`,
          () => checkRegistration(registration, expected),
          () => theirRegistration(authenticator.id, registration),
        );
        await agree(
          `assertion with ${what}`,
          () => checkAssertion(assertion.response, known, { ...expected, isVerified: true }),
          () => theirAssertion(assertion, cose, known.counter),
        );
      };
      for (const [at, one] of ONES.entries()) {
        for (const other of ONES.slice(0, at + 1)) {
          const quirks = { counter: 6, ...other, ...one };
          const { signature: _signature, ...created } = quirks;
          await compare(
            JSON.stringify(quirks),
            authenticator.create(CREATION, created),
            authenticator.get(REQUEST, quirks),
          );
        }
      }
      const random = createRandom();
      for (let round = 0; round < 60; round++) {
        const [registration, assertion] = [authenticator.create(CREATION), authenticator.get(REQUEST, { counter: 9 })];
        const flip = (text: string) => {
          const bytes = Buffer.from(text, 'base64url');
          const at = random.below(bytes.length);
          bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random.below(8)), at);
          return bytes.toString('base64url');
        };
        const field = (['authenticatorData', 'signature', 'clientDataJSON'] as const)[round % 3] ?? 'signature';
        const broken = { ...assertion, response: { ...assertion.response, [field]: flip(assertion.response[field]) } };
        await compare(`one bit of ${field} changed, seed ${SEED}`, registration, broken);
      }
      assert.ok(verdicts.accepted > 20 && verdicts.rejected > 60, JSON.stringify(verdicts));
    });
  }
});
