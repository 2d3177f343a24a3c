import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { lockTable } from '../../support/faults/table-lock.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { lacks } from '../../support/services/requirements.ts';
import { newScimToken, type ScimCall, scimCaller, user } from '../../support/world/scim.ts';

const ENV = { SCIM_DOMAINS: 'acme:shared.example, globex:shared.example' };

describe('One domain of two organizations', { skip: lacks('postgresql') }, () => {
  let atrium: TestServer;
  let acme: ScimCall;
  let globex: ScimCall;
  before(async () => {
    atrium = await openTestServer({ driver: 'postgres', env: ENV });
    acme = scimCaller(atrium, await newScimToken(atrium, 'acme', 'ann'));
    globex = scimCaller(atrium, await newScimToken(atrium, 'globex', 'eve'));
  });
  after(() => atrium.close());

  it('Of two providers that take up one account at the same moment, one owns it and the other shares it', async () => {
    const email = 'both@shared.example';
    const account = { username: 'both', email, password: 'a long password', must_change_password: false };
    assert.equal((await atrium.as('root')('POST', '/admin/users', account)).status, 201);
    // Both find a free account, and neither can write yet.
    const lock = await lockTable(atrium.instance.config.DATABASE_URL ?? '', 'scim_user', 'share row exclusive');
    const first = acme('POST', '/Users', user(email));
    await lock.untilWaiting(1);
    const second = globex('POST', '/Users', user(email));
    const tooEarly = Promise.race([first, second]).then(({ text }) => assert.fail(`answered too early: ${text}`));
    await Promise.race([lock.untilWaiting(2), tooEarly]).finally(() => lock.release());
    tooEarly.catch(() => undefined);
    const answers = await Promise.all([first, second]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 201],
      answers.map(({ text }) => text).join('\n'),
    );
    const owned = statement(`select is_owned from scim_user where user_name = '${email}' order by is_owned`);
    assert.deepEqual(await atrium.instance.db.query(owned), [{ is_owned: false }, { is_owned: true }]);
  });
});
