import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { createRandom, SEED } from '../../support/checks/random.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { addMember, createTeam, makeOrganization, makePerson } from '../../support/world/people.ts';

const ACTIONS = {
  org_mgmt: ['view roles', 'create role', 'edit roles', 'delete roles', 'view audit log'],
  cluster_mgmt: ['view clusters', 'import clusters', 'remove clusters', 'connect to clusters'],
};
const RELATIONS = ['can_view_roles', 'can_edit_roles', 'can_import_clusters', 'can_view_audit_log', 'can_delete'];

describe('A dry run of a role file', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const empty = (organization: string, more: object = {}) => ({
    apiVersion: 'atrium/v1',
    kind: 'Roles',
    organization,
    roles: [],
    ...more,
  });

  it('A dry run and a preview are rejected for a guardrail of the file itself, in the words of the import', async () => {
    const owner = await makePerson(atrium);
    const org = await makeOrganization(atrium, owner.name);
    for (let count = 0; count < 2; count++) {
      await addMember(atrium.instance, BigInt(org.team('Owners')), (await makePerson(atrium)).id);
    }
    const call = atrium.as(owner.name);
    const at_most = { count: 2, relation: 'can_delete' };
    const file = empty(org.name, { guardrails: [{ name: 'two owners at most', at_most }] });
    const path = `/authz/roles/import?org=${org.name}`;
    const [dry, real] = [await call('PUT', `${path}&dry_run=true`, file), await call('PUT', path, file)];
    assert.deepEqual([dry.status, dry.body.reason], [409, 'guardrail_violated'], dry.text);
    assert.match(dry.body.message, /two owners at most.*3 people would be able to/);
    assert.deepEqual([real.status, real.body.message], [dry.status, dry.body.message]);
    const changes = [{ action: 'roles.import', document: JSON.stringify(file) }];
    const preview = await call('POST', `/authz/preview?org=${org.name}`, { changes });
    assert.equal(preview.status, 200, preview.text);
    assert.deepEqual(
      preview.body.refusals.map((one: { reason: string; message: string }) => [one.reason, one.message]),
      [['guardrail_violated', real.body.message]],
    );
    assert.equal(preview.body.guardrails[0]?.name, 'two owners at most');
  });

  it('A dry run needs a token that may read, and an import one that may write', async () => {
    const owner = await makePerson(atrium);
    const org = await makeOrganization(atrium, owner.name);
    const { text: token } = await atrium.instance.identity.tokens.issue({
      ...{ accountId: owner.id, name: 'reader', scopes: ['read:authz'] },
    });
    const put = (query: string) =>
      atrium.call('PUT', `/api/v1/authz/roles/import?org=${org.name}${query}`, empty(org.name), {
        Authorization: `token ${token}`,
      });
    assert.equal((await put('&dry_run=true')).status, 200);
    for (const query of ['', '&dry_run=false', '&dry_run=true&dry_run=false', '&dry_run=1', '&dry_run=TRUE']) {
      const answer = await put(query);
      assert.equal(answer.status, 403, `${query}: ${answer.text}`);
      assert.match(answer.body.message, /required=\[write:authz\]/, query);
    }
  });

  it(`The verdict of a dry run and of a preview is that of the import, for ${COUNTS.dryRuns} random files with seed ${SEED}`, async () => {
    const random = createRandom();
    const owner = await makePerson(atrium);
    const org = await makeOrganization(atrium, owner.name);
    const people = [owner];
    const teams = [...['Owners', 'Editors', 'Viewers'].map((name) => ({ name, id: BigInt(org.team(name)) }))];
    for (const name of ['red', 'blue']) {
      const id = BigInt(await createTeam(atrium.instance, { organizationId: org.id, name, permission: 'none' }));
      teams.push({ name, id });
    }
    for (let count = 0; count < 5; count++) people.push(await makePerson(atrium));
    const call = atrium.as(owner.name);
    const seen = { rejected: 0, imported: 0, otherwise: 0 };
    for (let count = 0; count < COUNTS.dryRuns; count++) {
      const [team, person] = [random.pick(teams), random.pick(people)];
      await call(random.chance(0.7) ? 'PUT' : 'DELETE', `/teams/${team.id}/members/${person.name}`);
      const file = fileOf();
      const caller = random.chance(0.8) ? owner : random.pick(people);
      const send = atrium.as(caller.name);
      const prune = random.chance(0.3);
      const path = `/authz/roles/import?org=${org.name}&prune=${prune}`;
      const dry = await send('PUT', `${path}&dry_run=true`, file);
      const changes = [{ action: 'roles.import', document: JSON.stringify(file), prune }];
      const preview = await send('POST', `/authz/preview?org=${org.name}`, { changes, objects: false });
      const real = await send('PUT', path, file);
      const told = JSON.stringify(file);
      assert.deepEqual(
        [dry.status, dry.body.reason, dry.body.message],
        [real.status, real.body.reason, real.body.message],
        told,
      );
      if (real.status === 200) {
        seen.imported++;
        assert.deepEqual([dry.body.changes, dry.body.guardrails], [real.body.changes, real.body.guardrails], told);
        assert.deepEqual([preview.status, preview.body.refusals], [200, []], told);
      } else if (real.body.reason === 'guardrail_violated') {
        seen.rejected++;
        const reasons = preview.body.refusals.map((one: { reason: string; message: string }) => one.message);
        assert.equal(reasons[0], real.body.message, `${told}: ${preview.text}`);
      } else {
        seen.otherwise++;
        assert.ok(preview.status !== 200 || preview.body.refusals.length > 0, `${told}: ${preview.text}`);
      }
    }
    assert.ok(seen.imported > 3 && seen.rejected > 3, JSON.stringify(seen));

    function fileOf() {
      const names = random.some(['one', 'two', 'three', 'four'], 0.5);
      const roles = names.map((name) => {
        const permissions = Object.fromEntries(
          Object.entries(ACTIONS).map(([namespace, actions]) => [namespace, random.some(actions, 0.3)]),
        );
        return { name, permissions, teams: random.some(teams, 0.3).map((team) => team.name) };
      });
      const guardrails = random.some(['a', 'b', 'c'], 0.5).map(guardrailOf);
      return empty(org.name, { roles, ...(random.chance(0.7) && { guardrails }) });
    }

    function guardrailOf(name: string) {
      const about = { relation: random.pick(RELATIONS), object: { type: 'organization' } };
      const enforce = random.chance(0.8);
      const kind = random.below(4);
      const users = [random.pick(people).name];
      const subject = random.chance(0.5) ? { users } : { team: random.pick(teams).name };
      if (kind === 0) return { name, enforce, at_least: { count: 1 + random.below(3), ...about } };
      if (kind === 1) return { name, enforce, at_most: { count: 1 + random.below(4), ...about } };
      return { name, enforce, [kind === 2 ? 'never' : 'always']: { ...subject, ...about } };
    }
  });
});
