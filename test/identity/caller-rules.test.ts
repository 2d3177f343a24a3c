import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type Callers, createCallers, rejectUnusable, type TokenGrant } from '../../src/identity/callers.ts';
import { hashPassword } from '../../src/identity/passwords/passwords.ts';
import { toPerson } from '../../src/identity/person.rows.ts';
import { hashSecret, mintToken } from '../../src/identity/tokens/token-text.ts';
import {
  CALLER_KEY,
  createMemoryCallers,
  personRow,
  STILL,
  sessionGrant,
  tokenGrant,
} from '../support/world/caller-store.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const WRONG = { kind: 'unauthenticated', message: 'invalid username, password or token' };
const PASSWORD = 'correct horse';
const ANN = toPerson(personRow({ name: 'Ann', email: 'ann@example.com', password_hash: await hashPassword(PASSWORD) }));
const BOB = toPerson(personRow({ id: 3n, name: 'bob' }));
const TOKEN = mintToken();
const EXPIRING = mintToken();
const KNOWN = {
  people: [ANN, BOB],
  tokens: new Map([
    [TOKEN, tokenGrant(ANN)],
    [EXPIRING, tokenGrant(ANN, { tokenId: 2n, expiresAt: NOW })],
  ]),
  sessions: new Map([['cookie', sessionGrant(ANN, { sessionId: 1n, csrf: 'x', createdAt: NOW, expiresAt: NOW })]]),
  organizations: [{ id: 2n, name: 'acme' }],
};

describe('Who a credential belongs to', () => {
  let asked: string[];
  let callers: Callers;
  beforeEach(() => {
    const memory = createMemoryCallers(KNOWN);
    asked = memory.asked;
    callers = createCallers(memory.store, STILL, CALLER_KEY);
  });

  it('A token is looked up once, and only the lookup is guarded', async () => {
    let guarded = 0;
    const guard = (look: () => Promise<TokenGrant>) => {
      guarded += 1;
      return look();
    };
    for (let time = 0; time < 3; time++) assert.equal((await callers.byToken(TOKEN, NOW, guard)).tokenId, 1n);
    assert.deepEqual([guarded, asked], [1, ['token']]);
    assert.equal((await callers.byToken(EXPIRING, new Date(NOW.getTime() - 1))).tokenId, 2n);
  });

  it('A text that cannot be a token is rejected without a lookup, and an unknown one after it', async () => {
    await assert.rejects(callers.byToken('nonsense', NOW), WRONG);
    assert.equal(callers.tokenName('nonsense'), undefined);
    assert.deepEqual(asked, []);
    await assert.rejects(callers.byToken(mintToken(), NOW), WRONG);
    assert.deepEqual(asked, ['token']);
  });

  it('A token and a session end at the moment at which they expire', async () => {
    await assert.rejects(callers.byToken(EXPIRING, NOW), WRONG);
    const before = new Date(NOW.getTime() - 1);
    assert.equal((await callers.bySession('cookie', before)).sessionId, 1n);
    await assert.rejects(callers.bySession('cookie', NOW), WRONG);
    await assert.rejects(callers.bySession('other', before), WRONG);
  });

  it('The name of a token is its keyed hash, which is the same each time', () => {
    const name = hashSecret(CALLER_KEY, TOKEN).toString('base64');
    assert.deepEqual([callers.tokenName(TOKEN), callers.tokenName(TOKEN)], [name, name]);
    assert.equal(callers.rememberedToken(name), undefined);
  });

  it('A person is named by their login in any case, and not by their email address', async () => {
    assert.equal((await callers.personNamed('ANN'))?.id, 1n);
    assert.equal(await callers.personNamed('ann@example.com'), undefined);
    assert.equal(await callers.personNamed('eve'), undefined);
    asked.length = 0;
    for (const odd of ['', 'é', 'x'.repeat(255)]) assert.equal(await callers.personNamed(odd), undefined);
    assert.deepEqual(asked, []);
  });

  it('An organization is named in any case, and names that cannot be one are not looked up', async () => {
    assert.equal(callers.rememberedOrganization('acme'), undefined);
    assert.equal((await callers.organizationNamed('ACME'))?.id, 2n);
    assert.equal(callers.rememberedOrganization('acme')?.id, 2n);
    assert.equal(callers.rememberedOrganization('Acme')?.id, 2n);
    asked.length = 0;
    // The Kelvin sign becomes the letter k in lower case.
    for (const odd of ['', '\u212a', 'x'.repeat(255)]) {
      assert.equal(await callers.organizationNamed(odd), undefined);
      assert.equal(callers.rememberedOrganization(odd), undefined);
    }
    assert.deepEqual(asked, []);
  });

  it('Every credential waits for the current revision before it is looked up', async () => {
    const memory = createMemoryCallers(KNOWN);
    const current = async () => void memory.asked.push('revision');
    const waiting = createCallers(memory.store, { ...STILL, current }, CALLER_KEY);
    await waiting.byToken(TOKEN, NOW);
    await waiting.byToken(TOKEN, NOW);
    await waiting.bySession('cookie', new Date(0));
    await waiting.byPassword('ann', PASSWORD);
    const order = ['revision', 'token', 'revision', 'revision', 'session', 'revision', 'ann'];
    assert.deepEqual(memory.asked, order);
  });

  it('The right password opens the account, by name in any case or by email address', async () => {
    for (const login of ['ANN', ' ann ', 'ann@example.com']) {
      assert.equal((await callers.byPassword(login, PASSWORD)).id, 1n);
    }
    await assert.rejects(callers.byPassword('ann', 'secret'), WRONG);
  });

  it('An unknown login and an account without a password look like a wrong password', async () => {
    for (const login of ['bob', 'nobody', 'é']) await assert.rejects(callers.byPassword(login, 'secret'), WRONG);
    assert.deepEqual(asked, ['bob', 'nobody']);
  });

  it('An account that is not active or must not sign in is rejected, each with its own words', () => {
    rejectUnusable(ANN);
    const inactive = { kind: 'forbidden', message: /not activated/ };
    assert.throws(() => rejectUnusable({ active: false, prohibitLogin: false }), inactive);
    const prohibited = { kind: 'forbidden', message: /prohibited from signing in/ };
    assert.throws(() => rejectUnusable({ active: true, prohibitLogin: true }), prohibited);
  });
});

describe('What a person may do in their organizations', () => {
  it('The highest permission among the teams of an organization counts, in any order', () => {
    const ids = [1n, 2n, 1n, 2n, 3n, 1n];
    const permissions = ['read', 'owner', 'write', 'none', 'none', 'read'] as const;
    const { organizations } = toPerson(personRow({ organization_ids: ids, permissions: [...permissions] }));
    assert.deepEqual(
      [...organizations],
      [
        [1n, 'write'],
        [2n, 'owner'],
        [3n, 'none'],
      ],
    );
    const nobody = toPerson(personRow());
    assert.deepEqual([nobody.organizations.size, nobody.email], [0, '']);
    assert.equal(ANN.email, 'ann@example.com');
  });
});
