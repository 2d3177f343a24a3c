import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { DRIVERS, newPlace } from '../support/db.ts';
import { startServer } from '../support/process.ts';

/** Reads for as long as it is told to, and counts what came back. */
async function readOn(url: string, headers: Record<string, string>, expected: string, isOver: () => boolean) {
  let reads = 0;
  while (!isOver()) {
    const answer = await fetch(`${url}/api/v1/user/credentials/ann-aws`, { headers });
    assert.equal(answer.status, 200);
    assert.equal(await answer.text(), expected);
    reads++;
  }
  return reads;
}

for (const driver of DRIVERS) {
  describe(`atrium rotate-keys next to a running server on ${driver}`, () => {
    it(`atrium rotate-keys renews all keys without a failed read or write on ${driver}`, async () => {
      const { dataDir, databaseUrl = '' } = await newPlace(driver);
      const env = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ATRIUM_KEY: randomBytes(32).toString('base64') };
      const server = startServer({ args: ['demo'], env });
      const url = await server.listening();
      const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
      const headers = { Authorization: `token ${demo.users.ann.token}` };
      const expected = await (await fetch(`${url}/api/v1/user/credentials/ann-aws`, { headers })).text();
      let over = false;
      const reading = Promise.all([1, 2].map(() => readOn(url, headers, expected, () => over)));
      const writing = (async () => {
        for (let count = 0; !over; count++) {
          const body = JSON.stringify({ name: `w${count}`, count });
          const json = { ...headers, 'Content-Type': 'application/json' };
          const made = await fetch(`${url}/api/v1/user/credentials`, { method: 'POST', headers: json, body });
          assert.equal(made.status, 201);
          const got = await fetch(`${url}/api/v1/user/credentials/w${count}`, { headers });
          assert.equal(((await got.json()) as { count: number }).count, count);
        }
      })();
      for (let round = 1; round <= 3; round++) {
        const command = startServer({ main: 'src/cli.ts', args: ['rotate-keys'], env });
        const { code } = await command.ended;
        assert.equal(code, 0, command.stderr());
        assert.match(command.stdout(), /^1 new data keys, \d+ secrets sealed anew, in [\d.]+ s$/m);
      }
      over = true;
      assert.ok((await reading).every((reads) => reads > 3));
      await writing;
      assert.doesNotMatch(server.stderr(), /"level":"error"/);
      server.kill('SIGTERM');
      assert.equal((await server.ended).code, 0);
    });
  });
}

describe('atrium', () => {
  it('atrium prints its help and exits with 2 for an unknown command or option', async () => {
    const help = startServer({ main: 'src/cli.ts' });
    assert.equal((await help.ended).code, 0);
    assert.match(help.stdout(), /rotate-keys/);
    const { dataDir, databaseUrl = '' } = await newPlace('postgres');
    const env = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl };
    for (const args of [['nonsense'], ['rotate-keys', '--nonsense']]) {
      const wrong = startServer({ main: 'src/cli.ts', args, env });
      assert.equal((await wrong.ended).code, 2);
      assert.match(wrong.stderr(), /nonsense/);
    }
  });
});
