import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { giteaApi } from 'gitea-js';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

/** An existing client library of this API family, pointed at the running server and used as its users use it. */
describe('gitea-js', () => {
  let atrium: TestServer;
  let ann: ReturnType<typeof giteaApi>;
  before(async () => {
    atrium = await openTestServer();
    ann = clientOf('ann');
  });
  after(() => atrium.close());

  function clientOf(name: string) {
    return giteaApi(atrium.url, { token: atrium.world.users[name]?.token ?? '', customFetch: fetch });
  }

  it('gitea-js reads the version', async () => {
    assert.match((await ann.version.getVersion()).data.version ?? '', /^v\d+\.\d+\.\d+$/);
  });

  it('gitea-js reads the current user', async () => {
    const { data } = await ann.user.userGetCurrent();
    assert.equal(data.login, 'ann');
    assert.equal(data.id, Number(atrium.world.users.ann?.id));
    assert.equal(data.email, 'ann@example.com');
  });

  it('gitea-js lists, adds and deletes email addresses', async () => {
    const first = await ann.user.userListEmails();
    assert.deepEqual(
      first.data.map(({ email, verified, primary }) => [email, verified, primary]),
      [
        ['ann@example.com', true, true],
        ['ann.archer@example.org', false, false],
      ],
    );
    const added = await ann.user.userAddEmail({ emails: ['Ann.Work@Example.com'] });
    assert.equal(added.status, 201);
    assert.equal(added.data.length, 3);
    const deleted = await ann.user.userDeleteEmail({ emails: ['ann.work@example.com'] });
    assert.equal(deleted.status, 204);
    assert.equal((await ann.user.userListEmails()).data.length, 2);
  });

  it('gitea-js receives a JSON error for an email address in use', async () => {
    await assert.rejects(
      ann.user.userAddEmail({ emails: ['bob@example.com'] }),
      (answer: Response & { error: { message: string; url: string } }) => {
        assert.equal(answer.status, 422);
        assert.equal(answer.error.message, 'Email address has been used: bob@example.com');
        assert.equal(answer.error.url, `${atrium.url}/api/v1/docs`);
        return true;
      },
    );
  });

  it('gitea-js pages through followers', async () => {
    const root = clientOf('root');
    const seen: string[] = [];
    for (let page = 1; page < 10; page++) {
      const { data } = await root.user.userCurrentListFollowers({ page, limit: 20 });
      if (data.length === 0) break;
      seen.push(...data.map(({ login }) => login ?? ''));
    }
    assert.equal(seen.length, 45);
    assert.deepEqual([seen[0], seen[44], new Set(seen).size], ['fan45', 'fan01', 45]);
  });

  it('gitea-js follows, checks and unfollows a user', async () => {
    const status = (name: string) =>
      ann.user.userCurrentCheckFollowing(name).then(
        (answer) => answer.status,
        (answer) => answer.status,
      );
    assert.equal(await status('cat'), 404);
    assert.equal((await ann.user.userCurrentPutFollow('cat')).status, 204);
    assert.equal(await status('CAT'), 204);
    assert.deepEqual(
      (await ann.user.userCurrentListFollowing({})).data.map(({ login }) => login),
      ['cat', 'bob'],
    );
    assert.equal((await ann.user.userCurrentDeleteFollow('cat')).status, 204);
    assert.equal(await status('cat'), 404);
  });

  it('gitea-js lists teams with their organization', async () => {
    const { data } = await clientOf('dan').user.userListTeams();
    assert.equal(data.length, 1);
    assert.equal(data[0]?.name, 'operators');
    assert.equal(data[0]?.organization?.username, 'acme');
    assert.equal(data[0]?.permission, 'none');
  });

  it('gitea-js creates, lists and deletes tokens with Basic authentication', async () => {
    const { password } = atrium.world.users.ann ?? {};
    const basic = { headers: { Authorization: `Basic ${Buffer.from(`ann:${password}`).toString('base64')}` } };
    const plain = giteaApi(atrium.url, { customFetch: fetch });
    const made = await plain.users.userCreateToken('ann', { name: 'laptop', scopes: ['read:user'] }, basic);
    assert.equal(made.status, 201);
    assert.match(made.data.sha1 ?? '', /^atr_/);
    const narrow = giteaApi(atrium.url, { token: made.data.sha1 ?? '', customFetch: fetch });
    assert.equal((await narrow.user.userGetCurrent()).data.login, 'ann');
    await assert.rejects(narrow.user.userCurrentPutFollow('cat'), (answer: Response) => answer.status === 403);
    const listed = await plain.users.userGetTokens('ann', {}, basic);
    assert.deepEqual(
      listed.data.map(({ name }) => name),
      ['demo', 'laptop'],
    );
    assert.equal((await plain.users.userDeleteAccessToken('ann', 'laptop', basic)).status, 204);
    await assert.rejects(narrow.user.userGetCurrent(), (answer: Response) => answer.status === 401);
  });

  it('gitea-js receives the paging headers of a list', async () => {
    const answer = await clientOf('root').user.userCurrentListFollowers({ page: 2, limit: 20 });
    assert.equal(answer.headers.get('x-total-count'), '45');
    assert.match(answer.headers.get('link') ?? '', /page=3[^>]*>; rel="next"/);
    assert.equal((await clientOf('root').user.userCurrentListFollowers({ page: 0, limit: 0 })).data.length, 30);
    assert.equal((await clientOf('root').user.userCurrentListFollowers({ page: 9 })).data.length, 0);
  });

  it('gitea-js follows a user and receives 404 for an organization and for an unknown name', async () => {
    assert.equal((await ann.user.userCurrentPutFollow('eve')).status, 204);
    const [first] = (await ann.user.userCurrentListFollowing({})).data;
    assert.equal(first?.login, 'eve');
    await ann.user.userCurrentDeleteFollow('eve');
    await assert.rejects(ann.user.userCurrentPutFollow('globex'), (answer: Response) => answer.status === 404);
    await assert.rejects(
      ann.user.userCurrentPutFollow('nobody'),
      (answer: Response & { error: { message: string } }) => {
        assert.deepEqual([answer.status, answer.error.message], [404, 'user does not exist: nobody']);
        return true;
      },
    );
  });

  it('gitea-js receives 401 without a valid token, and for token creation without Basic authentication', async () => {
    const nobody = giteaApi(atrium.url, { customFetch: fetch });
    const wrong = giteaApi(atrium.url, { token: 'wrong', customFetch: fetch });
    for (const [client, message] of [
      [nobody, 'token is required'],
      [wrong, 'invalid username, password or token'],
    ] as const) {
      await assert.rejects(client.user.userGetCurrent(), (answer: Response & { error: { message: string } }) => {
        assert.deepEqual([answer.status, answer.error.message], [401, message]);
        return true;
      });
    }
    await assert.rejects(
      ann.users.userCreateToken('ann', { name: 'x', scopes: ['read:user'] }),
      (answer: Response) => answer.status === 401,
    );
  });

  it('gitea-js acts as another user with the Sudo header of an administrator', async () => {
    const { data } = await clientOf('root').user.userListTeams({}, { headers: { Sudo: 'dan' } });
    assert.equal(data[0]?.name, 'operators');
  });
});
