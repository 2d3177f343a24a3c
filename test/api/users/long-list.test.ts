import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import pg from 'pg';
import { fillFollowers } from '../../../bench/user-lists/fill.ts';
import { rowsRead } from '../../../bench/user-lists/plan.ts';
import { COUNTS } from '../../counts.ts';
import { describeLong } from '../../support/checks/long.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { lacks } from '../../support/services/requirements.ts';

const MANY = COUNTS.followers;

/** The blocks by which a page is found must always give the same result as a plain sort of all followers. */
describeLong(`A list of ${MANY} followers`, { skip: lacks('postgresql') }, () => {
  let atrium: TestServer;
  let client: pg.Client;
  before(async () => {
    atrium = await openTestServer({ driver: 'postgres' });
    client = new pg.Client({ connectionString: atrium.instance.config.DATABASE_URL });
    await client.connect();
    await fillFollowers(client, Number(id()), MANY);
    await client.query('vacuum analyze');
  });
  after(async () => {
    await client.end();
    await atrium.close();
  });

  const id = () => atrium.world.users.cat?.id ?? 0n;
  const page = async (number: number) => {
    const { body, headers } = await atrium.as('cat')('GET', `/user/followers?limit=50&page=${number}`);
    return { logins: body.map(({ login }: { login: string }) => login), total: headers.get('x-total-count') };
  };
  const sorted = async () => {
    const { rows } = await client.query(
      'select a.name from follow f join account a on a.id = f.follower_id where f.followed_id = $1 order by f.seq desc',
      [String(id())],
    );
    return rows.map(({ name }) => name as string);
  };
  const assertRight = async () => {
    const all = await sorted();
    const last = Math.ceil(all.length / 50);
    for (const number of [1, 2, 20, 21, Math.floor(last / 2), last - 1, last, last + 1]) {
      const { logins, total } = await page(number);
      assert.equal(total, String(all.length));
      assert.deepEqual(logins, all.slice((number - 1) * 50, number * 50), `page ${number}`);
    }
  };

  it(`The pages of a list of ${MANY} followers match a plain sort`, assertRight);

  it('Pages of followers remain correct after whole blocks are deleted and others are added', async () => {
    await client.query(
      // A block holds 1,000.
      'delete from follow where followed_id = $1 and (seq between 900 and 2100 or seq % 97 = 3 or seq > $2)',
      [String(id()), MANY - 10],
    );
    for (const name of ['ann', 'bob', 'dan']) await atrium.as(name)('PUT', '/user/following/cat');
    await assertRight();
    assert.deepEqual((await page(1)).logins.slice(0, 3), ['dan', 'bob', 'ann']);
  });

  it('A page of followers, its total and orgAdmin are computed without reading whole tables', async () => {
    await client.query(
      `insert into team_member (team_id, account_id)
       select t.id, a.id from team t, account a where t.permission = 'read' and a.name like 'crowd%'`,
    );
    await client.query('vacuum analyze');
    for (const offset of [0, 50, Math.floor(MANY / 3), Math.floor(MANY / 2)]) {
      const read = await rowsRead(client, id(), offset);
      assert.ok((read.get('follow') ?? 0) <= 1100, `${read.get('follow')} rows of follow from ${offset} on`);
      assert.ok((read.get('account') ?? 0) <= 60, `${read.get('account')} rows of account from ${offset} on`);
      assert.ok((read.get('team_member') ?? 0) <= 200, `${read.get('team_member')} rows of team_member`);
      assert.ok((read.get('team') ?? 0) <= 1000, `${read.get('team')} rows of team`);
    }
  });
});
