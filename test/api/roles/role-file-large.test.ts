import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COUNTS, IS_LONG } from '../../counts.ts';
import { listenForStatements } from '../../support/checks/heard-statements.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer } from '../../support/server/server.ts';

const ROLES = COUNTS.importedRoles;
/** The target is two seconds on a quiet machine (`npm run bench -- role-file`). */
const WITHIN_MS = IS_LONG ? 20_000 : Number.POSITIVE_INFINITY;
/** One statement per role would exceed this by far. */
const MAX_STATEMENTS = 50 + ROLES / 4;

for (const driver of COUNTED_DRIVERS) {
  describe(`Large role files on ${driver}`, () => {
    it(`A file of ${ROLES} roles is imported, exported and updated with few statements on ${driver}`, async (context) => {
      const atrium = await openTestServer({ driver, env: { LIMIT_ROLES_PER_ORGANIZATION: '2000' } });
      const { all } = listenForStatements(context, atrium.instance.db);
      const send = (word: string, query = '') =>
        atrium.as('ann')('PUT', `/authz/roles/import?org=acme${query}`, document(word), {
          'Content-Type': 'application/yaml',
        });
      const measured = async <T>(what: string, run: () => Promise<T>): Promise<T> => {
        const [start, before] = [performance.now(), all.length];
        const result = await run();
        const took = performance.now() - start;
        assert.ok(all.length - before < MAX_STATEMENTS, `${what} took ${all.length - before} statements`);
        assert.ok(took < WITHIN_MS, `${what} took ${took.toFixed(0)} ms`);
        return result;
      };
      const verify = async () => (await atrium.as('ann')('GET', '/orgs/acme/audit/verify')).body;
      const { rows } = await verify();
      const made = await measured('the import', () => send('first'));
      assert.deepEqual([made.status, made.body.changes.length, made.body.unchanged], [200, ROLES, 0]);
      const text = (await measured('the export', () => atrium.as('cat')('GET', '/authz/roles/export?org=acme'))).text;
      const same = await measured('the same again', () => send('first'));
      assert.deepEqual([same.body.changes.length, same.body.unchanged], [0, ROLES]);
      assert.equal((await atrium.as('cat')('GET', '/authz/roles/export?org=acme')).text, text);
      const changed = await measured('a change to each', () => send('second', '&prune=true'));
      assert.equal(changed.body.changes.length, ROLES + 1, 'and one role is deleted');
      assert.deepEqual(await verify(), {
        rows: rows + 2 * ROLES + 1,
        ok: true,
        first_broken_id: null,
        segments: [],
        erased: 0,
      });
      assert.equal((await atrium.as('cat')('GET', '/orgs/acme/audit')).status, 403);
      await atrium.close();
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
