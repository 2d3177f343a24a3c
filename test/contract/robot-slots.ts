/** What requests about robots can name, as in tenant-slots.ts. */
export const ROBOT_SLOTS: Readonly<Record<string, string>> = {
  'GET /orgs/:org/robots': 'org PAGE ?name:robotName',
  'POST /orgs/:org/robots': 'org .name .description',
  'GET /robots/:id': 'id:robot',
  'PATCH /robots/:id': 'id:robot .name .description',
  'DELETE /robots/:id': 'id:robot',
  'GET /robots/:id/tokens': 'id:robot PAGE',
  'POST /robots/:id/tokens': 'id:robot TOKEN',
  'POST /robots/:id/tokens/:token/rotate': 'id:robot token .overlap_hours .expires_at',
  'DELETE /robots/:id/tokens/:token': 'id:robot token',
  'GET /robots/:id/trust_rules': 'id:robot PAGE',
  'POST /robots/:id/trust_rules': 'id:robot TRUST',
  'POST /robots/:id/trust_rules/explain': 'id:robot .token:text',
  'GET /robots/:id/trust_rules/:rule': 'id:robot rule:text',
  'PUT /robots/:id/trust_rules/:rule': 'id:robot rule:text TRUST',
  'DELETE /robots/:id/trust_rules/:rule': 'id:robot rule:text',
};
