import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DEFAULT_LIMITS } from '../../../src/base/config/limits.ts';
import { runInServer } from '../../../src/operations/server-commands.ts';
import { auditOf } from '../../support/checks/audit.ts';
import { ANY_DRIVER, migrated, newPlace } from '../../support/server/db.ts';
import { openQuietly, openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { basic } from '../../support/world/own-account.ts';
import { createBrowser } from '../../support/world/second-factors.ts';

const PROVIDER = { name: 'company', issuer: 'https://login.example.com', client_id: 'atrium' };

describe('A deployment without passwords', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ env: { PASSWORDS: 'off', OIDC_PROVIDERS: JSON.stringify([PROVIDER]) } });
  });
  after(() => atrium.close());

  const ann = () => atrium.world.users.ann ?? assert.fail('no ann');
  const run = async (...argv: string[]) => {
    const lines: string[] = [];
    await runInServer(atrium.instance, { argv }, (line) => lines.push(line));
    return lines;
  };

  it('A right password does not sign in, is no credential, and cannot be set', async () => {
    const password = ann().password ?? assert.fail('no password');
    const user = { username: 'fresh', email: 'fresh@example.com', password: 'long enough' };
    const answers = [
      await atrium.as()('POST', '/user/signin', { username: 'ann', password }),
      await atrium.as()('GET', '/user', undefined, basic('ann', password)),
      await atrium.as()('POST', '/users/ann/tokens', { name: 'x' }, basic('ann', password)),
      await atrium.as('ann')('PUT', '/user/password', { current: password, new: 'another long one' }),
      await atrium.as('root')('PATCH', '/admin/users/ann', { password: 'another long one' }),
      await atrium.as('root')('POST', '/admin/users', user),
    ];
    for (const { status, body } of answers) assert.deepEqual([status, body.reason], [403, 'passwords_off']);
  });

  it('A wrong password gets the same answer, so nobody learns whether it is right', async () => {
    const [right, wrong] = await Promise.all(
      [ann().password, 'a guess'].map((password) => atrium.as()('POST', '/user/signin', { username: 'ann', password })),
    );
    assert.deepEqual(right?.body, wrong?.body);
  });

  it('Tokens work as before, also in place of a password, and users are created without one', async () => {
    const token = ann().token ?? '';
    assert.equal((await atrium.as('ann')('GET', '/user')).status, 200);
    assert.equal((await atrium.as()('GET', '/user', undefined, basic('ann', token))).status, 200);
    assert.equal((await atrium.as()('POST', '/user/signin', { token })).status, 200);
    const user = { username: 'bare', email: 'bare@example.com' };
    assert.equal((await atrium.as('root')('POST', '/admin/users', user)).status, 201);
    assert.equal((await atrium.as('root')('PATCH', '/admin/users/bare', { full_name: 'Bare' })).status, 200);
  });

  it('A password does not prove again who somebody is', async () => {
    const browser = createBrowser(atrium);
    assert.equal((await browser('POST', '/user/signin', { token: ann().token })).status, 200);
    const { status, body } = await browser('POST', '/user/reauthenticate', { password: ann().password });
    assert.deepEqual([status, body.reason], [403, 'passwords_off']);
  });

  it('The sign-in page does not offer a password', async () => {
    const page = await atrium.call('GET', '/signin');
    assert.match(page.text, /"passwords":false/);
  });

  it('Whoever runs the server gets a token for an administrator, which ends after an hour and is recorded', async () => {
    const lines = await run('recover', 'root');
    const token =
      lines.map((line) => line.trim()).find((line) => line.startsWith('atr_')) ?? assert.fail(lines.join('\n'));
    const signedIn = await atrium.as()('POST', '/user/signin', { token });
    assert.deepEqual([signedIn.status, signedIn.body.login], [200, 'root']);
    const { body } = await atrium.as('root')('GET', '/users/root/tokens');
    const [made] = body.filter(({ name }: { name: string }) => name.startsWith('recovery '));
    const left = Date.parse(made.expires_at) - Date.parse(made.created_at);
    assert.ok(Math.abs(left - 3_600_000) < 60_000, String(left));
    const entries = await auditOf(atrium.instance.db, BigInt(signedIn.body.id));
    assert.deepEqual([entries.at(-1)?.action, entries.at(-1)?.actor_name], ['token.create', 'atrium']);
  });

  it('A token policy does not keep anybody from recovering', async () => {
    const free = { max_days: null, expiry_required: false, personal_tokens: 'everyone' };
    const strict = { max_days: 1, expiry_required: true, personal_tokens: 'administrators' };
    assert.equal((await atrium.as('root')('PUT', '/admin/token_policy', strict)).status, 200);
    assert.match((await run('recover', 'root')).join('\n'), /atr_/);
    assert.equal((await atrium.as('root')('PUT', '/admin/token_policy', free)).status, 200);
  });

  it('An administrator who has as many tokens as allowed can be recovered', async () => {
    const { id = 0n, token = '' } = atrium.world.users.root ?? {};
    await atrium.instance.db.query(
      statement(`insert into token (account_id, name, hash, last_eight, scopes)
        select $1, 'full ' || n, sha256(('full ' || n)::bytea), 'full', '{all}' from generate_series(1, $2::integer) as n`),
      [id, DEFAULT_LIMITS.tokensPerUser],
    );
    const one = await atrium.as()('POST', '/users/root/tokens', { name: 'more' }, basic('root', token));
    assert.equal(one.status, 422, one.text);
    assert.match((await run('recover', 'root')).join('\n'), /atr_/);
  });

  it('Only an active site administrator can be recovered', async () => {
    await assert.rejects(run('recover', 'ann'), /ann is not a site administrator/);
    await assert.rejects(run('recover', 'nobody'), /user does not exist/);
    await assert.rejects(run('recover'), /takes one username/);
    await assert.rejects(run('recover', 'root', 'ann'), /takes one username/);
  });

  it('A start without passwords and without a provider is refused, and changes nothing', async () => {
    const { dataDir, databaseUrl = '' } = await newPlace(ANY_DRIVER, migrated());
    const env = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, PASSWORDS: 'off' };
    const instance = await openQuietly(env, []);
    try {
      await assert.rejects(instance.listen(), /PASSWORDS=off would lock all users out/);
    } finally {
      await instance.close();
    }
    await assert.rejects(openQuietly({ ...env, PASSWORDS: 'no' }, []), /PASSWORDS must be one of on, off/);
  });
});
