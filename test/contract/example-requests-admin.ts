import { type NamedRequest, noteId, ORG, PAGE } from './example-requests.ts';
import { TRUST_REQUESTS } from './example-requests-trust.ts';

const APPLICATION =
  '/subscriptions/2f9b1a34-6f0d-4c7e-9a51-0d7c2b8e4f11/resourceGroups/rg-customer/providers/Microsoft.Solutions/applications/shop';
const HEARTBEAT = { phase: 'Active', nodeCount: 3, orchestratorVersion: 'v1.33.4' };

/** The same for what an organization owns, and for what only site administrators and marketplaces call. */
export const ADMIN_REQUESTS: readonly NamedRequest[] = [
  [
    'createProvider',
    () => ({
      as: 'root',
      body: {
        name: 'company',
        display_name: 'Company',
        issuer: 'https://login.example.com/realms/company',
        client_id: 'atrium',
        client_secret: 'the secret of the client',
        allowed_domains: ['example.com'],
        create_accounts: true,
        group_claim: 'groups',
        group_mappings: [{ group: 'ops', organization: 'acme', team: 'operators' }],
      },
    }),
  ],
  ['listProviders', () => ({ as: 'root' })],
  ['getProvider', () => ({ as: 'root', path: { provider: 'company' } })],
  ['updateProvider', () => ({ as: 'root', path: { provider: 'company' }, body: { linking: 'automatic' } })],
  [
    'previewProviderGroups',
    () => ({ as: 'root', path: { provider: 'company' }, body: { groups: ['ops', 'staff'], username: 'cat' } }),
  ],
  ['deleteProvider', () => ({ as: 'root', path: { provider: 'company' } })],
  ['listMyClusters', () => ({ as: 'ann', query: { all: true, ...PAGE } })],
  ['listOrganizationClusters', () => ({ as: 'ann', path: ORG, query: PAGE })],
  [
    'createOrganizationCluster',
    () => ({
      as: 'ann',
      path: ORG,
      body: {
        name: 'edge',
        uid: '5f2c1e3a-9d4b-4c8e-8a67-1b2d3c4e5f60',
        displayName: 'Edge site in Bern',
        provider: 'Generic',
        location: 'eu-central',
      },
      note: noteId('cluster'),
    }),
  ],
  [
    'createMyCluster',
    () => ({ as: 'bob', body: { name: 'laptop', uid: '6a3d2f4b-0e5c-4d9f-9b78-2c3e4d5f6a71', provider: 'Generic' } }),
  ],
  ['getCluster', ({ created: { cluster = 0 } }) => ({ as: 'ann', path: { id: cluster } })],
  ['updateCluster', ({ created: { cluster = 0 } }) => ({ as: 'ann', path: { id: cluster }, body: { nodeCount: 3 } })],
  ['reportClusterHeartbeat', ({ created: { cluster = 0 } }) => ({ as: 'ann', path: { id: cluster }, body: HEARTBEAT })],
  ['listOwnerClusters', () => ({ as: 'ann', path: { owner: 'acme' }, query: PAGE })],
  ['getOwnerCluster', () => ({ as: 'ann', path: { owner: 'acme', cluster: 'edge' } })],
  ['getOwnerClusterStatus', () => ({ as: 'ann', path: { owner: 'acme', cluster: 'edge' } })],
  ['checkOwnerClusterExists', () => ({ as: 'ann', path: { owner: 'acme', cluster: 'edge' } })],
  ['findOwnerCluster', () => ({ as: 'ann', path: { owner: 'acme' }, body: { basicInfo: { name: 'edge' } } })],
  ['deleteCluster', ({ created: { cluster = 0 } }) => ({ as: 'ann', path: { id: cluster } })],

  ['listOrganizationContracts', () => ({ as: 'ann', path: ORG, query: PAGE })],
  [
    'createOrganizationContract',
    () => ({
      as: 'root',
      path: ORG,
      body: {
        name: 'Support 2026',
        product: 'support',
        features: ['24x7'],
        start: '2026-01-01T00:00:00Z',
        end: '2099-01-01T00:00:00Z',
        quota: { nodes: 100 },
      },
      note: noteId('contract'),
    }),
  ],
  ['getContract', ({ created: { contract = 0 } }) => ({ as: 'ann', path: { id: contract } })],
  [
    'updateContract',
    ({ created: { contract = 0 } }) => ({ as: 'root', path: { id: contract }, body: { quota: { nodes: 200 } } }),
  ],
  ['deleteContract', ({ created: { contract = 0 } }) => ({ as: 'root', path: { id: contract } })],

  ['listOrganizationRobots', () => ({ as: 'ann', path: ORG, query: PAGE })],
  [
    'createOrganizationRobot',
    () => ({ as: 'ann', path: ORG, body: { name: 'backup', description: 'Makes backups.' }, note: noteId('robot') }),
  ],
  ['getRobot', ({ created: { robot = 0 } }) => ({ as: 'ann', path: { id: robot } })],
  [
    'updateRobot',
    ({ created: { robot = 0 } }) => ({
      as: 'ann',
      path: { id: robot },
      body: { description: 'Backs up every night.' },
    }),
  ],
  [
    'createRobotToken',
    ({ created: { robot = 0 } }) => ({
      as: 'ann',
      path: { id: robot },
      body: {
        name: 'nightly',
        scopes: ['write:organization'],
        expires_at: '2099-01-01T00:00:00Z',
        can_rotate: true,
        limits: { organizations: ['acme'] },
      },
    }),
  ],
  [
    'rotateRobotToken',
    ({ created: { robot = 0 } }) => ({
      as: 'ann',
      path: { id: robot, token: 'nightly' },
      body: { overlap_hours: 2 },
      note({ body }, created) {
        created.token = body.sha1;
      },
    }),
  ],
  ['rotateMyToken', ({ created: { token } }) => ({ token, body: { overlap_hours: 24 } })],
  ...TRUST_REQUESTS,
  ['listRobotTokens', ({ created: { robot = 0 } }) => ({ as: 'ann', path: { id: robot }, query: PAGE })],
  ['revokeRobotToken', ({ created: { robot = 0 } }) => ({ as: 'ann', path: { id: robot, token: 'nightly' } })],
  ['getRobotTokenPolicy', () => ({ as: 'ann', path: ORG })],
  ['setRobotTokenPolicy', () => ({ as: 'ann', path: ORG, body: { max_days: 3650 } })],
  ['getTokenPolicy', () => ({ as: 'root' })],
  ['setTokenPolicy', () => ({ as: 'root', body: { personal_tokens: 'everyone' } })],
  ['deleteRobot', ({ created: { robot = 0 } }) => ({ as: 'ann', path: { id: robot } })],

  ['listOrganizationAuditEntries', () => ({ as: 'ann', path: ORG, query: { action: 'cluster.', limit: 1 } })],
  ['countOrganizationAuditActions', () => ({ as: 'ann', path: ORG })],
  [
    'countOrganizationAuditEntries',
    () => ({
      as: 'ann',
      path: ORG,
      query: { action: 'role.', since: '2026-01-12T00:00:00Z', until: '2026-01-19T00:00:00Z' },
    }),
  ],
  ['exportOrganizationAuditLog', () => ({ as: 'ann', path: ORG, query: { action: 'cluster.delete' } })],
  ['verifyOrganizationAuditLog', () => ({ as: 'ann', path: ORG })],
  ['verifyAuditLog', () => ({ as: 'root' })],
  ['listAuditEntries', () => ({ as: 'root', query: { action: 'cluster.', limit: 1 } })],
  ['countAuditActions', () => ({ as: 'root', query: ORG })],
  [
    'countAuditEntries',
    () => ({
      as: 'root',
      query: { ...ORG, action: 'role.', since: '2026-01-12T00:00:00Z', until: '2026-01-19T00:00:00Z' },
    }),
  ],
  ['exportAuditLog', () => ({ as: 'root', query: { ...ORG, action: 'cluster.delete' } })],

  [
    'createUser',
    () => ({
      as: 'root',
      body: {
        username: 'newcomer',
        email: 'newcomer@example.com',
        full_name: 'Nina Newcomer',
        password: 'an example password',
      },
    }),
  ],
  ['listUsers', () => ({ as: 'root', query: { q: 'newcomer', ...PAGE } })],
  ['updateUser', () => ({ as: 'root', path: { username: 'newcomer' }, body: { location: 'Bern', active: true } })],
  ['reportViewAsUser', () => ({ as: 'root', path: { username: 'bob' } })],
  ['createUserPasswordLink', () => ({ as: 'root', path: { username: 'newcomer' } })],
  ['requestPasswordEmail', () => ({ body: { email: 'bob@example.com' } })],
  ['listUserTeams', () => ({ as: 'root', path: { username: 'bob' } })],
  [
    'createUserOrganization',
    () => ({ as: 'root', path: { username: 'newcomer' }, body: { username: 'initech', full_name: 'Initech' } }),
  ],
  ['getDeploymentOverview', () => ({ as: 'root' })],
  ['listAllOrganizations', () => ({ as: 'root', query: { q: 'init', ...PAGE } })],
  [
    'createOrganization',
    () => ({ as: 'ann', body: { username: 'hooli', full_name: 'Hooli', website: 'https://hooli.example' } }),
  ],
  ['updateOrganization', () => ({ as: 'ann', path: { org: 'hooli' }, body: { location: 'Bern' } })],
  ['deleteOrganization', () => ({ as: 'ann', path: { org: 'hooli' } })],
  ['setLegalHold', () => ({ as: 'root', path: { username: 'dan' }, body: { reason: 'case 4711' } })],
  ['listLegalHolds', () => ({ as: 'root', query: PAGE })],
  ['releaseLegalHold', () => ({ as: 'root', path: { username: 'dan' }, status: 204 })],
  ['listReservedNames', () => ({ as: 'root', query: PAGE })],
  ['releaseReservedName', () => ({ as: 'root', path: { name: 'hooli' } })],
  ['deleteUser', () => ({ as: 'root', path: { username: 'cat' } })],

  [
    'receiveCloudANotification',
    ({ installers, uid }) => ({
      body: {
        eventType: 'BIND',
        bindingInfo: { marketplace: 'CloudA', installerId: installers.cloudA, clusterId: uid },
      },
      note: ({ body }, created) => {
        const { pathname, searchParams } = new URL(body.link);
        const [, , , ownerID = '', name = '', installerID = ''] = pathname.split('/');
        const [exp, sig] = [Number(searchParams.get('exp')), searchParams.get('sig') ?? ''];
        Object.assign(created, { ownerID: Number(ownerID), name, installerID, exp, sig });
      },
    }),
  ],
  [
    'downloadInstallerArchive',
    ({ created: { ownerID = 0, name = '', installerID = '', exp = 0, sig = '' } }) => ({
      path: { ownerID, name, installerID },
      query: { exp, sig },
    }),
  ],
  ['getInstallerPublicKey', () => ({})],
  [
    'receiveCloudBNotification',
    ({ installers, secrets }) => ({
      query: { secret: secrets.cloudB },
      body: {
        eventType: 'BIND',
        applicationId: APPLICATION,
        bindingInfo: { marketplace: 'CloudB', installerId: installers.cloudB },
      },
    }),
  ],
  [
    'receiveCloudCNotification',
    ({ installers, secrets, uid }) => ({
      query: { secret: secrets.cloudC },
      body: {
        eventType: 'BIND',
        bindingInfo: { marketplace: 'CloudC', installerId: installers.cloudC, clusterId: uid },
      },
    }),
  ],
  ['checkOrganizationClaimable', ({ claim }) => ({ path: { claimID: claim } })],
  [
    'listMarketplaceDeliveries',
    () => ({
      as: 'root',
      query: { marketplace: 'CloudC', outcome: 'bound', limit: 1 },
      note: ({ body }, created) => {
        created.delivery = body.items[0].id;
      },
    }),
  ],
  ['getMarketplaceDelivery', ({ created: { delivery = 0 } }) => ({ as: 'root', path: { id: delivery } })],
  [
    'retryMarketplaceDeliveries',
    () => ({ as: 'root', body: { outcome: 'dead', marketplace: 'CloudB', since: '2026-01-01T00:00:00Z', most: 50 } }),
  ],
  ['listMarketplaceEvents', () => ({ as: 'root', query: { limit: 1 } })],
  ['createInstaller', () => ({ as: 'root', body: { marketplace: 'CloudA', days: 30 } })],
  ['listInstallers', () => ({ as: 'root', query: { marketplace: 'CloudA', state: 'bound', limit: 1 } })],
  ['getInstaller', ({ created: { installerID = '' } }) => ({ as: 'root', path: { id: installerID } })],
  ['createInstallerLink', ({ created: { installerID = '' } }) => ({ as: 'root', path: { id: installerID } })],
  ['revokeInstallerLinks', ({ created: { installerID = '' } }) => ({ as: 'root', path: { id: installerID } })],
  [
    'createMarketplaceSecret',
    () => ({
      as: 'root',
      body: { marketplace: 'CloudB' },
      note: ({ body }, created) => {
        created.fingerprint = body.fingerprint;
      },
    }),
  ],
  ['listMarketplaceSecrets', () => ({ as: 'root' })],
  ['retireMarketplaceSecret', ({ created: { fingerprint = '' } }) => ({ as: 'root', path: { fingerprint } })],
  ['listUnknownMarketplaceCallers', () => ({ as: 'root', query: { limit: 1 } })],
  [
    'listMarketplaceSubscriptions',
    () => ({
      as: 'root',
      query: { limit: 1 },
      note: ({ body }, created) => {
        created.subscription = body.items[0].id;
      },
    }),
  ],
  ['getMarketplaceSubscription', ({ created: { subscription = 0 } }) => ({ as: 'root', path: { id: subscription } })],
  ['getMarketplaceSummary', () => ({ as: 'root' })],
];

/** Only a hosted deployment has these. */
export const HOSTED_REQUESTS: readonly NamedRequest[] = [
  ['getMyHostedToken', () => ({ as: 'ann' })],
  ['getHostedTokenKeys', () => ({})],
];
