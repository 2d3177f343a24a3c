import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { type KubePlace, kubeToken, openKubePlace } from '../../support/services/kubernetes.ts';

/**
 * What API servers of version 1.36 send, byte for byte: client-go leaves out what is empty, adds `?timeout=`, and sends
 * members that mean nothing to the receiver. USER, UID and TOKEN are filled in.
 */
const REVIEW =
  '{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{"creationTimestamp":null},"spec":';
const STATUS = ',"status":{"allowed":false}}';
const EXTRA =
  '"user":"USER","groups":["atrium:acme","system:authenticated"],"extra":{"atrium/token-id":["TOKEN"]},"uid":"UID"}';
const PAYLOADS: readonly (readonly [what: string, body: string, allowed: boolean | undefined])[] = [
  [
    'kubectl get pods -n shop',
    `{"resourceAttributes":{"namespace":"shop","verb":"list","version":"v1","resource":"pods"},${EXTRA}`,
    true,
  ],
  [
    'kubectl get pods -n shop -l app=web, with selectors',
    `{"resourceAttributes":{"namespace":"shop","verb":"list","version":"v1","resource":"pods","labelSelector":{"requirements":[{"key":"app","operator":"In","values":["web"]}]},"fieldSelector":{"requirements":[{"key":"spec.nodeName","operator":"In","values":["n1"]}]}},${EXTRA}`,
    true,
  ],
  [
    'kubectl apply of a deployment',
    `{"resourceAttributes":{"namespace":"shop","verb":"patch","group":"apps","version":"v1","resource":"deployments","name":"web"},${EXTRA}`,
    true,
  ],
  [
    'kubectl exec over SPDY',
    `{"resourceAttributes":{"namespace":"shop","verb":"create","version":"v1","resource":"pods","subresource":"exec","name":"web-0"},${EXTRA}`,
    true,
  ],
  [
    'kubectl exec over a websocket',
    `{"resourceAttributes":{"namespace":"shop","verb":"get","version":"v1","resource":"pods","subresource":"exec","name":"web-0"},${EXTRA}`,
    true,
  ],
  [
    'kubectl auth can-i, which has no version',
    `{"resourceAttributes":{"verb":"create","group":"authorization.k8s.io","version":"v1","resource":"selfsubjectaccessreviews"},${EXTRA}`,
    true,
  ],
  [
    'what kubectl auth can-i asks then, with all versions',
    `{"resourceAttributes":{"namespace":"shop","verb":"get","version":"*","resource":"pods"},${EXTRA}`,
    true,
  ],
  ['discovery', `{"nonResourceAttributes":{"path":"/apis/apps/v1","verb":"get"},${EXTRA}`, true],
  [
    'kubectl get ns shop',
    `{"resourceAttributes":{"namespace":"shop","verb":"get","version":"v1","resource":"namespaces","name":"shop"},${EXTRA}`,
    true,
  ],
  [
    'kubectl delete ns kube-system',
    `{"resourceAttributes":{"namespace":"kube-system","verb":"delete","version":"v1","resource":"namespaces","name":"kube-system"},${EXTRA}`,
    false,
  ],
  [
    'kubectl create token',
    `{"resourceAttributes":{"namespace":"shop","verb":"create","version":"v1","resource":"serviceaccounts","subresource":"token","name":"default"},${EXTRA}`,
    false,
  ],
  [
    'kubectl --as root',
    `{"resourceAttributes":{"verb":"impersonate","version":"v1","resource":"users","name":"root"},${EXTRA}`,
    false,
  ],
  ['the metrics of the API server', `{"nonResourceAttributes":{"path":"/metrics","verb":"get"},${EXTRA}`, false],
  [
    'a request that is impersonated, without UID and extra',
    '{"resourceAttributes":{"namespace":"shop","verb":"list","version":"v1","resource":"pods"},"user":"USER","groups":["system:authenticated"]}',
    true,
  ],
  [
    'a controller',
    '{"resourceAttributes":{"namespace":"shop","verb":"list","version":"v1","resource":"pods"},"user":"system:serviceaccount:kube-system:replicaset-controller","groups":["system:serviceaccounts","system:authenticated"],"uid":"0b1c7c0e"}',
    undefined,
  ],
];

describe('What real API servers send', () => {
  let atrium: TestServer;
  let place: KubePlace;
  let editor = { name: '', id: 0n, token: '' };
  before(async () => {
    atrium = await openTestServer();
    place = await openKubePlace(atrium);
    const { addMember, makePerson } = await import('../../support/world/people.ts');
    editor = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(place.org.team('Editors')), editor.id);
  });
  after(() => atrium.close());

  /** Exactly these bytes, as the API server of prod. */
  async function post(call: string, text: string) {
    return await fetch(`${atrium.url}/api/v1/clusters/${place.prod.id}/${call}?timeout=30s`, {
      method: 'POST',
      body: text,
      headers: {
        Authorization: `Bearer ${place.robotAccount.text}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, */*',
        'User-Agent': 'kube-apiserver/v1.36.3 (linux/amd64) kubernetes/0000000',
      },
    });
  }

  it('Token reviews and access reviews are answered as the webhook client of client-go expects', async () => {
    const token = await kubeToken(atrium.as(editor.name), place.prod.id);
    const audiences = `["https://kubernetes.default.svc.cluster.local","${atrium.url}/clusters/${place.uid}"]`;
    const head = '{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{"creationTimestamp":null}';
    const asked = await post(
      'token-review',
      `${head},"spec":{"token":"${token}","audiences":${audiences}},"status":{"user":{}}}\n`,
    );
    assert.equal(asked.status, 200);
    const { kind, apiVersion, status } = (await asked.json()) as { kind: string; apiVersion: string; status: never };
    assert.deepEqual([kind, apiVersion], ['TokenReview', 'authentication.k8s.io/v1']);
    const { user } = status as { user: { uid: string; extra: Record<string, string[]> } };
    const [id = ''] = user.extra['atrium/token-id'] ?? [];
    for (const [what, spec, allowed] of PAYLOADS) {
      const text = `${REVIEW}${spec}${STATUS}\n`
        .replace('USER', editor.name)
        .replace('UID', user.uid)
        .replace('TOKEN', id);
      const answer = await post('access-review', text);
      assert.equal(answer.status, 200, what);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
      const body = (await answer.json()) as { status: { allowed: boolean; reason?: string; denied?: boolean } };
      assert.equal(body.status.allowed, allowed ?? false, what);
      assert.equal(typeof body.status.reason, allowed === false ? 'string' : 'undefined', what);
      assert.equal(body.status.denied, undefined, what);
    }
  });

  it('The reason fits in one line of kubectl, and names nobody else', async () => {
    const { dan, owner } = place;
    const spec = `{"resourceAttributes":{"namespace":"shop","verb":"list","version":"v1","resource":"pods"},"user":"${dan.name}"}`;
    const { status } = (await (await post('access-review', `${REVIEW}${spec}${STATUS}`)).json()) as {
      status: { reason: string };
    };
    assert.match(status.reason, new RegExp(`^${dan.name} cannot view `));
    assert.ok(status.reason.length <= 1000 && !status.reason.includes('\n'));
    assert.doesNotMatch(status.reason, new RegExp(`${owner.name}|${editor.name}`));
  });
});
