import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type Query, sql } from '../../../src/db/db.ts';
import { COUNTS } from '../../counts.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { numbersOf } from '../../support/world/authz.ts';

/** About 1.2 kB each: several times what the sockets between a server and a client that does not read can hold. */
const ROWS = COUNTS.exportedRows;
const FILL = sql(
  'test.audit.fill',
  `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, before, after,
                      request_id, previous_hash, hash)
   select timestamptz '2026-01-01' + n * interval '1 millisecond', $1, 1, 'somebody', 'thing.change', 'thing', n % 100,
          null, json_build_object('text', repeat('x', 1000)), 'r', '\\x00', '\\x00' from generate_series(1, $2) n`,
);
/** The server prepares only as much of a long export as the client reads. */
describe('Long audit log exports', () => {
  let atrium: TestServer;
  let acme: number;
  before(async () => {
    atrium = await openTestServer();
    acme = numbersOf(atrium).org('acme');
    await atrium.instance.db.query(FILL, [acme, ROWS]);
  });
  after(() => atrium.close());

  const url = () => `${atrium.url}/api/v1/orgs/acme/audit/export`;
  const headers = () => ({ Authorization: `token ${atrium.world.users.ann?.token}` });

  it('A long audit log export is streamed completely, each row once and in order', async () => {
    const response = await fetch(`${url()}?object=thing`, { headers: headers() });
    assert.equal(response.headers.get('content-length'), null, 'sent as it is read');
    let rest = '';
    let last = 0;
    let count = 0;
    for await (const chunk of (response.body ?? assert.fail()).pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const id = Number(/^\{"id":(\d+),/.exec(line)?.[1]);
        assert.ok(id > last, `${id} after ${last}`);
        last = id;
        count++;
      }
    }
    assert.deepEqual([count, rest], [ROWS, '']);
  });

  it('An export that breaks off says so in the log, because the client only sees that the connection ends', async (context) => {
    const { db } = atrium.instance;
    const { query } = db;
    let batches = 0;
    const failing: Query = async (statement, values) => {
      if (statement.name.startsWith('audit.asc') && ++batches > 2) throw new Error('the disk is gone');
      return await query<never>(statement, values);
    };
    context.mock.method(db, 'query', failing);
    const response = await fetch(url(), { headers: headers() });
    assert.equal(response.status, 200);
    await assert.rejects(response.text(), /terminated/);
    assert.match(atrium.logged(), /the disk is gone.*"msg":"an export of the audit log ended early"/);
  });

  it('A long audit log export pauses while the client does not read and stops when it disconnects', async (context) => {
    const { db } = atrium.instance;
    const { query } = db;
    let rows = 0;
    const counting: Query = async (statement, values) => {
      const found = await query<never>(statement, values);
      if (statement.name.startsWith('audit.asc')) rows += found.length;
      return found;
    };
    context.mock.method(db, 'query', counting);
    /**
     * An export in progress reads a batch in the time of one request. This one read none while twenty requests were
     * answered.
     */
    const settled = async () => {
      for (let before = -1; before !== rows; ) {
        before = rows;
        for (let count = 0; count < 20; count++) assert.equal((await atrium.as('ann')('GET', '/user')).status, 200);
      }
      return rows;
    };
    const { hostname, port } = new URL(atrium.url);
    const socket = connect(Number(port), hostname);
    const { Authorization } = headers();
    socket.write(`GET /api/v1/orgs/acme/audit/export HTTP/1.1\r\nHost: x\r\nAuthorization: ${Authorization}\r\n\r\n`);
    await new Promise((resolve) => socket.once('readable', resolve));
    const waiting = await settled();
    assert.ok(waiting > 0 && waiting < ROWS / 2, `${waiting} rows were read for somebody who does not read`);
    socket.destroy();
    assert.ok((await settled()) - waiting < 1000, 'nothing is read for nobody');
    assert.equal((await fetch(`${url()}?object=thing:1`, { headers: headers() })).status, 200);
    assert.doesNotMatch(atrium.logged(), /"level":50/);
  });
});
