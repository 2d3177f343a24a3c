import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Query } from '../../../src/db/db.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

/** The requests that search the whole deployment. */
const SEARCHES = ['/search?q=zzzq', '/users/search?q=zzzq', '/admin/users?q=zzzq', '/admin/orgs?q=zzzq'];
const AT_ONCE = 20;

describe('Searches at the same time', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('However many searches a caller sends, two of their statements run at a time', async ({ mock }) => {
    const { db } = atrium.instance;
    const { query } = db;
    let running = 0;
    let most = 0;
    const counting: Query = async (statement, values) => {
      const isSearch = /^(search|users\.(find|people|some)|organizations\.(find|getSome))/.test(statement.name);
      if (!isSearch) return await query(statement, values);
      running += 1;
      most = Math.max(most, running);
      try {
        return await query(statement, values);
      } finally {
        running -= 1;
      }
    };
    mock.method(db, 'query', counting);
    const sent = Array.from({ length: AT_ONCE }, (_, number) => SEARCHES[number % SEARCHES.length] ?? '');
    const answers = await Promise.all(sent.map((path) => atrium.as('root')('GET', path)));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.equal(most, 2);
  });
});
