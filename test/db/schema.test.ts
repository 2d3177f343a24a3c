import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { describeSchema, SCHEMA_FILE } from '../../scripts/schema.ts';
import { openDb } from '../../src/db/db.ts';
import { migrated, newPlace } from '../support/db.ts';

// On PGlite only: its version is pinned, and PostgreSQL versions do not all spell a definition in the same way.
it('migrations/schema.sql is the schema that all migrations together make', async () => {
  const db = await openDb({ ...(await newPlace('pglite', migrated())), say: () => undefined });
  try {
    assert.equal(await describeSchema(db), readFileSync(SCHEMA_FILE, 'utf8'), 'run npm run generate');
  } finally {
    await db.close();
  }
});
