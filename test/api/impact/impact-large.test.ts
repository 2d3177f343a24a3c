import assert from 'node:assert/strict';
import { itLong } from '../../support/checks/long.ts';
import { openTestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { numbersOf } from '../../support/world/authz.ts';

const MEMBERS = 2_300;
// Their memberships come in another order than their IDs.
const JOIN = statement(
  `with made as (
     insert into account (kind, name) select 'user', 'mass' || n from generate_series(1, $2::integer) n returning id)
   insert into team_member (team_id, account_id) select $1::bigint, id from made order by md5(id::text)`,
);

itLong('A preview lists the first thousand users by ID, and counts all of them', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const id = numbersOf(atrium);
  const [one] = await atrium.instance.db.query<{ id: bigint }>(statement('select max(id) as id from account'));
  await atrium.instance.db.query(JOIN, [id.team('operators'), MEMBERS]);
  const changes = [{ action: 'team.delete', id: id.team('operators') }];
  const { status, text, body } = await atrium.as('ann')('POST', '/authz/preview?org=acme', { changes });
  assert.equal(status, 200, text);
  const listed = body.users.map(({ user }: { user: { id: number } }) => user.id);
  assert.equal(listed.length, 1000);
  assert.ok(body.total >= MEMBERS, `${body.total}`);
  assert.deepEqual(
    listed,
    listed.toSorted((first: number, second: number) => first - second),
  );
  // Whoever was in the team before has a lower number, and then there is no gap.
  const fresh = listed.filter((each: number) => each > Number(one?.id));
  const first = fresh[0];
  assert.deepEqual(
    fresh,
    fresh.map((_: number, place: number) => first + place),
  );
  assert.ok(listed.length - fresh.length <= body.total - MEMBERS);
});
