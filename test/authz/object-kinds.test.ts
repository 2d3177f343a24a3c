import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { CHANGE_KINDS, OBJECT_KINDS } from '../../src/changes/object-kinds.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';

describe('The list of object kinds', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('OBJECT_KINDS has every type of platform.fga, and no other', () => {
    const model = readFileSync('src/authz/platform.fga', 'utf8');
    const types = [...model.matchAll(/^type (\w+)$/gm)].map(([, name]) => name);
    assert.deepEqual(Object.keys(OBJECT_KINDS).sort(), types.sort());
  });

  it('Every source of tuples in the tuple view is a change kind, or changes of it would go unnoticed', async () => {
    const { definition } = (
      await atrium.instance.db.query<{ definition: string }>(
        statement(`select pg_get_viewdef('tuple'::regclass, true) as definition`),
      )
    )[0] ?? { definition: '' };
    const sources = new Set([...definition.matchAll(/'(\w+)'::text AS source_kind/g)].map(([, kind]) => kind));
    const named = [...definition.matchAll(/'(\w+)'::text/g)].map(([, word]) => word);
    assert.ok(sources.size > 0, definition.slice(0, 400));
    for (const source of sources)
      assert.ok(
        CHANGE_KINDS.some((kind) => kind === source),
        source,
      );
    for (const kind of CHANGE_KINDS) assert.ok(named.includes(kind), `no tuple comes from ${kind}`);
    const found = await atrium.instance.db.query<{ kind: string }>(
      statement('select distinct source_kind as kind from tuple'),
    );
    for (const { kind } of found)
      assert.ok(
        CHANGE_KINDS.some((known) => known === kind),
        kind,
      );
  });
});
