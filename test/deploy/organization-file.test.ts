import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { temporaryFolder } from '../support/server/db.ts';
import type { TestServer } from '../support/server/server.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import { lacksProgram } from '../support/services/foreign-tools.ts';

const FOLDER = 'deploy/organization-file';
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

describe('The example of an organization in Git', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await sharedServer();
  });
  const validate = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(
    JSON.parse(read('organization-file.schema.json')),
  );
  const guide = /```yaml\n(apiVersion: [\s\S]*?)```/.exec(readFileSync('docs/organization-file.md', 'utf8'))?.[1] ?? '';

  it('The schema accepts the example, the one of the guide, and what is exported', async () => {
    const exported = (await atrium.as('ann')('GET', '/orgs/acme/file?format=json&ids=true')).body;
    for (const [what, file] of Object.entries({
      example: parse(read('organization.yaml')),
      guide: parse(guide),
      exported,
    })) {
      assert.ok(validate(file), `${what}: ${JSON.stringify(validate.errors)}`);
    }
  });

  it('The schema rejects the keys and values that the server rejects', async () => {
    const head = { apiVersion: 'atrium/v1', kind: 'Organization', organization: 'acme' };
    const wrong = [
      { teams: [{ name: 'a', memberz: [] }] },
      { teams: [{ name: 'a', permission: 'owner' }] },
      { robots: [{ name: 'a', token: 'x' }] },
      { robots: [{ name: 'a', trust_rules: [{ name: 'a', claims: { sub: 5 } }] }] },
      { robots: [{ name: 'a', trust_rules: [{ name: 'a', limits: {} }] }] },
      { webhook: [] },
      { teams: { prune: true } },
      { teams: { prune: true, items: null } },
      { roles: { prune: false } },
      { webhooks: [{ name: 'a', url: 'https://a.example.com', secret: 'x' }] },
      { webhooks: [{ name: 'a', url: 'https://a.example.com', format: 'xml' }] },
      { assignments: [{ role: 'a', to: {} }] },
      { second_factor: {} },
      { token_policy: { max_days: 0 } },
    ];
    for (const part of wrong) {
      assert.ok(!validate({ ...head, ...part }), JSON.stringify(part));
      const { status } = await atrium.as('ann')('POST', '/orgs/acme/plan', { ...head, ...part });
      assert.equal(status, 422, JSON.stringify(part));
    }
  });

  it('The example can be planned', async () => {
    const { status, body, text } = await atrium.as('ann')('POST', '/orgs/acme/plan', parse(read('organization.yaml')));
    assert.equal(status, 200, text);
    assert.deepEqual(body.refusals, []);
  });

  it('The pipelines are YAML, plan what is proposed, and apply only what is merged', () => {
    const { jobs } = parse(read('.github/workflows/organization.yaml'));
    assert.match(jobs.plan.if, /pull_request/);
    assert.match(jobs.apply.if, /'push'/);
    const gitlab = parse(read('.gitlab-ci.yml'));
    assert.match(gitlab.plan.rules[0].if, /merge_request_event/);
    assert.match(gitlab.apply.rules[0].if, /CI_DEFAULT_BRANCH/);
    for (const job of [jobs.plan, gitlab.plan]) assert.doesNotMatch(JSON.stringify(job), /atrium apply/);
  });

  it('The comment shows the plan, gives names no meaning, and exits as the plan does', {
    skip: lacksProgram('bash', '--version'),
  }, () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'bin'));
    for (const [status, title] of [
      [0, /is as in the file/],
      [2, /changes the organization/],
      [1, /cannot be applied/],
    ] as const) {
      writeFileSync(join(folder, 'bin', 'atrium'), `#!/bin/sh\necho '+ teams <b>@all</b>'\nexit ${status}\n`);
      chmodSync(join(folder, 'bin', 'atrium'), 0o755);
      const env = { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` };
      const command = ['-c', `bash ${resolve(FOLDER, 'comment.sh')} x.yaml; echo "exit $?"`];
      const text = execFileSync('bash', command, { env, encoding: 'utf8' });
      assert.match(text, title);
      assert.match(text, /^ {4}\+ teams <b>@all<\/b>$/m);
      assert.match(text, new RegExp(`^exit ${status}$`, 'm'));
    }
  });
});
