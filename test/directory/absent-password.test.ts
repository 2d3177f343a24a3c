import assert from 'node:assert/strict';
import { it } from 'node:test';
import { hashPassword, verifyAbsentPassword, verifyPassword } from '../../src/directory/passwords.ts';

// In a file of its own, because it is about the first name of a process that does not exist.
it('Password verification for an unknown user works after its first attempt is rejected under load', async () => {
  const cheap = (await hashPassword('x')).replace('m=19456,t=2', 'm=8,t=1');
  const crowd = Array.from({ length: 400 }, () => verifyPassword('x', cheap));
  await assert.rejects(verifyAbsentPassword('x'), { kind: 'limited' });
  await Promise.allSettled(crowd);
  assert.equal(await verifyAbsentPassword('x'), false);
});
