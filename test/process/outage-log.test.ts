import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/base/config/config.ts';
import { createLog } from '../../src/base/log.ts';
import { openInstance } from '../../src/instance.ts';
import { until } from '../support/checks/until.ts';
import { openWire } from '../support/faults/wire.ts';
import { get } from '../support/server/process.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly requests?: number;
  readonly seconds?: number;
}

describe('The log of an outage', () => {
  for (const fault of ['cut', 'freeze'] as const) {
    it(`One line says that the database is gone, and one that it is back, with what failed (${fault})`, {
      skip: lacks('postgresql'),
    }, async (test) => {
      const { place, world } = await newDemoPlace('postgres');
      const wire = await openWire(new URL(place.databaseUrl ?? ''));
      const lines: Line[] = [];
      const env = { DATA_DIR: place.dataDir, DATABASE_URL: wire.url, ATRIUM_KEY: TEST_KEY, PORT: '0', ADMIN_PORT: '0' };
      const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line) as Line) });
      const atrium = await openInstance(readConfig(env), { log, say: () => undefined });
      test.after(async () => {
        wire.thaw();
        await atrium.close(0);
        await wire.cut();
      });
      const address = await atrium.listen();
      const ask = async () => (await get(`${address}/api/v1/user`, world.users.ann?.token)).status;
      const about = (words: RegExp) => lines.filter(({ msg }) => words.test(msg));
      assert.equal(await ask(), 200);
      await wire[fault]();
      const failed = await Promise.all(Array.from({ length: 20 }, ask));
      assert.deepEqual(new Set(failed), new Set([503]));
      assert.equal(await ask(), 503);
      assert.deepEqual(
        lines.filter(({ level }) => level === 'error').map(({ msg }) => msg),
        ['the database cannot be used; failures are counted until it answers again'],
      );
      if (fault === 'cut') await wire.mend();
      else wire.thaw();
      await until(() => about(/^the database answers again$/).length === 1);
      const [back] = about(/^the database answers again$/);
      assert.deepEqual([back?.level, back?.requests], ['warn', 21]);
      assert.ok((back?.seconds ?? 0) > 0);
      assert.equal(await ask(), 200);
      assert.deepEqual(about(/^request$/), [], 'neither has a request a line of its own');
    });
  }
});
