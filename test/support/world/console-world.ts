import assert from 'node:assert/strict';
import { sql } from '../../../src/db/db.ts';
import { resourceIds } from './authz.ts';
import type { Ids } from './console-pages.ts';
import { applicationId, binding, openMarketplace, type TestMarketplace } from './marketplace.ts';

export interface ConsoleWorld {
  readonly atrium: TestMarketplace;
  readonly ids: Ids;
}

/** What people may call things, and what must stay text of one line. */
export const HARD_NAMES: readonly string[] = [
  '<img src=x onerror="document.title=1"><b>bold</b>',
  'אשכול הייצור \u202Egnikaerb',
  'unbreakable'.repeat(20),
];

const CLUSTERS: readonly (readonly [name: string, provider: string, nodes: number, phase: string])[] = [
  ['billing', 'EKS', 9, 'Active'],
  ['checkout', 'GKE', 6, 'Active'],
  ['search', 'AKS', 4, 'Active'],
  ['reporting', 'EKS', 3, 'Inactive'],
  ['edge-paris', 'Generic', 1, 'NotReady'],
];
const DAY_MS = 86_400_000;
const SET = 'eu';
const SILENT = sql('test.silence', `update cluster set heartbeat_at = now() - interval '2 days' where name = $1`);
const SUBSCRIPTION = sql('test.subscription', 'select id from subscription order by id limit 1');
/** A cloud credential, as its page shows it. */
const CREDENTIAL = { name: 'minio', type: 'S3', endpoint: 'https://storage.example' };
const CHART = { name: 'redis', version: 'v1.2.3', releaseName: 'cache', namespace: 'data' };
const SOURCE = { apiGroup: 'source.toolkit.fluxcd.io', kind: 'HelmRepository', namespace: 'kubeops', name: 'charts' };

