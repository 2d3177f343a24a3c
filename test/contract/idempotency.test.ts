import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { KEYED } from '../../client/keyed.gen.ts';
import { type Deployment, sharedServer } from '../support/server/shared-server.ts';

/** Every POST that creates nothing of its own, and why a client can repeat it without a key. */
const CREATES_NOTHING: Readonly<Record<string, string>> = {
  '/api/v1/admin/marketplace/deliveries/redeliver': 'acts on deliveries that exist, at most once each',
  '/api/v1/admin/users/:username/view-as': 'records what happens; twice is what happened',
  '/api/v1/admin/marketplace/deliveries/:id/redeliver': 'acts on a delivery that exists, at most once',
  '/api/v1/admin/marketplace/installers/:id/link': 'a link grants access for a day, and another one changes nothing',
  '/api/v1/admin/marketplace/installers/:id/revoke': 'links that are revoked stay revoked',
  '/api/v1/admin/providers/:provider/preview': 'only reads',
  '/api/v1/admin/providers/:provider/test': 'only asks the provider',
  '/api/v1/authz/check': 'only reads',
  '/api/v1/authz/objects/allowed-permissions': 'only reads',
  '/api/v1/authz/matrix': 'only reads',
  '/api/v1/authz/requests/:id/acknowledge': 'what was acknowledged stays so',
  '/api/v1/authz/requests/:id/approve': 'what was decided stays decided',
  '/api/v1/authz/requests/:id/cancel': 'what was cancelled stays cancelled',
  '/api/v1/authz/requests/:id/deny': 'what was decided stays decided',
  '/api/v1/authz/requests/:id/end': 'what has ended stays ended',
  '/api/v1/authz/preview': 'only reads',
  '/api/v1/authz/roles/preview': 'only reads',
  '/api/v1/authz/reviews/:id/items/:item/keep': 'what is kept stays kept',
  '/api/v1/authz/reviews/:id/items/:item/end': 'what has ended stays ended, and the second request says so',
  '/api/v1/authz/reviews/:id/close': 'what is closed stays closed, and the second request says so',
  '/api/v1/clustersv2/:owner/check': 'only reads',
  '/api/v1/clusters/:id/access-review': 'only reads',
  '/api/v1/clusters/:id/kube-token': 'stores nothing: another token for ten minutes changes nothing',
  '/api/v1/clusters/:id/token-review': 'only reads',
  '/api/v1/clusters/:id/heartbeat': 'overwrites the state of a cluster; the next heartbeat does so again',
  '/api/v1/invitations/:code/accept': 'an invitation is accepted once, and its caller may not be known',
  '/api/v1/orgs/:org/invitations/:id/resend': 'replaces the code; only the last answer counts',
  '/api/v1/orgs/:org/plan': 'only reads',
  '/api/v1/robots/:id/trust_rules/explain': 'only reads',
  '/api/v1/user/clouds/:cloud/buckets': 'only reads',
  '/api/v1/orgs/:org/webhooks/:id/test': 'sends a test, which stores nothing',
  '/api/v1/orgs/:org/webhooks/:id/redeliver': 'receivers hear of every event at least once, and recognize it',
  '/api/v1/orgs/:org/webhooks/:id/deliveries/:delivery/redeliver':
    'receivers hear of every event at least once, and recognize it',
  '/api/v1/admin/webhooks/:id/test': 'sends a test, which stores nothing',
  '/api/v1/admin/webhooks/:id/redeliver': 'receivers hear of every event at least once, and recognize it',
  '/api/v1/admin/webhooks/:id/deliveries/:delivery/redeliver':
    'receivers hear of every event at least once, and recognize it',
  '/api/v1/user/device': 'a request that nobody approves expires, and its caller is not known',
  '/api/v1/user/device/:code': 'what was decided stays decided',
  '/api/v1/user/device/token': 'a program begins again if it lost the answer',
  '/api/v1/user/link_request': 'an account that is linked stays linked',
  '/api/v1/user/linked_accounts': 'only says where to sign in',
  '/api/v1/user/password/forgot': 'an address gets one email in ten minutes',
  '/api/v1/user/password/reset': 'its code works once, and its caller is not known',
  '/api/v1/user/signup': 'an address gets one email in ten minutes',
  '/api/v1/user/signup/confirm': 'its code works once, and its caller is not known before',
  '/api/v1/user/signout': 'a session that has ended stays ended',
  '/api/v1/user/factors/passkeys': 'its challenge works once',
  '/api/v1/user/factors/passkeys/options': 'stores nothing',
  '/api/v1/user/factors/recovery_codes': 'replaces what was there; only the last answer counts',
  '/api/v1/user/factors/totp': 'stores nothing',
  '/api/v1/user/reauthenticate': 'proving oneself twice is what happened',
  '/api/v1/user/reauthenticate/options': 'stores nothing',
  '/api/v1/user/signin/factor': 'its ticket works once, and its caller is not known before',
  '/api/v1/user/signin/passkey': 'its challenge works once, and its caller is not known before',
  '/api/v1/user/signin/passkey/options': 'stores nothing',
  '/api/v1/user/signin': 'a session that nobody uses expires, and its caller is not known before',
  '/api/v1/user/validate/email': 'only reads',
  '/api/v1/user/validate/orgname': 'only reads',
  '/api/v1/user/validate/username': 'only reads',
  '/marketplace/api/v1/marketplaces/cloudA/notification/resource': 'deliveries have a natural key',
  '/marketplace/api/v1/marketplaces/cloudB/notification/resource': 'deliveries have a natural key',
  '/marketplace/api/v1/marketplaces/cloudC/notification/resource': 'deliveries have a natural key',
};
/** Another token for ten minutes changes nothing, and nothing is stored. */
const KUBE_TOKEN = '/api/v1/clusters/:id/kube-token';
/** What creates something under a code that works once: without a caller, there is no place for a key. */
const CREATES_BY_CODE: ReadonlySet<string> = new Set([
  '/api/v1/invitations/:code/accept',
  '/api/v1/user/signup/confirm',
]);
const DEPLOYMENTS: readonly Deployment[] = ['standard', 'hosted', 'marketplace'];

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly headers?: object }>>;
  readonly 'x-errors': readonly number[];
}

