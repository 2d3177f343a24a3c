import { noteId, ORG, rowOfOrganization, writeOfOrganization } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

const WEBHOOK_DELIVERY = {
  id: 'dlv_118',
  event: '8412-0',
  type: 'team.add_member',
  state: 'pending',
  attempts: [{ at: '2026-11-19T09:30:00Z', status: 503, error: 'status', duration_ms: 84 }],
  created_at: '2026-11-19T09:30:00Z',
  next_attempt_at: '2026-11-19T09:30:05Z',
};

const HOOK = {
  name: 'siem',
  url: 'https://hooks.example.com/atrium',
  types: ['team.*', 'role.update'],
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  active: false,
};

export const WEBHOOKS = routes({
  'GET /.well-known/webhook-keys': { example: () => ({}), cost: rowOfOrganization },
  'POST /api/v1/orgs/:org/webhooks': {
    body: { url: '' },
    names: 'org WEBHOOK',
    again: HAS_KEY,
    example: () => ({ as: 'ann', path: ORG, body: HOOK, note: noteId('webhook') }),
    cost: writeOfOrganization,
  },
  'GET /api/v1/orgs/:org/webhooks': {
    names: 'org',
    example: () => ({ as: 'ann', path: ORG }),
    cost: { as: 'GET /api/v1/orgs/:org/robots', because: 'lists at most twenty rows' },
  },
  'GET /api/v1/orgs/:org/webhooks/:id': {
    names: 'org id:webhook',
    example: ({ created: { webhook = 0 } }) => ({ as: 'ann', path: { ...ORG, id: webhook } }),
    cost: rowOfOrganization,
  },
  'PATCH /api/v1/orgs/:org/webhooks/:id': {
    body: {},
    names: 'org id:webhook WEBHOOK',
    example: ({ created: { webhook = 0 } }) => ({
      as: 'ann',
      path: { ...ORG, id: webhook },
      body: { format: 'cloudevents' },
    }),
    cost: writeOfOrganization,
  },
  'DELETE /api/v1/orgs/:org/webhooks/:id': {
    names: 'org id:webhook',
    example: ({ created: { webhook = 0 } }) => ({ as: 'ann', path: { ...ORG, id: webhook } }),
    cost: writeOfOrganization,
  },
  'POST /api/v1/admin/webhooks': {
    body: { url: '' },
    names: 'WEBHOOK',
    again: HAS_KEY,
    example: () => ({ as: 'root', body: HOOK, note: noteId('webhookDeployment') }),
    cost: writeOfOrganization,
  },
  'GET /api/v1/admin/webhooks': {
    names: '',
    example: () => ({ as: 'root' }),
    cost: { as: 'GET /api/v1/orgs/:org/robots', because: 'lists at most twenty rows' },
  },
  'GET /api/v1/admin/webhooks/:id': {
    names: 'id:webhook',
    example: ({ created: { webhookDeployment = 0 } }) => ({ as: 'root', path: { id: webhookDeployment } }),
    cost: rowOfOrganization,
  },
  'PATCH /api/v1/admin/webhooks/:id': {
    body: {},
    names: 'id:webhook WEBHOOK',
    example: ({ created: { webhookDeployment = 0 } }) => ({
      as: 'root',
      path: { id: webhookDeployment },
      body: { format: 'cloudevents' },
    }),
    cost: writeOfOrganization,
  },
  'DELETE /api/v1/admin/webhooks/:id': {
    names: 'id:webhook',
    example: ({ created: { webhookDeployment = 0 } }) => ({ as: 'root', path: { id: webhookDeployment } }),
    cost: writeOfOrganization,
  },
  'POST /api/v1/orgs/:org/webhooks/:id/test': {
    names: 'org id:webhook',
    again: 'sends a test, which stores nothing',
    example: {
      because: 'it calls a receiver',
      parameters: { org: 'acme', id: 3 },
      response: { ok: false, status: 503, error: 'status', duration_ms: 84 },
    },
    cost: writeOfOrganization,
  },
  'GET /api/v1/orgs/:org/webhooks/:id/deliveries': {
    names: 'org id:webhook PAGE ?state:text',
    example: {
      because: 'nothing is sent to receivers of the documentation',
      parameters: { org: 'acme', id: 3, state: 'pending' },
      response: [WEBHOOK_DELIVERY],
    },
    cost: {
      as: 'GET /api/v1/orgs/:org/robots',
      because: 'lists at most fifty rows',
    },
  },
  'POST /api/v1/orgs/:org/webhooks/:id/deliveries/:delivery/redeliver': {
    names: 'org id:webhook delivery:text',
    again: 'receivers hear of every event at least once, and recognize it',
    example: {
      because: 'nothing is sent to receivers of the documentation',
      parameters: { org: 'acme', id: 3, delivery: 'dlv_118' },
      status: 202,
      response: WEBHOOK_DELIVERY,
    },
    cost: writeOfOrganization,
  },
  'POST /api/v1/orgs/:org/webhooks/:id/redeliver': {
    body: { since: '2026-01-01T00:00:00Z' },
    names: 'org id:webhook .since',
    again: 'receivers hear of every event at least once, and recognize it',
    example: {
      because: 'nothing is sent to receivers of the documentation',
      parameters: { org: 'acme', id: 3 },
      body: { since: '2026-11-18T09:00:00Z' },
      status: 202,
      response: { queued: 41 },
    },
    cost: writeOfOrganization,
  },
  'POST /api/v1/admin/webhooks/:id/test': {
    names: 'id:webhook',
    again: 'sends a test, which stores nothing',
    example: {
      because: 'it calls a receiver',
      parameters: { id: 3 },
      response: { ok: false, status: 503, error: 'status', duration_ms: 84 },
    },
    cost: writeOfOrganization,
  },
  'GET /api/v1/admin/webhooks/:id/deliveries': {
    names: 'id:webhook PAGE ?state:text',
    example: {
      because: 'nothing is sent to receivers of the documentation',
      parameters: { id: 3, state: 'pending' },
      response: [WEBHOOK_DELIVERY],
    },
    cost: {
      as: 'GET /api/v1/orgs/:org/robots',
      because: 'lists at most fifty rows',
    },
  },
  'POST /api/v1/admin/webhooks/:id/deliveries/:delivery/redeliver': {
    names: 'id:webhook delivery:text',
    again: 'receivers hear of every event at least once, and recognize it',
    example: {
      because: 'nothing is sent to receivers of the documentation',
      parameters: { id: 3, delivery: 'dlv_118' },
      status: 202,
      response: WEBHOOK_DELIVERY,
    },
    cost: writeOfOrganization,
  },
  'POST /api/v1/admin/webhooks/:id/redeliver': {
    body: { since: '2026-01-01T00:00:00Z' },
    names: 'id:webhook .since',
    again: 'receivers hear of every event at least once, and recognize it',
    example: {
      because: 'nothing is sent to receivers of the documentation',
      parameters: { id: 3 },
      body: { since: '2026-11-18T09:00:00Z' },
      status: 202,
      response: { queued: 41 },
    },
    cost: writeOfOrganization,
  },
});
