import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readAuthenticatorData } from '../../src/factors/authenticator-data.ts';
import { readCbor } from '../../src/factors/cbor.ts';
import { createChallenges } from '../../src/factors/challenges.ts';
import { relyingPartyOf } from '../../src/factors/relying-party.ts';

describe('The parts of passkeys', () => {
  it('Browsers have passkeys for HTTPS with a host name, and for localhost', () => {
    const cases: readonly (readonly [string, string | undefined, string?])[] = [
      ['https://atrium.example.com', 'atrium.example.com', 'https://atrium.example.com'],
      ['https://atrium.example.com:8443/', 'atrium.example.com', 'https://atrium.example.com:8443'],
      ['http://127.0.0.1:3000', 'localhost', 'http://localhost:3000'],
      ['http://localhost:3000', 'localhost', 'http://localhost:3000'],
      ['http://[::1]:3000', 'localhost', 'http://localhost:3000'],
      ['http://atrium.example.com', undefined],
      ['https://192.0.2.1', undefined],
      ['https://[2001:db8::1]', undefined],
      // A name that only looks like an address.
      ['http://127.example.com', undefined],
      ['', undefined],
    ];
    for (const [url, id, origin] of cases) {
      assert.deepEqual(relyingPartyOf(url), id === undefined ? undefined : { id, origin }, url);
    }
  });

  it('CBOR of authenticators is read, and everything else is refused', () => {
    const hex = (text: string) => readCbor(Buffer.from(text, 'hex'));
    assert.deepEqual(
      [
        '00',
        '17',
        '1818',
        '190100',
        '1a00010000',
        '20',
        '3903e7',
        '4101',
        '6161',
        '8101',
        'a10102',
        'f5',
        'f4',
        'f6',
      ].map(hex),
      [0, 23, 24, 256, 65536, -1, -1000, Buffer.from([1]), 'a', [1], new Map([[1, 2]]), true, false, null],
    );
    const refused = {
      '': 'nothing',
      '0000': 'two items',
      '18': 'a cut length',
      '42ff': 'cut bytes',
      '61ff': 'text that is not UTF-8',
      '5f': 'an endless item',
      c000: 'a tag',
      f93c00: 'a float',
      f7: 'undefined',
      a2010101: 'a cut map',
      a201010102: 'a key twice',
      a1810101: 'a list as a key',
      '1bffffffffffffffff': 'a huge number',
      '9bffffffffffffffff': 'a huge list',
    };
    for (const [text, what] of Object.entries(refused)) assert.throws(() => hex(text), Error, what);
    assert.throws(() => hex(`${'81'.repeat(20)}00`), /nested too deeply/);
  });

  it('Authenticator data that contradicts itself or is cut off is refused', () => {
    const data = (flags: number, rest = '') =>
      Buffer.concat([Buffer.alloc(32), Buffer.from([flags, 0, 0, 0, 7]), Buffer.from(rest, 'hex')]);
    assert.equal(readAuthenticatorData(data(5)).counter, 7);
    assert.equal(readAuthenticatorData(data(0x1d)).isSynced, true);
    assert.equal(readAuthenticatorData(data(0x85, 'a0')).isVerified, true);
    for (const [what, bytes] of Object.entries({
      short: Buffer.alloc(36),
      'synced but not able to be': data(0x15),
      'more than it says': data(5, '00'),
      'extensions that are missing': data(0x85),
      'a credential that is missing': data(0x45),
      'a credential without an ID': data(0x45, `${'00'.repeat(18)}a0`),
      'a credential with half an ID': data(0x45, `${'00'.repeat(16)}0020aabb`),
      'a key of another kind': data(0x45, `${'00'.repeat(16)}0001aaa20102032f`),
      'no key': data(0x45, `${'00'.repeat(16)}0001aa01`),
    })) {
      assert.throws(() => readAuthenticatorData(bytes), Error, what);
    }
  });

  it('A challenge is for its purpose, its subject and its browser, for five minutes', () => {
    const challenges = createChallenges(Buffer.alloc(32, 1));
    const others = createChallenges(Buffer.alloc(32, 2));
    const now = new Date('2026-01-15T09:30:00Z');
    const bearer = { purpose: 'register', subject: '7' } as const;
    const { text, browser, expiresAt } = challenges.make(bearer, now);
    const later = (ms: number) => new Date(now.getTime() + ms);
    assert.deepEqual(challenges.check(text, bearer, browser, later(299_999))?.expiresAt, expiresAt);
    assert.notEqual(challenges.make(bearer, now).text, text);
    const refused: readonly (readonly [string, ReturnType<typeof challenges.check>])[] = [
      ['too late', challenges.check(text, bearer, browser, later(300_000))],
      ['another purpose', challenges.check(text, { ...bearer, purpose: 'sign in' }, browser, now)],
      ['another subject', challenges.check(text, { ...bearer, subject: '8' }, browser, now)],
      ['another browser', challenges.check(text, bearer, `${browser}x`, now)],
      ['no browser', challenges.check(text, bearer, undefined, now)],
      ['another server', others.check(text, bearer, browser, now)],
      ['a cut one', challenges.check(text.slice(0, -2), bearer, browser, now)],
      ['nothing', challenges.check('', bearer, browser, now)],
    ];
    for (const [what, proof] of refused) assert.equal(proof, undefined, what);
  });
});
