import assert from 'node:assert/strict';
import { it } from 'node:test';

it('Password verification for an unknown user works after its first attempt is rejected under load', async () => {
  // In a fresh module, because this is about the first unknown user since the start.
  const fresh = new URL('../../src/identity/passwords/passwords.ts?first', import.meta.url).href;
  const passwords: typeof import('../../src/identity/passwords/passwords.ts') = await import(fresh);
  const { hashPassword, verifyAbsentPassword, verifyPassword } = passwords;
  const cheap = (await hashPassword('x')).replace('m=19456,t=2', 'm=8,t=1');
  const crowd = Array.from({ length: 400 }, () => verifyPassword('x', cheap));
  await assert.rejects(verifyAbsentPassword('x'), { kind: 'limited' });
  await Promise.allSettled(crowd);
  assert.equal(await verifyAbsentPassword('x'), false);
});
