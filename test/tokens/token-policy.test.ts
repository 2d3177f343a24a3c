import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  brokenRules,
  createTokenPolicies,
  latestEnd,
  NO_POLICY,
  requireExpiry,
  type TokenPolicy,
} from '../../src/tokens/token-policy.ts';

const NOW = new Date('2026-11-17T12:00:00Z');
const inDays = (days: number, minutes = 0) => new Date(NOW.getTime() + days * 86_400_000 + minutes * 60_000);
const NONE = { maxDays: null, expiryRequired: false, whose: 'the deployment' };
const NINETY = { ...NONE, maxDays: 90 };
const EXPIRING = { ...NONE, expiryRequired: true };

it('A token must end within the days of the policy, by a clock that may be a few minutes wrong', () => {
  for (const end of [inDays(1), inDays(90), inDays(90, 4)]) requireExpiry(NINETY, end, NOW);
  assert.throws(() => requireExpiry(NINETY, inDays(90, 6), NOW), /requires tokens to expire within 90 days; choose an/);
  for (const rules of [NINETY, EXPIRING]) {
    assert.throws(() => requireExpiry(rules, null, NOW), /^AppError: expires_at is required: the token policy/);
  }
  requireExpiry(EXPIRING, inDays(9_999), NOW);
  requireExpiry(NONE, null, NOW);
});

it('The latest end is that of the policy, or the given one if that is earlier', () => {
  assert.deepEqual(latestEnd(NONE, null, NOW), null);
  assert.deepEqual(latestEnd(NONE, inDays(400), NOW), inDays(400));
  assert.deepEqual(latestEnd(NINETY, null, NOW), inDays(90));
  assert.deepEqual(latestEnd(NINETY, inDays(91), NOW), inDays(90));
  assert.deepEqual(latestEnd(NINETY, inDays(89), NOW), inDays(89));
});

it('An older token breaks the rules that it could not be created under, unless another has replaced it', () => {
  const token = (expiresAt: Date | null, supersededBy: bigint | null = null) => ({
    ...{ createdAt: NOW, expiresAt, supersededBy },
  });
  const both = { ...NINETY, expiryRequired: true };
  assert.deepEqual(brokenRules(both, token(null)), ['max_days', 'expiry_required']);
  assert.deepEqual(brokenRules(both, token(inDays(90, 4))), []);
  assert.deepEqual(brokenRules(both, token(inDays(90, 6))), ['max_days']);
  assert.deepEqual(brokenRules(NONE, token(null)), []);
  assert.deepEqual(brokenRules(both, token(null, 7n)), []);
});

it('For robots, the stricter rule of the deployment and the organization holds, and messages say whose it is', async () => {
  const rulesOf = async (deployment: Partial<TokenPolicy>, own: Partial<TokenPolicy>) => {
    const get = async (id: bigint | undefined) => ({ ...NO_POLICY, ...(id === undefined ? deployment : own) });
    const { maxDays, expiryRequired, whose } = await createTokenPolicies({
      get,
      set: async () => undefined,
    }).rulesForRobots(1n);
    return [maxDays, expiryRequired, whose];
  };
  assert.deepEqual(await rulesOf({ maxDays: 90 }, { maxDays: 30 }), [30, false, 'the organization']);
  assert.deepEqual(await rulesOf({ maxDays: 30 }, { maxDays: 90 }), [30, false, 'the deployment']);
  assert.deepEqual(await rulesOf({}, { maxDays: 90 }), [90, false, 'the organization']);
  assert.deepEqual(await rulesOf({}, { expiryRequired: true }), [null, true, 'the organization']);
  assert.deepEqual(await rulesOf({ maxDays: 30 }, { expiryRequired: true }), [30, true, 'the deployment']);
  assert.deepEqual(await rulesOf({ expiryRequired: true }, {}), [null, true, 'the deployment']);
});
