import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setImmediate as oneTurn } from 'node:timers/promises';
import type { AppError } from '../../src/base/errors.ts';

// In a fresh module, because other tests of this process may hash at a lower cost.
const fresh = new URL('../../src/identity/passwords/passwords.ts?real', import.meta.url).href;
const passwords: typeof import('../../src/identity/passwords/passwords.ts') = await import(fresh);
const { hashPassword, verifyAbsentPassword, verifyPassword } = passwords;

describe('Passwords', () => {
  it('A password is stored as an Argon2id hash with its cost and its own salt', async () => {
    const [one, two] = [await hashPassword('secret'), await hashPassword('secret')];
    assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    assert.notEqual(one, two);
    for (const stored of [one, two]) assert.equal(await verifyPassword('secret', stored), true);
  });

  it('Nothing in the product lowers the cost of new passwords', () => {
    const callers = globSync('{src,bin,cli,scripts}/**/*.{ts,mjs}').filter((path) =>
      readFileSync(path, 'utf8').includes('setPasswordCost'),
    );
    assert.deepEqual(callers, ['src/identity/passwords/passwords.ts']);
  });

  it('Only the identical password is accepted, whatever characters it contains', async () => {
    for (const right of ['', ' ', 'pässwörd 🦊 nul\0nul', 'a'.repeat(10_000)]) {
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

  it('Password verification costs as much processor time for an unknown user as for a known one', async () => {
    const stored = await hashPassword('secret');
    await verifyAbsentPassword('warm');
    // The minimum of several runs, because other work in this process counts too.
    const costOf = async (work: () => Promise<unknown>) => {
      const costs: number[] = [];
      for (let time = 0; time < 3; time++) {
        const start = process.cpuUsage();
        await work();
        const { user, system } = process.cpuUsage(start);
        costs.push((user + system) / 1000);
      }
      return Math.min(...costs);
    };
    const somebody = await costOf(() => verifyPassword('wrong', stored));
    const nobody = await costOf(() => verifyAbsentPassword('wrong'));
    assert.ok(nobody > somebody / 4 && nobody < somebody * 4, `${nobody} ms against ${somebody} ms`);
  });

  it('The event loop keeps turning while passwords are hashed', async () => {
    let turns = 0;
    let isOver = false;
    const hashes = Promise.all(Array.from({ length: 4 }, () => hashPassword('secret'))).finally(() => {
      isOver = true;
    });
    for (; !isOver; turns++) await oneTurn();
    await hashes;
    // On the event loop there would be at most one turn per hash.
    assert.ok(turns > 20, `${turns} turns`);
  });

  it('Password verifications are queued, and rejected when too many are waiting', async () => {
    const cheap = (await hashPassword('x')).replace('m=19456,t=2', 'm=8,t=1');
    const all = await Promise.allSettled(Array.from({ length: 400 }, () => verifyPassword('x', cheap)));
    const refused = all.flatMap((one) => (one.status === 'rejected' ? [one.reason as AppError] : []));
    assert.ok(refused.length > 0 && refused.length < 300, `${refused.length} refused`);
    assert.equal(refused[0]?.kind, 'limited');
    assert.equal(await verifyPassword('x', await hashPassword('x')), true);
  });

  it('One network cannot keep others from having their passwords verified', async () => {
    const cheap = (await hashPassword('x')).replace('m=19456,t=2', 'm=8,t=1');
    const done: string[] = [];
    const verify = (address: string) =>
      verifyPassword('x', cheap, address).then(
        () => void done.push(address),
        (error: AppError) => error.kind,
      );
    const flood = Array.from({ length: 400 }, (_, at) => verify(`2001:db8::${at.toString(16)}`));
    const site = Array.from({ length: 400 }, (_, at) => verify(`2001:db8:0:${at.toString(16)}::1`));
    const other = await verify('192.0.2.1');
    assert.equal(other, undefined, 'it was verified');
    // Sites take turns: only what was running already, and one more of the site, came first.
    assert.ok(done.length <= 10, `${done.length} came first`);
    const outcomes = [await Promise.all(flood), await Promise.all(site)];
    for (const all of outcomes) assert.ok(all.includes('limited'));
  });
});