describe('Routes with an idempotency key', () => {
  it('Every POST either honors an Idempotency-Key or is known to create nothing', async () => {
    const free = new Set<string>();
    for (const deployment of DEPLOYMENTS) {
      const { instance } = await sharedServer(deployment);
      // The web page answers every method on some paths.
      for (const { method, path, creates, schema } of instance.routes.filter((route) => !route.schema.hide)) {
        if (method !== 'POST') assert.ok(!creates, `${method} ${path} can be repeated as it is`);
        else if (!creates) {
          assert.ok(path in CREATES_NOTHING, `POST ${path} must honor an Idempotency-Key, or say why it need not`);
          const isCreated = '201' in (schema.response ?? {});
          assert.equal(isCreated, CREATES_BY_CODE.has(path) || path === KUBE_TOKEN, `POST ${path} answers 201`);
          free.add(path);
        }
      }
    }
    assert.deepEqual([...free].sort(), Object.keys(CREATES_NOTHING).sort());
  });

  it('OpenAPI and the client name exactly the operations that honor an Idempotency-Key', async () => {
    const servers = await Promise.all(DEPLOYMENTS.map((deployment) => sharedServer(deployment)));
    const creating = servers.flatMap(({ instance }) =>
      instance.routes.filter(({ creates, schema }) => creates && !schema.hide),
    );
    const paths = creating.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    const names = [...new Set(paths)].sort();
    const document = JSON.parse(readFileSync('openapi/atrium.json', 'utf8')) as {
      paths: Record<string, Record<string, Operation>>;
    };
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { parameters = [], responses, 'x-errors': errors }]) => {
        if (!parameters.some((one) => one.in === 'header' && one.name === 'Idempotency-Key')) return [];
        for (const status of [400, 409, 422]) assert.ok(errors.includes(status), `${path} ${status}`);
        const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
        for (const [, answer] of good) assert.ok('Idempotency-Replayed' in (answer.headers ?? {}), path);
        return [`${method.toUpperCase()} ${path}`];
      }),
    );
    assert.deepEqual(described.sort(), names);
    assert.deepEqual([...KEYED].map((name) => name.replace(' ', ' /api/v1')).sort(), names);
  });
});
