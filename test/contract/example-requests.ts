import type { Answer, Call, TestServer } from '../support/server/server.ts';

/** An assignment can end within ten years at most. The recorded examples show another time. */
const IN_A_MONTH = new Date(Date.now() + 30 * 86_400_000).toISOString();

/** What a request needs to know of the demo world, and of the requests before it. */
export interface Known {
  readonly id: Readonly<Record<'prod' | 'contract' | 'robot' | 'operators' | 'viewers' | 'role' | 'org', number>>;
  readonly uid: string;
  readonly secrets: { readonly cloudB: string; readonly cloudC: string };
  readonly installers: { readonly cloudA: string; readonly cloudB: string; readonly cloudC: string };
  readonly claim: string;
  readonly confirmationKey: string;
  /** What browsers call the server. */
  readonly origin: string;
  /** What earlier requests created. */
  readonly created: Record<string, string | number>;
}

type Values = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export interface ExampleRequest {
  /** Whose token the request carries, or whose password; nobody's by default. */
  readonly as?: string;
  readonly withPassword?: true;
  /** A token to send instead. */
  readonly token?: string | number | undefined;
  /** In the browser of the story, which keeps its cookies. */
  readonly inBrowser?: true;
  /** What else this browser does first. */
  readonly before?: (browser: Call, atrium: TestServer) => Promise<unknown>;
  readonly path?: Values;
  readonly query?: Values;
  readonly body?: unknown;
  readonly note?: (answer: Pick<Answer, 'body'>, created: Record<string, string | number>) => void;
}

/** The name of the operation, and its request. */
export type NamedRequest = readonly [string, (known: Known) => ExampleRequest];

export const PAGE = { page: 1, limit: 2 };
export const ORG = { org: 'acme' };
export const noteId =
  (name: string) =>
  ({ body }: Pick<Answer, 'body'>, created: Record<string, string | number>) => {
    created[name] = body.id;
  };
const PERMISSIONS = [{ namespace: 'cluster_mgmt', action: 'view clusters' }];
const ORDER = {
  spec: {
    items: [
      {
        chart: {
          name: 'podinfo',
          sourceRef: { name: 'podinfo', url: 'https://charts.example.com/podinfo' },
          version: '6.7.0',
          releaseName: 'podinfo',
          namespace: 'demo',
          values: { replicaCount: 2 },
          valuesPatch: [{ op: 'add', path: '/ui', value: { color: '#34577c' } }],
        },
      },
    ],
  },
};
const ORGANIZATION = {
  apiVersion: 'atrium/v1',
  kind: 'Organization',
  organization: 'acme',
  teams: [{ name: 'on call', members: ['dan'] }],
};
const ROLES = {
  apiVersion: 'atrium/v1',
  kind: 'Roles',
  organization: 'acme',
  roles: [
    {
      name: 'auditors',
      description: 'Reads the audit log.',
      permissions: { cluster_mgmt: ['view clusters'] },
      teams: ['Viewers'],
    },
  ],
};

/**
 * One request for each operation of users and organizations, in the order in which they are sent to one server with the demo world: what a request
 * needs was created by an earlier one, and what exists is read before it is changed or deleted.
 */
