import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openTestHouse } from '../../support/house.ts';

const ROLES = 1000;
/** Two seconds are the target on a quiet machine (`npm run bench:roles`); one statement a role would take far longer. */
const WITHIN_MS = 8_000;

for (const driver of ['pglite', 'postgres'] as const) {
  describe(`Large role files on ${driver}`, () => {
    it(`A file of 1,000 roles is imported, exported and updated within the time limit on ${driver}`, async () => {
      const house = await openTestHouse({ driver });
      const send = (word: string, query = '') =>
        house.as('ann')('PUT', `/authz/roles/import?org=acme${query}`, document(word), {
          'Content-Type': 'application/yaml',
        });
      const timed = async <T>(what: string, run: () => Promise<T>): Promise<T> => {
        const start = performance.now();
        const result = await run();
        const took = performance.now() - start;
        assert.ok(took < WITHIN_MS, `${what} took ${took.toFixed(0)} ms`);
        return result;
      };
      const made = await timed('the import', () => send('first'));
      assert.deepEqual([made.status, made.body.changes.length, made.body.unchanged], [200, ROLES, 0]);
      const text = (await timed('the export', () => house.as('cat')('GET', '/authz/roles/export?org=acme'))).text;
      const same = await timed('the same again', () => send('first'));
      assert.deepEqual([same.body.changes.length, same.body.unchanged], [0, ROLES]);
      assert.equal((await house.as('cat')('GET', '/authz/roles/export?org=acme')).text, text);
      const changed = await timed('a change to each', () => send('second', '&prune=true'));
      assert.equal(changed.body.changes.length, ROLES + 1, 'and one role is deleted');
      const verdict = await house.as('ann')('GET', '/orgs/acme/audit/verify');
      assert.deepEqual(verdict.body, { rows: 2 * ROLES + 2, ok: true, first_broken_id: null });
      assert.equal((await house.as('cat')('GET', '/orgs/acme/audit')).status, 403);
      await house.close();
    });
  });
}

function document(word: string): string {
  const roles = Array.from(
    { length: ROLES },
    (_, number) => `  - name: Role number ${number}
    description: The ${word} words about role ${number}, in a sentence.
    permissions:
      org_mgmt: [edit, view members]
      cluster_mgmt: [view clusters, connect to clusters]
    teams: [Editors, Viewers, operators]
`,
  );
  return `apiVersion: atrium/v1\nkind: Roles\norganization: acme\nroles:\n${roles.join('')}`;
}
