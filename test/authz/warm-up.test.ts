import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createGraph, readModel } from '../../packages/rebac/src/rebac.ts';
import { imaginaryOrganization } from '../../src/authz/warm-up.ts';
import { CATALOG } from '../../src/roles/catalog.ts';
import { until } from '../support/checks/until.ts';
import { openTestServer } from '../support/server/server.ts';

describe('Warming up', () => {
  it('The model admits every tuple of the organization that a process warms up with', async () => {
    const model = await readModel(readFileSync(new URL('../../src/authz/platform.fga', import.meta.url), 'utf8'));
    const { lines, count } = imaginaryOrganization(CATALOG);
    const graph = createGraph(model);
    for (const _ of graph.loadLines(lines, count, count));
    assert.equal(graph.size, count);
  });

  it('A server that is warming up is ready when that is over, although it answers before', async (context) => {
    const atrium = await openTestServer();
    const { instance } = atrium;
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    context.after(() => release());
    const { query, snapshot } = instance.db;
    context.mock.method(instance.db, 'snapshot', async (work: Parameters<typeof snapshot>[0]) => {
      await held;
      return await snapshot(work);
    });
    context.mock.method(instance.db, 'query', async (...given: Parameters<typeof query>) => {
      if (given[0].name === 'graphs.load') await held;
      return await query(...given);
    });
    instance.warmUp(Promise.resolve());
    assert.equal((await atrium.as('ann')('GET', '/user')).status, 200);
    await assert.rejects(instance.ready(), /the server is warming up/);
    release();
    await until(() =>
      instance
        .ready()
        .then(() => true)
        .catch(() => false),
    );
    await atrium.close();
  });
});