/** A server with something to see on every page: the demo world, and what its people do on an ordinary day. */
export async function openConsoleWorld(): Promise<ConsoleWorld> {
  const atrium = await openMarketplace();
  const did = async (name: string, method: string, path: string, body?: unknown) => {
    const answer = await atrium.as(name)(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  for (const [index, [name, provider, nodeCount, phase]] of CLUSTERS.entries()) {
    const uid = `5f0c2a10-0000-4000-8000-00000000000${index}`;
    const fields = {
      name,
      uid,
      provider,
      nodeCount,
      orchestratorVersion: 'v1.33.4',
      location: 'eu-central',
      clusterSetName: SET,
    };
    const { id } = await did('ann', 'POST', '/orgs/acme/clusters', fields);
    await did('ann', 'POST', `/clusters/${id}/heartbeat`, { phase });
  }
  await did('ann', 'POST', `/clusters/${atrium.world.clusters.prod?.id}/heartbeat`, { phase: 'Active' });
  await did('ann', 'POST', `/clusters/${atrium.world.clusters.staging?.id}/heartbeat`, { phase: 'Active' });
  await atrium.instance.db.query(SILENT, ['search']);

  await did('root', 'POST', '/admin/providers', {
    name: 'company',
    display_name: 'Company',
    issuer: 'https://login.example.com/realms/company',
    client_id: 'atrium',
    group_claim: 'groups',
    group_mappings: [
      { group: 'ops', organization: 'acme', team: 'operators' },
      { group: 'former', organization: 'acme', team: 'No such team' },
    ],
  });

  const { teams } = atrium.world.orgs.acme ?? assert.fail('no acme');
  const { id: tunerId } = await did('ann', 'POST', '/authz/roles?org=acme', {
    name: 'tuner',
    description: 'Changes the settings of clusters.',
    permissions: [{ namespace: 'cluster_mgmt', action: 'reconfigure clusters' }],
    teamIDs: [Number(teams.operators)],
  });
  const payments = { name: 'payments', description: 'Owns billing and checkout.', permission: 'none' };
  const { id: paymentsId } = await did('ann', 'POST', '/orgs/acme/teams', payments);
  for (const name of ['bob', 'cat', 'dan']) await did('ann', 'PUT', `/teams/${paymentsId}/members/${name}`);
  const deploy = { name: 'deploy', description: 'Rolls out releases.' };
  const { id: deployId } = await did('ann', 'POST', '/orgs/acme/robots', deploy);
  const prod = { type: 'cluster', name: 'prod' };
  const soon = new Date(Date.now() + 2 * DAY_MS).toISOString();
  for (const assignment of [
    { to: { type: 'user', name: 'cat' }, on: prod, expires_at: soon, reason: 'On call this week' },
    { to: { type: 'robot_ac', id: deployId }, on: prod, reason: 'Rolls out releases' },
    { to: { type: 'team', id: paymentsId }, on: { type: 'cluster_set', name: SET } },
    { to: { type: 'team', id: Number(teams.operators) }, on: prod },
  ]) {
    await did('ann', 'POST', '/authz/assignments?org=acme', { role: { id: tunerId }, ...assignment });
  }
  const invited = { email: 'zoe@acme.example', team_ids: [Number(paymentsId)], message: 'Welcome to payments.' };
  const { link } = await did('ann', 'POST', '/orgs/acme/invitations?show_link=true', invited);
  const ends = new Date(Date.now() + 200 * DAY_MS).toISOString();
  await did('ann', 'POST', '/orgs/acme/contracts', { name: 'support', product: 'platform', end: ends });
  await did('ann', 'POST', '/authz/roles?org=acme', {
    name: 'auditor',
    description: 'Reads who changed what.',
    permissions: [{ namespace: 'org_mgmt', action: 'view audit log' }],
    teamIDs: [Number(paymentsId)],
  });
  const { id: reviewId } = await did('ann', 'POST', '/authz/reviews?org=acme', {
    question: { kind: 'team', team: { name: 'operators' } },
  });
  // Before what happens next, which cannot be sent.
  const receiver = { url: 'https://hooks.example.invalid/atrium' };
  const { id: webhookId } = await did('ann', 'POST', '/orgs/acme/webhooks', receiver);
  const { id: siteWebhookId } = await did('root', 'POST', '/admin/webhooks', receiver);
  const { id: requestId } = await did('dan', 'POST', '/authz/requests?org=acme', {
    relation: 'can_view_members',
    object: { type: 'organization', name: 'acme' },
    for: 'PT4H',
    reason: 'INC-1234',
  });
  await did('bob', 'PUT', '/user/following/cat');
  await did('ann', 'POST', '/user/credentials', CREDENTIAL);
  await did('ann', 'POST', '/user/deploy/orders', { spec: { items: [{ chart: { ...CHART, sourceRef: SOURCE } }] } });

  const put = { eventType: 'PUT', applicationId: applicationId('one'), provisioningState: 'Accepted' };
  await atrium.notify('B', { ...put, eventTime: '2026-03-02T10:20:00Z' });
  await atrium.notify('A', binding('unknown'));
  const { items } = await did('root', 'GET', '/admin/marketplace/deliveries');
  const [subscription] = await atrium.instance.db.query(SUBSCRIPTION);
  return {
    atrium,
    ids: {
      ...resourceIds(atrium.world),
      roles: String(atrium.world.orgs.acme?.roles['cluster-operator']),
      teams: String(teams.operators),
      deliveries: String(items[0].id),
      subscriptions: String(subscription?.id),
      installers: String(atrium.demo.installers.cloudCBound),
      providers: 'company',
      credentials: 'minio',
      requests: String(requestId),
      reviews: String(reviewId),
      webhooks: String(webhookId),
      'admin/webhooks': String(siteWebhookId),
      invitations: String(link).split('/').at(-1) ?? '',
    },
  };
}

/** Names that try to break the pages, on objects of acme. */
export async function addHardNames({ atrium }: ConsoleWorld): Promise<void> {
  for (const [index, text] of HARD_NAMES.entries()) {
    const uid = `5f0c2a10-0000-4000-8000-0000000001${String(index).padStart(2, '0')}`;
    const sent = [
      ['POST', '/orgs/acme/clusters', { name: `hard-${index}`, displayName: text, uid, provider: 'AKS' }],
      ['POST', '/orgs/acme/robots', { name: `hard-${index}`, description: text }],
      ['POST', '/authz/roles?org=acme', { name: text.slice(0, 100), description: text, permissions: [], teamIDs: [] }],
      ['POST', '/orgs/acme/teams', { name: `hard-${index}`, description: text, permission: 'read' }],
    ] as const;
    for (const [method, path, body] of sent) {
      const answer = await atrium.as('ann')(method, path, body);
      assert.equal(answer.status, 201, `${path}: ${answer.text}`);
    }
  }
}
