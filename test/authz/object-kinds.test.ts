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

  it('Each change kind has a view of its tuples, and the tuple view is all of them: changes of any other would go unnoticed', async () => {
    const { db } = atrium.instance;
    const views = await db.query<{ name: string; definition: string }>(
      statement(`select viewname as name, pg_get_viewdef(viewname::regclass, true) as definition
                   from pg_views where schemaname = 'public' and viewname like 'tuple%'`),
    );
    const definitions = new Map(views.map(({ name, definition }) => [name, definition]));
    const whole = definitions.get('tuple') ?? '';
    const parts = CHANGE_KINDS.map((kind) => `tuple_${kind}`);
    assert.deepEqual([...definitions.keys()].sort(), ['tuple', ...parts].sort());
    assert.deepEqual([...whole.matchAll(/FROM (\w+)/g)].map(([, name]) => name).sort(), parts.sort());
    for (const kind of CHANGE_KINDS) {
      const definition = definitions.get(`tuple_${kind}`) ?? '';
      const selects = definition.split('UNION ALL');
      for (const select of selects) assert.match(select, new RegExp(`'${kind}'::text(?: AS source_kind)?,`), select);
    }
    for (const kind of CHANGE_KINDS) {
      const found = await db.query<{ kind: string }>(
        statement(`select distinct source_kind as kind from tuple_${kind}`),
      );
      for (const one of found) assert.equal(one.kind, kind);
    }
  });
});
