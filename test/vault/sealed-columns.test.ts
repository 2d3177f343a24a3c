import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SEALED_COLUMNS } from '../../src/sealed-columns.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';

/** Bytes that are not secret, or that the key ring protects itself. */
const OTHERS = new Set([
  'hash',
  'mailed_hash',
  'shown_hash',
  'previous_hash',
  'wrapped',
  'natural_key',
  'fingerprint',
  'credential_id',
  'public_key',
  'signature',
]);
/** A digest, in a column whose name says what of. */
const DIGESTS = new Set([
  'password_code.state',
  'audit_text.commitment',
  'audit_segment.first_previous_hash',
  'audit_segment.last_hash',
]);
/** Kept beside the text that it hides, until both are removed. */
const SALTS = new Set(['audit_text.salt']);

describe('Sealed columns', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('The list of sealed columns contains every column that can store sealed bytes', async () => {
    const rows = await atrium.instance.db.query<{ place: string; column_name: string }>(
      statement(
        `select table_name || '.' || column_name as place, column_name from information_schema.columns
          where table_schema = current_schema() and data_type = 'bytea' order by 1`,
      ),
    );
    const sealed = rows
      .filter((row) => !OTHERS.has(row.column_name) && !DIGESTS.has(row.place) && !SALTS.has(row.place))
      .map((row) => row.place);
    assert.deepEqual(SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).sort(), sealed);
  });
});
