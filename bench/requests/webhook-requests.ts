import type { Requests } from './entry.ts';

const oneRow = { as: 'GET /api/v1/orgs/:org', because: 'reads one row by its key, and asks the engine once' };
const oneWrite = { as: 'PATCH /api/v1/orgs/:org', because: 'writes one row and one entry of the audit log' };

/** Webhooks of organizations and of the deployment. */
export const WEBHOOK_REQUESTS: Requests = {
  'GET /api/v1/orgs/:org/webhooks': { as: 'GET /api/v1/orgs/:org/robots', because: 'lists at most twenty rows' },
  'POST /api/v1/orgs/:org/webhooks': oneWrite,
  'GET /api/v1/orgs/:org/webhooks/:id': oneRow,
  'PATCH /api/v1/orgs/:org/webhooks/:id': oneWrite,
  'DELETE /api/v1/orgs/:org/webhooks/:id': oneWrite,
  'POST /api/v1/orgs/:org/webhooks/:id/test': oneWrite,
  'GET /api/v1/orgs/:org/webhooks/:id/deliveries': {
    as: 'GET /api/v1/orgs/:org/robots',
    because: 'lists at most fifty rows',
  },
  'POST /api/v1/orgs/:org/webhooks/:id/deliveries/:delivery/redeliver': oneWrite,
  'POST /api/v1/orgs/:org/webhooks/:id/redeliver': oneWrite,
  'GET /api/v1/admin/webhooks': { as: 'GET /api/v1/orgs/:org/robots', because: 'lists at most twenty rows' },
  'POST /api/v1/admin/webhooks': oneWrite,
  'GET /api/v1/admin/webhooks/:id': oneRow,
  'PATCH /api/v1/admin/webhooks/:id': oneWrite,
  'DELETE /api/v1/admin/webhooks/:id': oneWrite,
  'POST /api/v1/admin/webhooks/:id/test': oneWrite,
  'GET /api/v1/admin/webhooks/:id/deliveries': {
    as: 'GET /api/v1/orgs/:org/robots',
    because: 'lists at most fifty rows',
  },
  'POST /api/v1/admin/webhooks/:id/deliveries/:delivery/redeliver': oneWrite,
  'POST /api/v1/admin/webhooks/:id/redeliver': oneWrite,
  'GET /.well-known/webhook-keys': oneRow,
};
