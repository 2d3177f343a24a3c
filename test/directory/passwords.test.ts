import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import { hashPassword, verifyAbsentPassword, verifyPassword } from '../../src/directory/passwords.ts';
import type { AppError } from '../../src/errors.ts';

describe('Passwords', () => {
  it('A password is stored as an Argon2id hash with its cost and its own salt', async () => {
    const [one, two] = [await hashPassword('secret'), await hashPassword('secret')];
    assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    assert.notEqual(one, two);
    for (const stored of [one, two]) assert.equal(await verifyPassword('secret', stored), true);
  });

  it('Only the identical password is accepted, whatever characters it contains', async () => {
    for (const right of ['', ' ', 'pässwörd 🦊', 'nul\0nul', 'a'.repeat(10_000)]) {
      const stored = await hashPassword(right);
      assert.equal(await verifyPassword(right, stored), true);
      assert.equal(await verifyPassword(`${right}.`, stored), false);
    }
  });

  it('A password is verified with the cost given in its stored hash', async () => {
    const cheap = (await hashPassword('x')).replace('m=19456,t=2', 'm=8,t=1');
    assert.equal(await verifyPassword('x', cheap), false);
  });

  it('No password is accepted when the stored value is not a valid hash', async () => {
    for (const stored of ['', 'secret', '$2y$10$abc', '$argon2id$v=19$m=1,t=1$x$y']) {
      assert.equal(await verifyPassword('secret', stored), false);
    }
  });

  it('Password verification for an unknown user takes as long as for a known one', async () => {
    const stored = await hashPassword('secret');
    await verifyAbsentPassword('warm');
    const median = async (work: () => Promise<unknown>) => {
      const times: number[] = [];
      for (let time = 0; time < 5; time++) {
        const start = performance.now();
        await work();
        times.push(performance.now() - start);
      }
      return times.sort((a, b) => a - b)[2] ?? 0;
    };
    const somebody = await median(() => verifyPassword('wrong', stored));
    const nobody = await median(() => verifyAbsentPassword('wrong'));
    assert.ok(nobody > somebody / 2 && nobody < somebody * 2, `${nobody} ms against ${somebody} ms`);
  });

  it('Passwords are hashed off the event loop', async () => {
    await hashPassword('warm');
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const start = performance.now();
    await Promise.all(Array.from({ length: 10 }, () => hashPassword('secret')));
    const took = performance.now() - start;
    delay.disable();
    // On the loop one hash alone would block it for longer than most of these delays, and all of them for `took`.
    assert.ok(delay.percentile(50) / 1e6 < 30, `half of the delays are over ${delay.percentile(50) / 1e6} ms`);
    assert.ok(delay.max / 1e6 < took / 2, `the longest delay is ${delay.max / 1e6} ms of ${took} ms`);
  });

  it('Password verifications are queued, and rejected when too many are waiting', async () => {
    const cheap = (await hashPassword('x')).replace('m=19456,t=2', 'm=8,t=1');
    const all = await Promise.allSettled(Array.from({ length: 400 }, () => verifyPassword('x', cheap)));
    const refused = all.flatMap((one) => (one.status === 'rejected' ? [one.reason as AppError] : []));
    assert.ok(refused.length > 0 && refused.length < 300, `${refused.length} refused`);
    assert.equal(refused[0]?.kind, 'limited');
    assert.equal(await verifyPassword('x', await hashPassword('x')), true);
  });
});
