import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { IS_LONG } from '../../counts.ts';
import { writtenDatabaseFiles, writtenFiles } from '../../support/checks/written-files.ts';
import { ANY_DRIVER } from '../../support/server/db.ts';
import type { Answer } from '../../support/server/server.ts';
import { applicationId, binding, openMarketplace } from '../../support/world/marketplace.ts';

const PASSWORD = 'Canary-Pa55word-of-the-administrator';
const CONFIGURED = 'canary-secret-of-the-settings';
const GUESS = 'canary-guess-of-a-stranger';
const CHOSEN = 'canary-key-among-the-options';

describe('Marketplace passwords and secrets', () => {
  it('Administrator passwords and marketplace secrets appear in no log line, answer, table or file', async () => {
    const began = Date.now();
    // Only the files of the built-in database belong to the server.
    const driver = IS_LONG ? 'pglite' : ANY_DRIVER;
    const env = { CLOUD_B_SECRETS: CONFIGURED, CLOUD_C_SECRETS: CONFIGURED };
    const market = await openMarketplace({ driver, env });
    const { cloudB, cloudC } = market.demo.secrets;
    const answers: Answer[] = [];
    const send = async (...args: Parameters<typeof market.notify>) => answers.push(await market.notify(...args));
    const admin = { adminUsername: 'canary', adminPassword: PASSWORD };

    const options = { dns: { zone: CHOSEN }, list: [CHOSEN] };
    const good = await market.installer('A');
    await send('A', binding(good, { ...admin, options }));
    await send('A', binding(good, { ...admin, options }));
    await send('A', binding(good, { ...admin, options, clusterId: 'other' }));
    await send('A', binding(good, { ...admin, options, clusterId: 'no good' }));
    await send('A', { bindingInfo: JSON.stringify({ ...admin, options }) });
    await send('A', { bindingInfo: [JSON.stringify(admin), { note: PASSWORD }], eventType: `{"a":"${PASSWORD}"}` });
    await send('A', JSON.stringify(JSON.stringify(binding(good, admin))));
    await send(
      'A',
      binding(await market.installer('A'), { ADMINPASSWORD: PASSWORD, options: { adminPassword: PASSWORD } }),
    );
    await send('A', binding('unknown', { ...admin, adminpassword: PASSWORD }));
    await send('A', binding('unknown', { ...admin, marketplace: 'CloudB' }));
    await send('A', binding('unknown', { adminPassword: [PASSWORD] }));
    await send('A', { ...binding('unknown'), adminPassword: PASSWORD, password: PASSWORD });
    await send('A', `{"bindingInfo":{"adminPassword":"${PASSWORD}"`);
    await send('A', binding('unknown', { clusterId: '', options: { nested: { admin_password: PASSWORD } } }));
    const bind = (secret: string) =>
      send(
        'B',
        { eventType: 'BIND', applicationId: applicationId(), bindingInfo: { installerId: 'x', ...admin } },
        `?secret=${secret}`,
      );
    for (const secret of [cloudB, CONFIGURED, GUESS]) await bind(secret);
    await send('C', binding(await market.installer('C'), { ...admin, marketplace: 'CloudC' }), `?secret=${cloudC}`);
    await send('C', binding('x', admin), `?secret=${GUESS}&secret=${cloudC}`);
    await send('C', '{', `?%73ecret=${GUESS}`);

    await market.rows(
      `create function broken() returns trigger language plpgsql as 'begin raise exception ''row: %'', new; end'`,
    );
    await market.rows('create trigger broken before insert on contract for each row execute function broken()');
    const failing = await market.installer('A');
    await send('A', binding(failing, { ...admin, options, adminUsername: 'canary-two' }));
    assert.equal(answers.at(-1)?.status, 500);
    const link = String(answers[0]?.body.link);
    const archive = gunzipSync(await (await fetch(link)).bytes()).toString();
    assert.ok(archive.includes(CHOSEN), 'what was chosen is in the archive, and nowhere else');
    await market.instance.features.marketplace.deliveryLog.flush();

    const canaries = [PASSWORD, CONFIGURED, GUESS, CHOSEN, cloudB, cloudC];
    const tables = await market.rows<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    for (const { name } of tables) {
      const rows = await market.rows<{ text: string }>(`select t::text as text from "${name}" t`);
      absent(`table ${name}`, rows.map(({ text }) => text).join('\n'), canaries);
    }
    absent('the log', market.logged(), [...canaries, link.slice(link.indexOf('sig='))]);
    absent('the answers', answers.map(({ text }) => text).join('\n'), canaries);
    absent('the archive', archive.replaceAll(CHOSEN, ''), canaries);
    await market.close();
    const files = driver === 'pglite' ? writtenDatabaseFiles : writtenFiles;
    for (const file of files(market.dataDir, began)) absent(file, readFileSync(file, 'latin1'), canaries);
  });
});

function absent(where: string, text: string, canaries: readonly string[]): void {
  for (const canary of canaries) assert.ok(!text.includes(canary), `${where} holds ${canary}`);
}
