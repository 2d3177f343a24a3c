const WEBHOOK = '.name .url .types[] .format .active .secret:secret';

/** What requests about webhooks can name, as in tenant-slots.ts. */
export const WEBHOOK_SLOTS: Readonly<Record<string, string>> = {
  'GET /orgs/:org/webhooks': 'org',
  'POST /orgs/:org/webhooks': `org ${WEBHOOK}`,
  'GET /orgs/:org/webhooks/:id': 'org id:webhook',
  'PATCH /orgs/:org/webhooks/:id': `org id:webhook ${WEBHOOK}`,
  'DELETE /orgs/:org/webhooks/:id': 'org id:webhook',
  'POST /orgs/:org/webhooks/:id/test': 'org id:webhook',
  'GET /orgs/:org/webhooks/:id/deliveries': 'org id:webhook PAGE ?state:text',
  'POST /orgs/:org/webhooks/:id/deliveries/:delivery/redeliver': 'org id:webhook delivery:text',
  'POST /orgs/:org/webhooks/:id/redeliver': 'org id:webhook .since',
  'GET /admin/webhooks': '',
  'POST /admin/webhooks': `${WEBHOOK}`,
  'GET /admin/webhooks/:id': 'id:webhook',
  'PATCH /admin/webhooks/:id': `id:webhook ${WEBHOOK}`,
  'DELETE /admin/webhooks/:id': 'id:webhook',
  'POST /admin/webhooks/:id/test': 'id:webhook',
  'GET /admin/webhooks/:id/deliveries': 'id:webhook PAGE ?state:text',
  'POST /admin/webhooks/:id/deliveries/:delivery/redeliver': 'id:webhook delivery:text',
  'POST /admin/webhooks/:id/redeliver': 'id:webhook .since',
};
