import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { CATALOGUE_FILE, describeCatalogue, describeSchema, SCHEMA_FILE } from '../../scripts/schema.ts';
import { openDb, sql } from '../../src/db/db.ts';
import { migrated, newPlace } from '../support/server/db.ts';

/** References whose column leads no index that contains every row in which it is set. */
const UNINDEXED = sql(
  'schema.unindexed',
  `select c.conrelid::regclass || '.' || a.attname as name
     from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.connamespace = 'public'::regnamespace and not exists (
      select 1 from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1] and (i.indpred is null
        or pg_get_expr(i.indpred, i.indrelid) = '(' || quote_ident(a.attname) || ' IS NOT NULL)'))
    order by 1`,
);

// On PGlite only: its version is pinned, and PostgreSQL versions do not all spell a definition in the same way.
it('migrations/schema.sql and catalogue.json are the schema that all migrations together make', async () => {
  const db = await openDb({ ...(await newPlace('pglite', migrated())), say: () => undefined });
  try {
    assert.equal(await describeSchema(db), readFileSync(SCHEMA_FILE, 'utf8'), 'run npm run generate');
    assert.equal(await describeCatalogue(db), readFileSync(CATALOGUE_FILE, 'utf8'), 'run npm run generate');
  } finally {
    await db.close();
  }
});

it('Whatever refers to an object is found by an index', async () => {
  const db = await openDb({ ...(await newPlace(undefined, migrated())), say: () => undefined });
  try {
    const rows = await db.query<{ name: string }>(UNINDEXED);
    assert.deepEqual(
      rows.map(({ name }) => name),
      [],
    );
  } finally {
    await db.close();
  }
});
