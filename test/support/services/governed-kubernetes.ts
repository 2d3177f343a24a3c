import assert from 'node:assert/strict';
import { parseAllDocuments, stringify } from 'yaml';
import { cliAs } from '../server/cli.ts';
import { openPair } from '../server/processes.ts';
import { assign, openPlace } from '../world/assignments.ts';
import { kubeToken } from './kubernetes.ts';
import { ISSUER, runKubernetes } from './kubernetes-process.ts';
import { openRelay } from './relay.ts';

export type Governed = Awaited<ReturnType<typeof openGoverned>>;
export type FailurePolicy = 'NoOpinion' | 'Deny';

/** Where the guide puts the files of an API server. */
const FOLDER = '/etc/kubernetes/atrium';
const NOWHERE = 'http://127.0.0.1:9';

/**
 * Two servers with one database behind one address with TLS, and an organization whose cluster `prod` is governed by its
 * API server. The API servers ask the second server, which can be killed; tests change things at the first one.
 */
export async function openGoverned() {
  const relay = await openRelay(NOWHERE, 'tls');
  const { atrium, open } = await openPair({ RATE_LIMIT: '0', BASE_URL: relay.url });
  const place = await openPlace(atrium);
  const set = await place.call('PATCH', `/clusters/${place.prod.id}`, { kubernetes: { auth: 'webhook' } });
  assert.equal(set.status, 200, set.text);
  let asked = await open();
  relay.leadTo(asked.url);
  const on = { type: 'cluster', id: place.prod.id };
  const { owner, dan } = place;
  return {
    atrium,
    place,
    relay,
    uid: set.body.uid as string,
    on,
    tokenOf,
    give,
    take,
    clear,
    startApiServer,
    files,
    kill,
    revive,
    close,
  };

  /** A token for the cluster. */
  function tokenOf(name: string): Promise<string> {
    return kubeToken(atrium.as(name), place.prod.id);
  }

  /** Lets dan view the cluster and connect to it. */
  async function give(more: object = {}): Promise<number> {
    return (await assign(place, place.operator.id, { type: 'user', id: Number(dan.id) }, on, more)).id;
  }

  async function take(id: number): Promise<void> {
    assert.equal((await place.call('DELETE', place.at(id))).status, 204);
  }

  /** Takes everything that dan was given. */
  async function clear(): Promise<void> {
    const { body } = await place.call('GET', `${place.path}&to=user:${dan.id}`);
    for (const { id } of body as { id: number }[]) await place.call('DELETE', place.at(id));
  }

  /** The flags and files of `atrium kube server-config`, as an operator would use them. */
  async function files(failurePolicy: FailurePolicy = 'NoOpinion') {
    const cli = cliAs(atrium, owner.name, { ATRIUM_ORG: place.org.name });
    const { code, stdout, stderr } = await cli('kube server-config prod');
    assert.equal(code, 0, stderr);
    const [tokens, access, authorization] = parseAllDocuments(stdout).map((one) => one.toJS());
    const [, webhook] = authorization.authorizers;
    webhook.webhook.failurePolicy = failurePolicy;
    const flags = [...stdout.matchAll(/^# (--\S+=\S+)$/gm)].map(([, flag = '']) =>
      flag.replaceAll(`${FOLDER}/`, '{folder}/').replace('ISSUER', ISSUER),
    );
    assert.equal(flags.length, 5);
    const texts = {
      'token-review.yaml': withCertificate(tokens, relay.ca),
      'access-review.yaml': withCertificate(access, relay.ca),
      'authorization.yaml': stringify(authorization),
    };
    return { flags, texts };
  }

  async function startApiServer(failurePolicy?: FailurePolicy) {
    const { flags, texts } = await files(failurePolicy);
    // One file names the other by its path, which is known once the folder is.
    return await runKubernetes({ flags, files: texts, paths: FOLDER });
  }

  /** Of the server that the API servers ask. */
  async function kill(): Promise<void> {
    await asked.kill();
  }

  async function revive(): Promise<void> {
    asked = await open();
    relay.leadTo(asked.url);
  }

  async function close(): Promise<void> {
    await relay.cut();
    await asked.kill();
    await atrium.close();
  }
}

/** As the guide says for a certificate that the machine does not trust. */
function withCertificate(config: { clusters: { cluster: object }[] }, certificate = ''): string {
  const data = Buffer.from(certificate).toString('base64');
  for (const { cluster } of config.clusters) Object.assign(cluster, { 'certificate-authority-data': data });
  return stringify(config, { lineWidth: 0 });
}
