import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runInServer } from '../../../src/operations/server-commands.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { addMember, makeOrganization, makePerson } from '../../support/world/people.ts';

describe('People in the archive of the audit log', () => {
  let atrium: TestServer;
  const folder = mkdtempSync(join(tmpdir(), 'atrium-archived-people-'));
  before(async () => {
    atrium = await openTestServer();
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await atrium.close();
  });

  const file = (name: string) => join(folder, name);
  const root = (...send: Parameters<ReturnType<TestServer['as']>>) => atrium.as('root')(...send);

  async function command(...argv: string[]): Promise<void> {
    await runInServer(atrium.instance, { argv: ['audit', ...argv] }, () => undefined);
  }

  async function makeLog() {
    const owner = await makePerson(atrium);
    const org = await makeOrganization(atrium, owner.name);
    const change = async (name: string) => {
      const made = await root('POST', `/authz/roles?org=${org.name}`, { name, permissions: [] });
      assert.equal(made.status, 201, made.text);
    };
    const moment = async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return new Date().toISOString();
    };
    return { owner, org, change, moment };
  }

  it('An archive does not contain what identifies a person, and still shows them after a restore', async () => {
    const { org, owner, moment, change } = await makeLog();
    const person = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(org.team('Viewers')), person.id);
    const removed = await root('DELETE', `/orgs/${org.name}/members/${person.name}`);
    assert.equal(removed.status, 204, removed.text);
    await change('last');
    const path = file(`people-${org.name}.ndjson`);
    await command('archive', '--before', await moment(), '--to', path, '--org', org.name);
    const text = readFileSync(path, 'utf8');
    for (const { name } of [person, owner]) assert.ok(!text.includes(name), name);
    await command('restore', path);
    assert.match((await root('GET', `/admin/audit?org=${org.name}`)).text, new RegExp(person.name));
  });

  it('A person whose entries are archived can be erased, and a restore shows nothing of them', async () => {
    const { org, moment, change } = await makeLog();
    const person = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(org.team('Viewers')), person.id);
    assert.equal((await root('DELETE', `/orgs/${org.name}/members/${person.name}`)).status, 204);
    assert.equal((await root('DELETE', `/admin/users/${person.name}`)).status, 204);
    await change('last');
    const path = file(`erased-${org.name}.ndjson`);
    const argv = ['--before', await moment(), '--to', path, '--org', org.name, '--org', '0'];
    await command('archive', ...argv);
    const erased = await root('DELETE', `/admin/users/id:${person.id}?erase=true`);
    assert.equal(erased.status, 204, erased.text);
    await command('restore', path);
    for (const log of [org.name, '0']) {
      const { text } = await root('GET', `/admin/audit/export?org=${log}`);
      assert.ok(!text.includes(person.name), log);
      assert.match(text, new RegExp(`erased user ${person.id}`));
      assert.equal((await root('GET', `/admin/audit/verify?from=beginning&org=${log}`)).body.ok, true);
    }
  });
});
