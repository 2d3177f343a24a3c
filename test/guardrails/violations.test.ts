import assert from 'node:assert/strict';
import { it } from 'node:test';
import { principalOfSubject } from '../../src/changes/principal.ts';
import { byPrincipal, MAX_VIOLATORS } from '../../src/guardrails/guardrail.ts';
import { listed } from '../../src/guardrails/violations.ts';

it('A guardrail that thousands violate lists the first thousand, in order, counts all, and pauses in between', async () => {
  const users = Array.from({ length: 5 * MAX_VIOLATORS + 7 }, (_, at) =>
    at % 9 === 0 ? `robot_ac:${((at * 7919) % 9973) + 1}` : `user:${((at * 7919) % 9973) + 1}`,
  );
  let pauses = 0;
  const { userIds, total } = await listed(users, () => {
    pauses += 1;
    return undefined;
  });
  assert.equal(total, users.length);
  assert.deepEqual(userIds, users.map(principalOfSubject).sort(byPrincipal).slice(0, MAX_VIOLATORS));
  assert.ok(pauses >= 4, `${pauses} pauses`);
});
