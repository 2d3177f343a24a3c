import assert from 'node:assert/strict';
import { itLong } from '../../support/checks/long.ts';
import { DRIVERS } from '../../support/server/db.ts';
import { openPair } from '../../support/server/processes.ts';
import type { Answer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { clusterPermission, makeRole, numbersOf } from '../../support/world/authz.ts';

const VIEW = clusterPermission('view clusters');
const CONNECT = clusterPermission('connect to clusters');
const NEVER_ANY = statement('update revision set guardrails = null');
const ROUNDS = 5;
const WRITERS = 6;

for (const _ of DRIVERS.filter((driver) => driver === 'postgres')) {
  itLong(
    'Writes under way while another process creates the first guardrail are made or refused with 503, and those after it keep it',
    async (t) => {
      const { atrium, open } = await openPair();
      t.after(() => atrium.close());
      const other = await open();
      t.after(() => other.close());
      const id = numbersOf(atrium);
      const ann = atrium.as('ann');
      const { token = '' } = atrium.world.users.ann ?? {};
      const roles = await Promise.all(
        Array.from({ length: WRITERS }, (_, at) => makeRole(atrium, { name: `writer ${at}`, permissions: [VIEW] })),
      );
      const join = () => ann('PUT', `/teams/${id.team('operators')}/members/eve`);
      const guardrail = {
        name: 'prod is closed',
        never: { users: ['eve'], relation: 'can_connect', object: { type: 'cluster', id: id.cluster('prod') } },
      };
      for (let round = 0; round < ROUNDS; round++) {
        await atrium.instance.db.query(NEVER_ANY);
        const answers: Answer[] = [];
        let isOver = false;
        const writers = roles.map(async ({ body }) => {
          for (let turn = 0; !isOver; turn++) {
            const permissions = turn % 2 === 0 ? [VIEW, CONNECT] : [VIEW];
            answers.push(await ann('PUT', `/authz/roles/${body.id}?org=acme`, { permissions }));
          }
        });
        while (answers.length < WRITERS * 5) await new Promise((resolve) => setTimeout(resolve, 5));
        const path = '/api/v1/authz/guardrails?org=acme';
        const created = await atrium.call('POST', path, guardrail, { Authorization: `token ${token}` }, other.url);
        assert.equal(created.status, 201, created.text);
        const refused = await join();
        isOver = true;
        await Promise.all(writers);
        assert.deepEqual([refused.status, refused.body.reason], [409, 'guardrail_violated'], refused.text);
        for (const { status, headers, text } of answers) {
          if (status !== 200) assert.deepEqual([status, headers.get('retry-after')], [503, '1'], text);
        }
        assert.ok(
          answers.filter(({ status }) => status !== 200).length <= WRITERS,
          'at most those that were under way',
        );
        assert.equal((await ann('DELETE', `/authz/guardrails/${created.body.id}?org=acme`)).status, 204);
      }
    },
  );
}
