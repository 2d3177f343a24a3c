import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { type Cli, cliAs } from '../support/server/cli.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { CERTIFICATE, review, sar } from '../support/services/kubernetes.ts';
import { callWith } from '../support/world/robots.ts';

const SERVER = 'https://prod.example.com:6443';

describe('atrium kube', () => {
  let atrium: TestServer;
  let ann: Cli;
  let prod = 0;
  let uid = '';
  const call: TestServer['call'] = (...args) => atrium.as('ann')(...args);
  before(async () => {
    atrium = await openTestServer();
    ann = cliAs(atrium, 'ann');
    const { body } = await call('GET', '/orgs/acme/clusters?name=prod');
    ({ id: prod, uid } = body[0]);
    const certificates = join(ann.home, 'ca.crt');
    mkdirSync(ann.home, { recursive: true });
    writeFileSync(certificates, CERTIFICATE);
    await said(ann, [
      'cluster',
      'edit',
      'prod',
      '--endpoint',
      SERVER,
      '--ca-bundle',
      certificates,
      '--kubernetes',
      'webhook',
    ]);
  });
  after(() => atrium.close());

  async function said(cli: Cli, line: string | string[], code = 0): Promise<string> {
    const { code: exit, stdout, stderr } = await cli(line);
    assert.equal(exit, code, stdout + stderr);
    return stdout || stderr;
  }

  it('config adds a context to the kubeconfig, keeps what is there, and never overwrites another server', async () => {
    const path = join(ann.home, '.kube', 'config');
    mkdirSync(join(ann.home, '.kube'));
    writeFileSync(
      path,
      '# mine\napiVersion: v1\nkind: Config\ncurrent-context: old\nclusters:\n  - {name: old, cluster: {server: "https://old"}}\n',
    );
    const answer = await said(ann, 'kube config prod');
    assert.match(answer, /added the context atrium-acme-prod/);
    const text = readFileSync(path, 'utf8');
    assert.match(text, /^# mine/);
    const file = parse(text);
    assert.equal(file['current-context'], 'old');
    assert.deepEqual(
      file.clusters.map(({ name }: { name: string }) => name),
      ['old', 'atrium-acme-prod'],
    );
    assert.deepEqual(file.users[0].user.exec.args, ['kube', 'token', `--cluster=${prod}`]);
    assert.equal(statSync(path).mode & 0o077, 0);
    assert.doesNotMatch(text, /atr_/);
    await said(ann, 'kube config prod');
    assert.equal(parse(readFileSync(path, 'utf8')).clusters.length, 2);
    writeFileSync(path, text.replace(SERVER, 'https://elsewhere'));
    assert.match(
      await said(ann, 'kube config prod', 1),
      /has a cluster atrium-acme-prod at https:\/\/elsewhere already/,
    );
    const printed = parse(await said(ann, 'kube config prod --print'));
    assert.equal(printed.clusters[0].cluster.server, SERVER);
  });

  it('token prints an ExecCredential for kubectl', async () => {
    const credential = JSON.parse(await said(ann, `kube token --cluster=${prod}`));
    assert.deepEqual([credential.apiVersion, credential.kind], ['client.authentication.k8s.io/v1', 'ExecCredential']);
    assert.ok(Date.parse(credential.status.expirationTimestamp) > Date.now());
    assert.equal(credential.status.token.split('.').length, 3);
    assert.match(await said(ann, 'kube token', 2), /--cluster is required/);
    await said(cliAs(atrium, 'eve', { ATRIUM_ORG: 'globex' }), `kube token --cluster=${prod}`, 1);
  });

  it('server-config prints files and flags that work, and again with another token', async () => {
    const text = await said(ann, 'kube server-config prod');
    const [tokens, access, authorizers] = parseAllDocuments(text).map((one) => one.toJS());
    assert.equal(tokens.clusters[0].cluster.server, `${atrium.url}/api/v1/clusters/${prod}/token-review`);
    assert.equal(access.clusters[0].cluster.server, `${atrium.url}/api/v1/clusters/${prod}/access-review`);
    const [, webhook] = authorizers.authorizers;
    assert.deepEqual(
      [webhook.webhook.failurePolicy, webhook.webhook.cacheAuthorizedRequests, webhook.webhook.matchConditions.length],
      ['NoOpinion', false, 1],
    );
    assert.match(text, new RegExp(`--api-audiences=ISSUER,${atrium.url}/clusters/${uid}`));
    const robot = callWith(atrium, tokens.users[0].user.token);
    const ask = { user: 'ann', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'shop' } };
    const allowed = await robot('POST', `/clusters/${prod}/access-review`, sar(ask));
    assert.deepEqual([allowed.status, allowed.body?.status], [200, { allowed: true }], allowed.text);
    const credential = JSON.parse(await said(ann, `kube token --cluster=${prod}`));
    const audiences = [`${atrium.url}/clusters/${uid}`];
    const who = await robot(
      'POST',
      `/clusters/${prod}/token-review`,
      review({ token: credential.status.token, audiences }),
    );
    assert.equal(who.body.status.user.username, 'ann');
    assert.equal((await robot('GET', '/orgs/acme/clusters')).status, 403);
    const again = parseAllDocuments(await said(ann, 'kube server-config prod'))[0]?.toJS();
    assert.notEqual(again.users[0].user.token, tokens.users[0].user.token);
    const { body: robots } = await call('GET', '/orgs/acme/robots?name=kube-prod');
    const { body: list } = await call('GET', `/robots/${robots[0].id}/tokens`);
    const [old] = (list as { expires_at: string | null; replaced_by?: number }[]).filter(({ replaced_by: by }) => by);
    const minutes = (Date.parse(old?.expires_at ?? '') - Date.now()) / 60_000;
    assert.ok(minutes > 55 && minutes <= 60, `${minutes} minutes`);
    assert.equal((await robot('POST', `/clusters/${prod}/access-review`, sar(ask))).status, 200);
    await said(cliAs(atrium, 'cat'), 'kube server-config prod', 1);
  });

  it('server-config writes the same files into a folder, and says what else is needed', async () => {
    const folder = join(ann.home, 'atrium');
    const { stdout, stderr } = await ann(['kube', 'server-config', 'prod', '--into', folder]);
    assert.match(stdout, /^# Wrote token-review.yaml, access-review.yaml, authorization.yaml into /);
    assert.match(stdout, /^--authorization-config=\/etc\/kubernetes\/atrium\/authorization.yaml$/m);
    for (const name of ['token-review.yaml', 'access-review.yaml', 'authorization.yaml']) {
      assert.equal(statSync(join(folder, name)).mode & 0o077, 0, name);
    }
    const [tokens] = parseAllDocuments(await said(ann, 'kube server-config prod')).map((one) => one.toJS());
    const written = parse(readFileSync(join(folder, 'token-review.yaml'), 'utf8'));
    assert.deepEqual(written.clusters, tokens.clusters);
    const robot = callWith(atrium, written.users[0].user.token);
    assert.equal((await robot('POST', `/clusters/${prod}/token-review`, review({ token: 'x' }))).status, 200);
    assert.match(stderr, /is not https/);
    assert.doesNotMatch(stderr, /cluster edit/);
    const staging = await ann('kube server-config staging');
    assert.match(staging.stderr, /let it: atrium cluster edit staging --kubernetes webhook/);
    const agent = await ann('kube agent prod --image x');
    assert.match(agent.stderr, /let it: atrium cluster edit prod --kubernetes agent/);
  });

  it('server-config writes its secrets into new files, whatever was there, and makes no token if it cannot', async () => {
    const folder = join(ann.home, 'shared');
    mkdirSync(folder);
    const [elsewhere, open] = [join(ann.home, 'elsewhere'), join(folder, 'access-review.yaml')];
    writeFileSync(elsewhere, 'mine');
    symlinkSync(elsewhere, join(folder, 'token-review.yaml'));
    writeFileSync(open, 'old');
    chmodSync(open, 0o666);
    const { ino } = statSync(open);
    await said(ann, ['kube', 'server-config', 'prod', '--into', folder]);
    assert.equal(readFileSync(elsewhere, 'utf8'), 'mine');
    assert.equal(statSync(open).mode & 0o077, 0);
    assert.notEqual(statSync(open).ino, ino);
    assert.deepEqual(readdirSync(folder).sort(), ['access-review.yaml', 'authorization.yaml', 'token-review.yaml']);
    const robotId = (await call('GET', '/orgs/acme/robots?name=kube-prod')).body[0].id;
    const tokensOf = async () =>
      (await call('GET', `/robots/${robotId}/tokens`)).body.map(({ id }: { id: number }) => id);
    const before = await tokensOf();
    assert.match(
      await said(ann, ['kube', 'server-config', 'prod', '--into', elsewhere], 1),
      /cannot write .*elsewhere: E/,
    );
    assert.deepEqual(await tokensOf(), before);
    const written = parse(readFileSync(join(folder, 'token-review.yaml'), 'utf8'));
    const robot = callWith(atrium, written.users[0].user.token);
    assert.equal((await robot('POST', `/clusters/${prod}/token-review`, review({ token: 'x' }))).status, 200);
  });

  it('agent prints a manifest for its image, and cluster edit says what users are called there', async () => {
    assert.match(await said(ann, 'kube agent prod', 2), /--image is required/);
    assert.match(await said(ann, 'kube agent prod --image x --endpoint http://prod', 2), /https URL/);
    const line = 'kube agent prod --image registry.example.com/atrium:0.9.0 --endpoint https://prod.example.com';
    const documents = parseAllDocuments(await said(ann, line)).map((one) => one.toJS());
    const deployment = documents.find(({ kind }) => kind === 'Deployment');
    const [container] = deployment.spec.template.spec.containers;
    assert.equal(container.image, 'registry.example.com/atrium:0.9.0');
    assert.ok(container.args.includes('--endpoint=https://prod.example.com'));
    assert.ok(container.args.includes(`--cluster=${prod}`));
    assert.doesNotMatch(JSON.stringify(container), /atr_/);
    const granted = documents.filter(({ kind }) => kind.endsWith('Role')).flatMap(({ rules }) => rules);
    assert.ok(granted.every(({ verbs, resources }) => !verbs.includes('*') && !resources.includes('*')));
    await said(ann, 'cluster edit prod --kubernetes agent --kubernetes-username email --kubernetes-prefix oidc:');
    const { body } = await call('GET', `/clusters/${prod}`);
    assert.deepEqual(body.kubernetes, { auth: 'agent', username: 'email', prefix: 'oidc:' });
    assert.match(await said(ann, 'cluster edit prod --kubernetes-username name', 2), /login/);
    await said(cliAs(atrium, 'cat'), line, 1);
  });
});