export const USER_REQUESTS: readonly NamedRequest[] = [
  ['getVersion', () => ({})],
  ['getListenerVersion', () => ({})],

  ['getCurrentUser', () => ({ as: 'ann', query: { check_client_org: true } })],
  ['getMyPageContext', ({ id }) => ({ as: 'ann', query: { ...ORG, object: `team:${id.operators}` } })],
  ['followEvents', () => ({ as: 'ann', query: { ...ORG, follow: false } })],
  ['searchEverything', () => ({ as: 'ann', query: { q: 'pro', ...ORG, types: 'clusters,people' } })],
  ['updateCurrentUser', () => ({ as: 'ann', body: { full_name: 'Ann Archer', location: 'Bern', language: 'en' } })],
  ['listMyTeams', () => ({ as: 'ann', query: PAGE })],
  ['listMyOrganizations', () => ({ as: 'ann', query: PAGE })],
  ['listMyOrganizationsForSettings', () => ({ as: 'ann' })],
  ['listMyEmails', () => ({ as: 'ann' })],
  ['addMyEmails', () => ({ as: 'ann', body: { emails: ['ann@work.example'] } })],
  ['confirmEmail', ({ confirmationKey }) => ({ query: { key: confirmationKey } })],
  ['removeMyEmails', () => ({ as: 'ann', body: { emails: ['ann@work.example'] } })],
  ['followUser', () => ({ as: 'ann', path: { username: 'cat' } })],
  ['checkMyFollowing', () => ({ as: 'ann', path: { username: 'cat' } })],
  ['listMyFollowing', () => ({ as: 'ann', query: PAGE })],
  ['listMyFollowers', () => ({ as: 'ann', query: PAGE })],
  ['checkUserFollowing', () => ({ as: 'ann', path: { username: 'ann', target: 'cat' } })],
  ['listUserFollowing', () => ({ as: 'ann', path: { username: 'bob' }, query: PAGE })],
  ['listUserFollowers', () => ({ as: 'ann', path: { username: 'bob' }, query: PAGE })],
  ['unfollowUser', () => ({ as: 'ann', path: { username: 'cat' } })],
  ['searchUsers', () => ({ as: 'ann', query: { q: 'baker', ...PAGE } })],
  ['getUser', () => ({ as: 'ann', path: { username: 'bob' } })],
  ['listUserOrganizations', () => ({ as: 'ann', path: { username: 'bob' }, query: PAGE })],
  ['checkUsername', () => ({ as: 'ann', query: { user_name: 'newcomer' } })],
  ['checkOrganizationName', () => ({ as: 'ann', query: { user_name: 'acme', org: 'acme' } })],
  ['checkEmail', () => ({ as: 'ann', query: { email: 'newcomer@example.com' } })],

  [
    'createUserToken',
    () => ({
      as: 'ann',
      withPassword: true,
      path: { username: 'ann' },
      body: { name: 'laptop', scopes: ['read:user'], expires_at: '2099-01-01T00:00:00Z' },
    }),
  ],
  ['listUserTokens', () => ({ as: 'ann', path: { username: 'ann' }, query: PAGE })],
  [
    'rotateUserToken',
    () => ({
      as: 'ann',
      withPassword: true,
      path: { username: 'ann', token: 'laptop' },
      body: { overlap_hours: 2, expires_at: '2099-01-01T00:00:00Z' },
    }),
  ],
  ['revokeUserToken', () => ({ as: 'ann', path: { username: 'ann', token: 'laptop' } })],
  ['getMyToken', () => ({ as: 'ann' })],
  ['getMyTokenPolicy', () => ({ as: 'ann' })],
  ['signIn', () => ({ inBrowser: true, body: { username: 'ann', password: 'an example password', remember: true } })],
  [
    'listMySessions',
    () => ({
      as: 'ann',
      query: PAGE,
      note: ({ body }, created) => {
        created.session = body[0].id;
      },
    }),
  ],
  ['listUserSessions', () => ({ as: 'root', path: { username: 'ann' }, query: PAGE })],
  ['endMySession', ({ created: { session = 0 } }) => ({ as: 'ann', path: { id: session } })],
  ['endMyOtherSessions', () => ({ as: 'ann' })],
  ['endUserSessions', () => ({ as: 'root', path: { username: 'ann' } })],
  ['signOut', () => ({ as: 'ann' })],
  ['endCurrentSession', () => ({ as: 'ann' })],
  ['listSignInProviders', () => ({})],
  [
    'createDeviceAuthorization',
    () => ({
      body: { name: 'atrium on laptop', scopes: ['all'] },
      note: ({ body }, created) => {
        created.userCode = body.user_code;
      },
    }),
  ],
  ['getDeviceRequest', ({ created: { userCode = '' } }) => ({ as: 'ann', path: { code: userCode } })],
  [
    'listMyLinkedAccounts',
    () => ({
      as: 'ann',
      note: ({ body }, created) => {
        created.linked = body[0].id;
        created.otherLinked = body[1].id;
      },
    }),
  ],
  ['listUserLinkedAccounts', () => ({ as: 'root', path: { username: 'ann' } })],
  ['setUserLinkPermission', () => ({ as: 'root', path: { username: 'ann' } })],
  [
    'removeUserLinkedAccount',
    ({ created: { otherLinked: id = 0 } }) => ({ as: 'root', path: { username: 'ann', id } }),
  ],
  ['removeMyLinkedAccount', ({ created: { linked = 0 } }) => ({ as: 'ann', path: { id: linked } })],
  ['setMyPassword', () => ({ as: 'ann', body: { current: 'an example password', new: 'another example password' } })],
  ['listMyAuditEntries', () => ({ as: 'ann', query: { limit: 1 } })],
  ['exportMyData', () => ({ as: 'ann' })],
  ['exportMyAuditLog', () => ({ as: 'ann', query: { action: 'credential.' } })],

  ['listMyCredentials', () => ({ as: 'ann', query: { summary: true, credential_type: ['Aws'] } })],
  [
    'createMyCredential',
    () => ({
      as: 'ann',
      body: {
        name: 'backup',
        type: 'Aws',
        aws: { accessKeyID: 'EXAMPLE-KEY-ID', secretAccessKey: 'example, opens nothing' },
      },
    }),
  ],
  [
    'updateMyCredential',
    () => ({
      as: 'ann',
      body: {
        name: 'backup',
        type: 'Aws',
        aws: { accessKeyID: 'EXAMPLE-KEY-ID-2', secretAccessKey: 'example, opens nothing' },
      },
    }),
  ],
  ['getMyCredential', () => ({ as: 'ann', path: { credName: 'backup' } })],
  ['deleteMyCredential', () => ({ as: 'ann', path: { credName: 'backup' } })],
  [
    'createMyOrder',
    () => ({
      as: 'ann',
      body: ORDER,
      note: ({ body }, created) => {
        created.order = body.metadata.uid;
      },
    }),
  ],
  ['listMyOrders', () => ({ as: 'ann', query: PAGE })],
  ['renderMyOrderManifest', ({ created: { order = '' } }) => ({ as: 'ann', path: { id: order } })],
  [
    'renderMyOrderResources',
    ({ created: { order = '' } }) => ({ as: 'ann', path: { id: order }, query: { format: 'json' } }),
  ],
  ['deleteMyOrder', ({ created: { order = '' } }) => ({ as: 'ann', path: { id: order } })],
  ['getMyBusCredentials', () => ({ as: 'ann' })],
  ['getMyNatsCredentials', () => ({ as: 'ann' })],
  ['getAdminBusCredentials', () => ({ as: 'root' })],
  ['getUserBusCredentials', () => ({ as: 'root', query: { user: 'ann' } })],

  ['getAuthorizationModel', () => ({ as: 'ann' })],
  [
    'listObjects',
    () => ({ as: 'ann', path: { objectType: 'cluster' }, query: { ...ORG, relation: 'can_view', ...PAGE } }),
  ],
  ['listAllowedPermissions', ({ id }) => ({ as: 'cat', path: { objectType: 'cluster', objID: id.prod }, query: ORG })],
  [
    'listAllowedPermissionsOfObjects',
    ({ id }) => ({
      as: 'cat',
      query: ORG,
      body: [
        { objectType: 'cluster', objectID: id.prod },
        { objectType: 'organization', objectID: id.org },
      ],
    }),
  ],
  ['checkForwardedRequest', () => ({ as: 'dan', query: { ...ORG, relation: 'can_view', object: 'organization' } })],
  [
    'explainRelation',
    ({ id }) => ({
      as: 'ann',
      path: { objectType: 'cluster', objID: id.prod },
      query: { ...ORG, relation: 'can_connect', user: 'dan' },
    }),
  ],
  ['listAccessChanges', () => ({ as: 'ann', query: { ...ORG, since: '2026-01-01T00:00:00Z', limit: 1 } })],
  [
    'listObjectPrincipals',
    ({ id }) => ({
      as: 'ann',
      path: { objectType: 'cluster', objID: id.prod },
      query: { ...ORG, relation: 'can_connect', ...PAGE },
    }),
  ],
  ['getUserAccess', () => ({ as: 'ann', path: { username: 'dan' }, query: { ...ORG, type: 'cluster', ...PAGE } })],
  ['getAccessMatrix', () => ({ as: 'ann', query: ORG, body: { type: 'cluster', users: ['bob', 'cat', 'dan'] } })],
  ['listAvailablePermissions', () => ({ as: 'ann', query: ORG })],
  [
    'createRole',
    ({ id }) => ({
      as: 'ann',
      query: ORG,
      body: { name: 'viewers', description: 'Sees clusters.', permissions: PERMISSIONS, teamIDs: [id.viewers] },
      note: noteId('role'),
    }),
  ],
  ['listRoles', () => ({ as: 'ann', query: ORG })],
  ['getRole', ({ id }) => ({ as: 'ann', path: { id: id.role }, query: ORG })],
  [
    'previewChanges',
    ({ id }) => ({
      as: 'ann',
      query: ORG,
      body: { changes: [{ action: 'team.remove_member', id: id.operators, username: 'dan' }] },
    }),
  ],
  ['previewRoleChange', ({ id }) => ({ as: 'ann', query: ORG, body: { id: id.role, permissions: PERMISSIONS } })],
  [
    'updateRole',
    ({ created: { role = 0 } }) => ({
      as: 'ann',
      path: { id: role },
      query: ORG,
      body: { description: 'Sees every cluster.' },
    }),
  ],
  ['listRolePrincipals', ({ id }) => ({ as: 'ann', path: { id: id.role }, query: ORG })],
  [
    'createGuardrail',
    ({ id }) => ({
      as: 'ann',
      query: ORG,
      body: {
        name: 'prod is closed',
        never: { users: ['eve'], relation: 'can_connect', object: { type: 'cluster', id: id.prod } },
      },
      note: noteId('guardrail'),
    }),
  ],
  ['listGuardrails', () => ({ as: 'ann', query: ORG })],
  ['getGuardrail', ({ created: { guardrail = 0 } }) => ({ as: 'ann', path: { id: guardrail }, query: ORG })],
  [
    'updateGuardrail',
    ({ created: { guardrail = 0 } }) => ({
      as: 'ann',
      path: { id: guardrail },
      query: ORG,
      body: { description: 'Agreed with the customer.' },
    }),
  ],
  [
    'checkAccess',
    () => ({
      as: 'ann',
      query: ORG,
      body: { checks: [{ user: 'bob', relation: 'can_connect', object: { type: 'cluster', name: 'prod' } }] },
    }),
  ],
  ['deleteGuardrail', ({ created: { guardrail = 0 } }) => ({ as: 'ann', path: { id: guardrail }, query: ORG })],
  ['exportOrganizationFile', () => ({ as: 'ann', path: ORG, query: { format: 'json' } })],
  ['previewOrganizationFile', () => ({ as: 'ann', path: ORG, body: ORGANIZATION })],
  ['importOrganizationFile', () => ({ as: 'ann', path: ORG, query: { dry_run: true }, body: ORGANIZATION })],
  ['exportRoles', () => ({ as: 'ann', query: { ...ORG, format: 'json' } })],
  ['importRoles', () => ({ as: 'ann', query: { ...ORG, dry_run: true }, body: ROLES })],
  ['listTeamRoles', ({ id }) => ({ as: 'ann', path: { id: id.operators } })],
  [
    'assignTeamRole',
    ({ id, created: { role = 0 } }) => ({
      as: 'ann',
      path: { id: id.operators, role },
      body: { expires_at: IN_A_MONTH },
    }),
  ],
  ['removeTeamRole', ({ id, created: { role = 0 } }) => ({ as: 'ann', path: { id: id.operators, role } })],
  ['deleteRole', ({ created: { role = 0 } }) => ({ as: 'ann', path: { id: role }, query: ORG })],

  ['listOrganizations', () => ({ as: 'ann', query: PAGE })],
  ['getOrganization', () => ({ as: 'ann', path: ORG })],
  ['getOrganizationOverview', () => ({ as: 'ann', path: ORG })],
  ['listOrganizationMembers', () => ({ as: 'ann', path: ORG, query: { sort: 'name', ...PAGE } })],
  ['checkOrganizationMember', () => ({ as: 'ann', path: { ...ORG, username: 'bob' } })],
  ['listPublicOrganizationMembers', () => ({ as: 'ann', path: ORG, query: PAGE })],
  ['checkPublicOrganizationMember', () => ({ as: 'ann', path: { ...ORG, username: 'bob' } })],
  ['addOrganizationMember', () => ({ as: 'ann', path: { ...ORG, username: 'eve' }, body: { team: 'Viewers' } })],
  ['removeOrganizationMember', () => ({ as: 'ann', path: { ...ORG, username: 'eve' } })],
  ['listOrganizationTeams', () => ({ as: 'ann', path: ORG, query: PAGE })],
  ['searchOrganizationTeams', () => ({ as: 'ann', path: ORG, query: { q: 'oper', ...PAGE } })],
  [
    'createOrganizationTeam',
    () => ({
      as: 'ann',
      path: ORG,
      body: { name: 'support', description: 'Answers customers.', permission: 'read' },
      note: noteId('team'),
    }),
  ],
  ['getTeam', ({ id }) => ({ as: 'ann', path: { id: id.operators } })],
  ['updateTeam', ({ created: { team = 0 } }) => ({ as: 'ann', path: { id: team }, body: { permission: 'write' } })],
  [
    'addTeamMember',
    ({ created: { team = 0 } }) => ({
      as: 'ann',
      path: { id: team, username: 'cat' },
      body: { expires_at: IN_A_MONTH },
    }),
  ],
  ['getTeamMember', ({ created: { team = 0 } }) => ({ as: 'ann', path: { id: team, username: 'cat' } })],
  ['listTeamMembers', ({ created: { team = 0 } }) => ({ as: 'ann', path: { id: team }, query: PAGE })],
  ['removeTeamMember', ({ created: { team = 0 } }) => ({ as: 'ann', path: { id: team, username: 'cat' } })],
  ['deleteTeam', ({ created: { team = 0 } }) => ({ as: 'ann', path: { id: team } })],
];
