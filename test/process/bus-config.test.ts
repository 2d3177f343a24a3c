import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { atrium } from '../support/server/atrium.ts';
import { reopen } from '../support/server/reopen.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';
import { newNats } from '../support/services/nats.ts';
import { lacks } from '../support/services/requirements.ts';

const SEED = /\bS[AOUNC][A-Z2-7]{56}\b/;

describeLong('atrium bus config', { skip: lacks('nats-server') }, () => {
  it('atrium bus config prints a stable configuration that a NATS server starts with', async () => {
    const nats = await newNats();
    const { place } = await newDemoPlace();
    const settings = { ...nats.env, ATRIUM_KEY: TEST_KEY };
    const env = { ...settings, DATA_DIR: place.dataDir, DATABASE_URL: place.databaseUrl ?? '' };
    const { code, out, err } = await atrium(env, 'bus', 'config', '--dir', nats.folder);
    assert.equal(code, 0, err);
    assert.doesNotMatch(out + err, SEED);
    assert.match(out, new RegExp(`store_dir: "${nats.folder}/jetstream"`));
    await nats.start(out);
    await nats.kill();
    const instance = await reopen(place, settings);
    assert.equal((await instance.features.bus.serverConfig(nats.folder)).trimEnd(), out.trimEnd());
    await instance.close(0);
  });
});
