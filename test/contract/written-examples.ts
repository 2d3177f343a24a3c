const WEBHOOK_DELIVERY = {
  id: 'dlv_118',
  event: '8412-0',
  type: 'team.add_member',
  state: 'pending',
  attempts: [{ at: '2026-11-19T09:30:00Z', status: 503, error: 'status', duration_ms: 84 }],
  created_at: '2026-11-19T09:30:00Z',
  next_attempt_at: '2026-11-19T09:30:05Z',
};

/**
 * What a test server cannot answer, and why. The responses are written by hand, and the test only checks that they fit
 * their schemas.
 */
export const WRITTEN_EXAMPLES: Readonly<
  Record<
    string,
    {
      readonly because: string;
      readonly parameters: Readonly<Record<string, unknown>>;
      readonly body?: object;
      /** By default, 200. */
      readonly status?: number;
      /** An object, or the name of the operation that has the same response. Absent if it is empty. */
      readonly response?: object | string;
    }
  >
> = {
  checkWebhook: {
    because: 'it calls a receiver',
    parameters: { org: 'acme', id: 3 },
    response: { ok: false, status: 503, error: 'status', duration_ms: 84 },
  },
  listWebhookDeliveries: {
    because: 'nothing is sent to receivers of the documentation',
    parameters: { org: 'acme', id: 3, state: 'pending' },
    response: [WEBHOOK_DELIVERY],
  },
  retryWebhookDelivery: {
    because: 'nothing is sent to receivers of the documentation',
    parameters: { org: 'acme', id: 3, delivery: 'dlv_118' },
    status: 202,
    response: WEBHOOK_DELIVERY,
  },
  retryWebhookDeliveries: {
    because: 'nothing is sent to receivers of the documentation',
    parameters: { org: 'acme', id: 3 },
    body: { since: '2026-11-18T09:00:00Z' },
    status: 202,
    response: { queued: 41 },
  },
  checkDeploymentWebhook: {
    because: 'it calls a receiver',
    parameters: { id: 3 },
    response: { ok: false, status: 503, error: 'status', duration_ms: 84 },
  },
  listDeploymentWebhookDeliveries: {
    because: 'nothing is sent to receivers of the documentation',
    parameters: { id: 3, state: 'pending' },
    response: [WEBHOOK_DELIVERY],
  },
  retryDeploymentWebhookDelivery: {
    because: 'nothing is sent to receivers of the documentation',
    parameters: { id: 3, delivery: 'dlv_118' },
    status: 202,
    response: WEBHOOK_DELIVERY,
  },
  retryDeploymentWebhookDeliveries: {
    because: 'nothing is sent to receivers of the documentation',
    parameters: { id: 3 },
    body: { since: '2026-11-18T09:00:00Z' },
    status: 202,
    response: { queued: 41 },
  },
  resetPassword: {
    because: 'it needs the code of an email',
    parameters: {},
    body: { code: 'bZr4mXo0Jm1kq3Yw8vTn5sLdEuCfGhAa', password: 'a new password' },
    status: 204,
  },
  requestSignUpEmail: {
    because: 'it needs REGISTRATION=domains',
    parameters: {},
    body: { email: 'newcomer@example.com' },
    status: 202,
  },
  confirmSignUp: {
    because: 'it needs the code of an email',
    parameters: {},
    body: {
      code: 'bZr4mXo0Jm1kq3Yw8vTn5sLdEuCfGhAa',
      username: 'newcomer',
      password: 'a long password',
      full_name: 'New Comer',
    },
    status: 201,
    response: 'createUser',
  },
  addMyLinkedAccount: {
    because: 'it needs a browser session, and calls a provider',
    parameters: {},
    body: { provider: 'company' },
    response: { url: 'https://login.example.com/realms/company/auth?client_id=atrium&response_type=code' },
  },
  checkProvider: {
    because: 'it calls a provider',
    parameters: { provider: 'company' },
    response: {
      ok: false,
      steps: [
        { step: 'discovery', result: 'ok', message: 'https://login.example.com answers, and sends logout notices' },
        { step: 'keys', result: 'ok', message: '2 published' },
        {
          step: 'client',
          result: 'failed',
          message: 'the provider does not accept the client and its secret: it says "invalid_client"',
        },
      ],
    },
  },
  getDeviceToken: {
    because: 'somebody has to approve the program first',
    parameters: {},
    body: { device_code: 'the device_code of the beginning' },
    response: {
      id: 7,
      name: 'atrium on laptop, 2026-01-01, BCDF-GHJK',
      sha1: 'atr_EXAMPLE',
      token_last_eight: 'EXAMPLE0',
      scopes: ['all'],
      created_at: '2026-01-01T00:00:00Z',
      last_used_at: '1970-01-01T00:00:00Z',
      expires_at: null,
      expires_soon: false,
      can_rotate: false,
      delegated: false,
      beyond_policy: [],
    },
  },
  setDeviceDecision: {
    because: 'it needs a browser session',
    parameters: { code: 'BCDF-GHJK' },
    body: { approve: true },
    response: 'getDeviceRequest',
  },
  getMyLinkRequest: {
    because: 'it needs a sign-in at a provider',
    parameters: {},
    response: {
      provider: 'company',
      provider_display_name: 'Company',
      email: 'ann@example.com',
      username: 'ann',
      return_to: '/',
    },
  },
  confirmMyLinkRequest: {
    because: 'it needs a sign-in at a provider',
    parameters: {},
    response: 'getMyLinkRequest',
  },
  listMyBuckets: {
    because: 'it calls a cloud',
    parameters: { cloud: 'aws', credential: 'ann-aws', cluster_uid: '00000000-0000-4000-8000-000000000001' },
    response: { names: ['backups', 'logs'] },
  },
  listMyBucketsByPost: {
    because: 'it calls a cloud',
    parameters: { cloud: 'aws' },
    body: { credential: 'ann-aws', cluster_uid: '00000000-0000-4000-8000-000000000001' },
    response: { names: ['backups', 'logs'] },
  },
  listClusterResourceHistory: {
    because: 'it needs a message bus',
    parameters: { cluster: '00000000-0000-4000-8000-000000000001', resource: 'deployments', limit: 1 },
    response: {
      items: [
        {
          key: 'apps/deployments/web',
          values: [
            {
              resource: 'deployments',
              resourceID: 'web',
              licenseID: 'example-license',
              version: 'v3',
              timestamp: '2026-01-15T09:30:00Z',
            },
          ],
          lastSeen: '2026-01-15T09:30:00Z',
        },
      ],
    },
  },
  retryMarketplaceDelivery: {
    because: 'a delivery stays unfinished only if the server fails in the middle of it',
    parameters: { id: 7 },
    response: 'getMarketplaceDelivery',
  },
};
