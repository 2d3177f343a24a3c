import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode, encodeUser, parseCreds } from '@nats-io/jwt';
import { fromPublic, fromSeed } from '@nats-io/nkeys';
import { credentialsFile } from '../../src/bus/credentials-file.ts';
import { accountJwt, operatorJwt, userJwt } from '../../src/bus/jwt-claims.ts';
import { createNkeyPair, type NkeyKind, restoreNkeyPair } from '../../src/bus/nkeys.ts';
import { COUNTS } from '../counts.ts';

const KINDS: readonly (readonly [NkeyKind, string])[] = [
  ['operator', 'O'],
  ['account', 'A'],
  ['user', 'U'],
];

/** The NATS libraries decide: they must be able to read what we write, and the other way round. */
describe('NATS keys', () => {
  for (const [kind, letter] of KINDS) {
    it(`The NATS library derives the same ${kind} key from the same seed`, () => {
      for (let round = 0; round < COUNTS.natsKeys; round++) {
        const ours = createNkeyPair(kind);
        const theirs = fromSeed(Buffer.from(ours.seed()));
        assert.equal(ours.publicKey[0], letter);
        assert.equal(ours.seed().slice(0, 2), `S${letter}`);
        assert.equal(theirs.getPublicKey(), ours.publicKey);
      }
    });
  }

  it('Signatures are identical to those of the NATS library', () => {
    const ours = createNkeyPair('user');
    const theirs = fromSeed(Buffer.from(ours.seed()));
    assert.deepEqual(ours.sign('ünïcode'), Buffer.from(theirs.sign(Buffer.from('ünïcode'))));
    assert.ok(fromPublic(ours.publicKey).verify(Buffer.from('text'), ours.sign('text')));
    assert.ok(!fromPublic(ours.publicKey).verify(Buffer.from('other'), ours.sign('text')));
  });

  it('A key pair is restored from its stored form', () => {
    const key = createNkeyPair('account');
    assert.equal(key.raw().length, 32);
    assert.equal(restoreNkeyPair('account', key.raw()).seed(), key.seed());
    assert.throws(() => restoreNkeyPair('account', key.raw().subarray(1)), /damaged/);
  });
});

describe('NATS claims', () => {
  const operator = createNkeyPair('operator');
  const account = createNkeyPair('account');
  const user = createNkeyPair('user');
  const said = { name: 'ann', user: user.publicKey, issuedAt: 1_700_000_000, expiresAt: 1_700_003_600 };
  const jwt = userJwt(account, { ...said, publish: ['a.>'], subscribe: ['b.>', 'c'] });

  const verify = (text: string, issuer: string) => {
    const [head, body, signature] = text.split('.');
    return fromPublic(issuer).verify(Buffer.from(`${head}.${body}`), Buffer.from(signature ?? '', 'base64url'));
  };

  it('A user JWT is signed by the account and decoded by the NATS library', () => {
    const claims = decode<{ pub: object; sub: object; type: string; version: number }>(jwt);
    assert.equal(claims.iss, account.publicKey);
    assert.equal(claims.sub, user.publicKey);
    assert.equal(claims.exp, said.expiresAt);
    assert.deepEqual(claims.nats.pub, { allow: ['a.>'] });
    assert.deepEqual(claims.nats.sub, { allow: ['b.>', 'c'] });
    assert.ok(verify(jwt, account.publicKey));
    assert.ok(!verify(jwt, operator.publicKey));
  });

  it('A user JWT has the header and all the claim fields that the NATS library writes', async () => {
    const theirs = await encodeUser('ann', fromPublic(user.publicKey), fromSeed(Buffer.from(account.seed())), {});
    assert.equal(jwt.split('.')[0], theirs.split('.')[0]);
    const keys = Object.keys(decode<object>(jwt).nats);
    for (const key of Object.keys(decode<object>(theirs).nats)) assert.ok(keys.includes(key), key);
  });

  it('User JWTs are identical if and only if their claims are', () => {
    assert.equal(userJwt(account, { ...said, publish: ['a.>'], subscribe: ['b.>', 'c'] }), jwt);
    assert.notEqual(userJwt(account, { ...said, publish: ['a.>'], subscribe: ['b.>'] }), jwt);
  });

  it('Operator and account JWTs are decoded and verified by the NATS library', () => {
    const top = operatorJwt(operator, { name: 'atrium', issuedAt: 1, systemAccount: account.publicKey });
    assert.ok(verify(top, operator.publicKey));
    assert.equal(decode<{ system_account: string }>(top).nats.system_account, account.publicKey);
    const text = accountJwt(operator, {
      name: 'x',
      account: account.publicKey,
      issuedAt: 7,
      revoked: new Map([[user.publicKey, 9]]),
    });
    assert.ok(verify(text, operator.publicKey));
    const claims = decode<{ revocations: object; limits?: { conn: number } }>(text);
    assert.deepEqual(claims.nats.revocations, { [user.publicKey]: 9 });
    assert.equal(claims.nats.limits?.conn, -1);
  });

  it('A credentials file is readable by the NATS library', async () => {
    const read = await parseCreds(Buffer.from(credentialsFile(jwt, user.seed())));
    assert.equal(read.jwt, jwt);
    assert.equal(read.key, user.seed());
    assert.equal(read.aid, account.publicKey);
  });
});
