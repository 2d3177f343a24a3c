import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Cli, cliAs } from '../support/server/cli.ts';
import { openTestServer } from '../support/server/server.ts';
import { applicationId, binding, openMarketplace, type TestMarketplace } from '../support/world/marketplace.ts';

describe('atrium marketplace', () => {
  let market: TestMarketplace;
  let root: Cli;
  const file = (name: string, value: unknown) => {
    const path = join(root.home, name);
    writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
    return path;
  };
  before(async () => {
    market = await openMarketplace();
    root = cliAs(market, 'root');
  });
  after(() => market.close());

  it('atrium marketplace sends payloads, lists and shows deliveries, and never prints the secret', async () => {
    const installer = await market.installer('B');
    const payload = { applicationId: applicationId('shop'), eventType: 'PUT', provisioningState: 'Succeeded' };
    const secret = file('secret.txt', `${market.demo.secrets.cloudB}\n`);
    const sent = await root(
      `marketplace send cloudB ${file('put.json', payload)} ${file('bind.json', { ...binding('x'), applicationId: payload.applicationId, eventType: 'BIND' })} --secret-file ${secret} --installer ${installer}`,
    );
    assert.match(sent.stdout, /^200 {2}\d+ ms .*put\.json/);
    const refused = await root(`marketplace send cloudB ${join(root.home, 'put.json')}`);
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /^403 /);
    assert.ok(!(sent.stdout + sent.stderr).includes(market.demo.secrets.cloudB));

    const { stdout } = await root('marketplace deliveries --marketplace cloudB --json');
    const [newest] = JSON.parse(stdout);
    assert.match((await root('marketplace deliveries')).stdout, /^ID +LAST +MARKETPLACE +EVENT +STATE/);
    assert.match((await root(`marketplace show ${newest.id}`)).stdout, /^state: +(done|refused)$/m);
    assert.ok(!(await root(`marketplace show ${newest.id} --json`)).stdout.includes(market.demo.secrets.cloudB));
    assert.equal((await root('marketplace redeliver --dead')).stdout, 'nothing to retry\n');
    const known = JSON.parse(stdout).find((one: { subject: string }) => one.subject !== '');
    await market.rows(`update delivery set state = 'dead' where id = $1`, [known.id]);
    assert.equal((await root('marketplace redeliver --dead --until 2020-01-01')).stdout, 'nothing to retry\n');
    const retried = (await root('marketplace redeliver --dead')).stdout;
    assert.equal(retried, `${known.id}: ${known.state}, ${known.reason}\n`);
    const { subject } = known;
    const about = await root(`marketplace deliveries --subject "${subject}" --since 1h --json`);
    const subjects = JSON.parse(about.stdout).map((one: { subject: string }) => one.subject);
    assert.deepEqual([...new Set(subjects)], [subject]);
    assert.equal((await root('marketplace deliveries --until 2020-01-01')).stdout, 'none\n');
  });

  it('atrium marketplace lists installers, subscriptions, secrets, strangers and events, and counts them', async () => {
    const unbound = await market.installer('C');
    const bound = await market.installer('B');
    const applied = { applicationId: applicationId('lists'), eventType: 'PUT', provisioningState: 'Succeeded' };
    assert.equal((await market.notify('B', applied)).status, 200);
    const bind = { eventType: 'BIND', applicationId: applied.applicationId, bindingInfo: { installerId: bound } };
    assert.equal((await market.notify('B', bind)).status, 200);
    const rows = async (line: string) => JSON.parse((await root(`marketplace ${line} --json`)).stdout);

    const ids = async (line: string) => (await rows(line)).map(({ id }: { id: string }) => id);
    assert.deepEqual(await ids(`installers --search ${unbound} --state unbound --marketplace cloudC`), [unbound]);
    assert.deepEqual(await ids(`installers --search ${unbound} --state bound`), []);
    assert.deepEqual(await ids(`installers --search ${bound} --state bound`), [bound]);
    const table = await root(`marketplace installers --search ${bound}`);
    assert.match(table.stdout, /^ID +MARKETPLACE +STATE +TEST +CREATED +EXPIRES +ORGANIZATION +SUBSCRIPTION\n/);
    assert.equal((await rows('installers --limit 1')).length, 1);
    assert.equal((await rows('installers --limit 0')).length, 0);
    const everyone = await market.rows('select id from installer');
    assert.equal((await rows('installers --all')).length, everyone.length);

    const [subscription] = await rows('subscriptions --search lists --state Bound --marketplace cloudB');
    assert.equal(subscription.application_id, applied.applicationId);
    assert.match((await root('marketplace subscriptions')).stdout, /^ID +MARKETPLACE +STATE +UPDATED +APPLICATION\n/);

    const secrets = await root('marketplace secrets');
    assert.match(secrets.stdout, /^FINGERPRINT +MARKETPLACE +SOURCE +ADDED\n[\w-]+ +Cloud/);
    assert.ok(!secrets.stdout.includes(market.demo.secrets.cloudB));
    assert.deepEqual(await rows('strangers --marketplace cloudA'), []);
    const [event] = await rows('events --type installer.bound --limit 1');
    assert.equal(event.type, 'installer.bound');
    assert.match((await root('marketplace events')).stdout, /^ID +CREATED +TYPE +STATE +ATTEMPTS +SENT\n/);
    assert.equal((await root('marketplace events --state dead')).stdout, 'none\n');

    const summary = await root('marketplace summary');
    assert.match(summary.stdout, /^deliveries: +received 0, done \d+, refused \d+, dead 0$/m);
    assert.match(summary.stdout, /^secrets: +CloudB \d+, CloudC \d+$/m);
    assert.equal((await rows('summary')).installers.bound, (await rows('installers --state bound --all')).length);
  });

  it('atrium marketplace creates and shows installers, and issues links to the archives of bound ones', async () => {
    const made = await root('marketplace installer create cloudB --days 30 --json');
    const { id, ...installer } = JSON.parse(made.stdout);
    assert.deepEqual([installer.marketplace, installer.state, installer.is_test], ['CloudB', 'unbound', false]);
    assert.match((await root(`marketplace installer show ${id}`)).stdout, /^state: +unbound$/m);
    const name = await root('marketplace installer create cloudC --test -o name');
    assert.match((await root(`marketplace installer show ${name.stdout.trim()}`)).stdout, /^test: +yes$/m);

    const bound = await market.installer('A');
    const notification = file('bind-a.json', binding(bound));
    assert.equal((await root(`marketplace send cloudA ${notification}`)).code, 0);
    const link = await root(`marketplace installer link ${bound}`);
    assert.match(link.stdout, /^https?:\/\/\S+\/archive\.tar\.gz\S*\n$/);
  });

  it('atrium marketplace adds secrets from a file, a pipe or the server, and retires them', async () => {
    const given = await root(
      `marketplace add-secret cloudB --secret-file ${file('given.txt', 'Canary-of-the-file\n')}`,
    );
    const piped = await root('marketplace add-secret cloudC --secret-stdin', { input: 'Canary-of-the-pipe\n' });
    for (const { code, stdout, stderr } of [given, piped]) {
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^fingerprint: +[0-9a-f]{16}$/m);
      assert.doesNotMatch(stdout + stderr, /Canary/);
    }
    const payload = { applicationId: applicationId('added'), eventType: 'PUT', provisioningState: 'Succeeded' };
    const accepted = await market.notify('B', payload, '?secret=Canary-of-the-file');
    assert.equal(accepted.status, 200, accepted.text);

    const created = JSON.parse((await root('marketplace add-secret cloudB --json')).stdout);
    assert.ok(created.secret.length >= 32);
    const fingerprint = given.stdout.match(/[0-9a-f]{16}/)?.[0] ?? '';
    assert.equal((await root(`marketplace retire-secret ${fingerprint}`)).code, 2, 'it asks first');
    const retired = await root(`marketplace retire-secret ${fingerprint} --yes`);
    assert.equal(retired.stdout, `retired the secret ${fingerprint}\n`);
    assert.equal((await market.notify('B', payload, '?secret=Canary-of-the-file')).status, 403);
  });

  it('atrium marketplace rejects invalid requests with an error message and exit code 1 or 2', async () => {
    const REFUSED: readonly (readonly [line: string, says: RegExp, code: number])[] = [
      ['marketplace redeliver', /use either the IDs of deliveries, or --dead or another filter/, 2],
      ['marketplace redeliver 17 --search shop', /use either the IDs of deliveries, or --dead or another filter/, 2],
      ['marketplace redeliver --dead --outcome refused', /use either --dead or --outcome/, 2],
      ['marketplace redeliver --since soon', /"soon" is not a time/, 2],
      ['marketplace redeliver 99999', /delivery does not exist/, 1],
      ['marketplace redeliver soon', /"soon" is not an ID/, 2],
      ['marketplace show 99999', /delivery does not exist/, 1],
      ['marketplace deliveries --since soon', /"soon" is not a time/, 2],
      ['marketplace installers --state lost', /invalid value "lost" for --state/, 2],
      ['marketplace installers --limit few', /--limit must be a whole number/, 2],
      ['marketplace subscriptions --state bound', /invalid value "bound" for --state/, 2],
      ['marketplace strangers --marketplace cloudD', /invalid value "cloudD" for --marketplace/, 2],
      ['marketplace events --state lost', /invalid value "lost" for --state/, 2],
      ['marketplace installer create cloudA --days 0', /an installer can be bound for 1 to 3650 days/, 1],
      ['marketplace installer create cloudA --test', /test/, 1],
      ['marketplace installer show nothing', /installer/, 1],
      ['marketplace installer link nothing', /installer/, 1],
      ['marketplace add-secret cloudA', /CloudA|marketplace/, 1],
      ['marketplace add-secret cloudB Canary', /a secret is not an argument/, 2],
      ['marketplace add-secret cloudB --secret-stdin --secret-file x', /use either --secret-file or --secret-stdin/, 2],
      ['marketplace add-secret cloudB --secret-stdin', /the secret is empty/, 2],
      ['marketplace retire-secret 0123456789abcdef --yes', /secret/, 1],
      ['marketplace send cloudD x.json', /invalid value "cloudD" for MARKETPLACE/, 2],
      ['marketplace send cloudB nowhere.json', /cannot read nowhere.json: no such file/, 2],
      ['marketplace send cloudB secret.txt --times 0', /--times must be a whole number from 1/, 2],
      ['marketplace send cloudB secret.txt', /secret.txt is not valid JSON/, 2],
    ];
    for (const [line, says, code] of REFUSED) {
      const said = await root(line, { cwd: root.home });
      assert.match(said.stderr, says);
      assert.equal(said.code, code, line);
    }
    const ann = cliAs(market, 'ann');
    const changes = ['installer create cloudB', 'installer link x', 'add-secret cloudB', 'retire-secret 0 --yes'];
    for (const name of [
      ...changes,
      'deliveries',
      'installers',
      'subscriptions',
      'secrets',
      'strangers',
      'events',
      'summary',
    ]) {
      const said = await ann(`marketplace ${name}`);
      assert.equal(said.code, 1, name);
      assert.match(said.stderr, /only site administrators can call this route/, name);
    }
  });

  it('atrium marketplace fails with exit code 1 on a server without a marketplace listener', async () => {
    const plain = await openTestServer();
    const { code, stderr } = await cliAs(plain, 'root')('marketplace deliveries');
    await plain.close();
    assert.equal(code, 1);
    assert.match(stderr, /the server does not support this command/);
  });
});
