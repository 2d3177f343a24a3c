import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { numbersOf } from '../../support/authz.ts';
import { openTestHouse, type TestHouse } from '../../support/house.ts';

const ROWS = 60_000;
const FILL = sql(
  'test.audit.fill',
  `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, before, after,
                      request_id, previous_hash, hash)
   select timestamptz '2026-01-01' + n * interval '1 millisecond', $1, 1, 'somebody', 'thing.change', 'thing', n % 100,
          null, json_build_object('text', repeat('x', 1000)), 'r', '\\x00', '\\x00' from generate_series(1, $2) n`,
);
const READS = sql(
  'test.audit.reads',
  'select sum(idx_tup_fetch)::bigint as rows from pg_stat_user_tables where relname = $1',
);

/** How much of a long export the server prepares is up to how much of it somebody reads. */
describe('Long audit log exports', () => {
  let house: TestHouse;
  let acme: number;
  before(async () => {
    house = await openTestHouse();
    acme = numbersOf(house).org('acme');
    await house.house.db.query(FILL, [acme, ROWS]);
  });
  after(() => house.close());

  const url = () => `${house.url}/api/v1/orgs/acme/audit/export`;
  const headers = () => ({ Authorization: `token ${house.world.users.ann?.token}` });

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

  it('A long audit log export pauses while the client does not read and stops when it disconnects', async () => {
    const counted = async () => {
      const [row] = await house.house.db.query<{ rows: bigint }>(READS, ['audit']);
      return Number(row?.rows ?? 0);
    };
    const start = await settled(counted);
    const { hostname, port } = new URL(house.url);
    const socket = connect(Number(port), hostname);
    const { Authorization } = headers();
    socket.write(`GET /api/v1/orgs/acme/audit/export HTTP/1.1\r\nHost: x\r\nAuthorization: ${Authorization}\r\n\r\n`);
    await new Promise((resolve) => socket.once('readable', resolve));
    const waiting = await settled(counted);
    assert.ok(waiting - start < ROWS / 2, `${waiting - start} rows were read for somebody who does not read`);
    socket.destroy();
    assert.ok((await settled(counted)) - waiting < 1000, 'nothing is read for nobody');
    assert.equal((await fetch(`${url()}?object=thing:1`, { headers: headers() })).status, 200);
    assert.doesNotMatch(house.logged(), /"level":50/);
  });
});

/** The database tells what was read a moment late: the same number three times is the number. */
async function settled(read: () => Promise<number>): Promise<number> {
  let last = -1;
  for (let same = 0; same < 3; ) {
    const now = await read();
    same = now === last ? same + 1 : 0;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  return last;
}
