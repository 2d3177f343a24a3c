import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTokenIssuer, type TokenDraft, type TokenIssuerStore } from '../../src/identity/tokens/token-issuer.ts';
import { hashSecret, isTokenText } from '../../src/identity/tokens/token-text.ts';

const KEY = Buffer.alloc(32, 1);
const WANTED = { accountId: 1n, name: 'laptop', scopes: ['read:user'] };
const REST = { canRotate: false, isDelegated: false, limits: undefined, supersedes: null, supersededBy: null };
const DETAILS = { id: 7n, name: 'laptop', lastEight: '', scopes: [], createdAt: new Date(0), ...REST };

function create(answer: Awaited<ReturnType<TokenIssuerStore['create']>>, isThere = true) {
  const drafts: TokenDraft[] = [];
  const store: TokenIssuerStore = {
    create: async (draft) => {
      drafts.push(draft);
      return answer;
    },
    remove: async () => isThere,
    rotate: async () => (isThere && typeof answer === 'object' ? answer : undefined),
  };
  return { issuer: createTokenIssuer(store, KEY), drafts };
}

describe('Issuing tokens', () => {
  const made = { ...DETAILS, lastUsedAt: null, expiresAt: null };

  it('Only the hash and the end of a new token are stored', async () => {
    const { issuer, drafts } = create(made);
    const { text, id } = await issuer.issue(WANTED);
    assert.equal(id, 7n);
    assert.ok(isTokenText(text));
    assert.deepEqual(drafts, [
      {
        ...WANTED,
        robotId: null,
        hash: hashSecret(KEY, text),
        lastEight: text.slice(-8),
        expiresAt: null,
        canRotate: false,
        origin: undefined,
        isBeyondLimit: false,
        limits: undefined,
        actor: undefined,
      },
    ]);
    const rest = { robotId: 3n, expiresAt: new Date(5), actor: { id: 1n, name: 'ann', requestId: 'test' } };
    await issuer.issue({ ...WANTED, ...rest });
    const { robotId, expiresAt, actor } = drafts[1] ?? {};
    assert.deepEqual({ robotId, expiresAt, actor }, rest);
  });

  it('A scope that nobody knows is rejected before anything is stored', async () => {
    const { issuer, drafts } = create(made);
    const message = 'unknown token scope: sudo';
    await assert.rejects(issuer.issue({ ...WANTED, scopes: ['sudo'] }), { kind: 'invalid', message });
    await assert.rejects(issuer.issue({ ...WANTED, scopes: ['all', 'sudo', 'fly'] }), /sudo, fly$/);
    assert.deepEqual(drafts, []);
  });

  it('A name that is taken, a robot that is gone and a token that does not exist are told apart', async () => {
    await assert.rejects(create('name taken').issuer.issue(WANTED), { kind: 'malformed' });
    await assert.rejects(create('robot gone').issuer.issue(WANTED), { kind: 'notFound', message: /robot_ac/ });
    await create(made).issuer.revoke(7n);
    await assert.rejects(create(made, false).issuer.revoke(7n), { kind: 'notFound', message: /token/ });
  });
});
