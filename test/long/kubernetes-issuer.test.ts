import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { parseDocument } from 'yaml';
import { type Governed, openGoverned } from '../support/services/governed-kubernetes.ts';
import { kubeToken, tokenOf } from '../support/services/kubernetes.ts';
import { KUBERNETES_VERSION, lacksKubernetes } from '../support/services/kubernetes-build.ts';
import { type KubernetesProcess, runKubernetes } from '../support/services/kubernetes-process.ts';
import { lacks } from '../support/services/requirements.ts';

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps';
const skip = lacksKubernetes() || lacks('postgresql');

/** The file of the guide, for this server and its certificate. */
function authenticationConfig(issuer: string, uid: string, certificate: string): string {
  const [, guide = ''] =
    /```yaml\n([^`]*kind: AuthenticationConfiguration[^`]*)```/.exec(readFileSync('docs/kubernetes.md', 'utf8')) ?? [];
  const file = parseDocument(guide.replaceAll('https://atrium.example.com', issuer).replace('UID', uid));
  file.setIn(['jwt', 0, 'issuer', 'certificateAuthority'], certificate);
  return file.toString({ lineWidth: 0 });
}

describe(`A real API server ${KUBERNETES_VERSION} that verifies tokens alone`, { skip }, () => {
  let governed: Governed;
  let kube: KubernetesProcess;
  let owner = '';
  let dan = '';
  before(async () => {
    governed = await openGoverned();
    const { place, relay, uid } = governed;
    [owner, dan] = [place.owner.name, place.dan.name];
    const { flags, texts } = await governed.files();
    kube = await runKubernetes({
      flags: [
        ...flags.filter((flag) => flag.startsWith('--authorization-config=')),
        '--authentication-config={folder}/authentication.yaml',
      ],
      files: { ...texts, 'authentication.yaml': authenticationConfig(relay.url, uid, relay.ca ?? '') },
      paths: '/etc/kubernetes/atrium',
    });
  });
  after(async () => {
    kube?.stop();
    await governed?.close();
  });
  afterEach(() => governed.clear());

  const status = async (token: string) => (await kube.call('GET', CONFIGMAPS, undefined, token)).status;

  it('knows users, their UID and their credential from the token', async () => {
    const who = await kube.kubectl(await governed.tokenOf(owner), 'auth', 'whoami', '-o', 'json');
    assert.equal(who.code, 0, who.stderr);
    const { username, uid, extra } = JSON.parse(who.stdout).status.userInfo;
    assert.deepEqual([username, uid], [owner, `user:${governed.place.owner.id}`]);
    assert.match(extra['atrium/token-id'][0], /^\d+$/);
    assert.equal(await status(await governed.tokenOf(owner)), 200);
  });

  it('accepts no token of another cluster, no other token of Atrium, and none that was changed', async () => {
    const { atrium, place } = governed;
    const token = await governed.tokenOf(owner);
    const [header, payload = '', signature] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const forged = Buffer.from(JSON.stringify({ ...claims, preferred_username: 'admin' })).toString('base64url');
    const others = [
      await kubeToken(atrium.as(owner), place.staging.id),
      atrium.world.users[owner]?.token ?? '',
      `${header}.${forged}.${signature}`,
    ];
    for (const other of others) assert.equal(await status(other), 401);
  });

  it('goes on asking whether a request is allowed, and a token that has ended may do nothing', async () => {
    const { atrium, place } = governed;
    const given = await governed.give();
    const credential = await tokenOf(atrium, dan, { scopes: ['kube'] });
    const token = await kubeToken(credential.call, place.prod.id);
    assert.equal(await status(token), 200);
    await governed.take(given);
    assert.equal(await status(token), 403);
    await governed.give();
    assert.equal(await status(token), 200);
    await atrium.instance.identity.tokens.revoke(credential.id);
    const { status: ended, body } = await kube.call('GET', CONFIGMAPS, undefined, token);
    assert.equal(ended, 403);
    assert.match(body.message, new RegExp(`the credential of ${dan} has ended`));
  });

  it('knows users while Atrium cannot be reached', async () => {
    const token = await governed.tokenOf(owner);
    assert.equal(await status(token), 200);
    await governed.kill();
    // The owner is known, and RBAC has nothing for the owner: the API server answers that it could not find out.
    assert.equal(await status(token), 500);
    await governed.revive();
    assert.equal(await status(token), 200);
  });
});
