import { hash, randomUUID } from 'node:crypto';
import { sql } from '../../src/db/db.ts';
import { serveInserts } from './insert-server.ts';

/**
 * A bare insert of the rows that a bind leaves, with their indexes and references, behind the HTTP server that Atrium
 * uses. It is one statement for each request. It checks nothing, seals nothing, and asks for no lock: the two rows that
 * all writers share, those of the revision, are left out.
 */
const INSERT = sql(
  'bench.bind',
  `with organization as (
     insert into account (kind, name, description) values ('organization', 'bare-' || $1, $2) returning id),
   admin as (insert into account (kind, name, full_name) values ('user', 'bare-admin-' || $1, $3) returning id),
   teams as (
     insert into team (organization_id, name, description, permission, type)
     select organization.id, t.name, t.description, t.permission, 'builtin'
     from organization, (values ('Owners', 'May do everything in the organization.', 'owner'),
                                ('Editors', 'May change all resources.', 'write'),
                                ('Viewers', 'May see all resources.', 'read')) as t (name, description, permission)
     returning id, organization_id, permission),
   member as (
     insert into team_member (team_id, account_id)
     select teams.id, admin.id from teams, admin where permission = 'owner'),
   made as (insert into contract (owner_id, uid, name, product) select id, $4, $1, 'platform' from organization
            returning id, owner_id),
   bound as (
     update installer
     set bound_at = now(), organization_id = made.owner_id, contract_id = made.id, cluster_id = $5,
         admin_login = 'bare-admin-' || $1, domains = '{}', base_url = 'http://127.0.0.1'
     from made where installer.id = $6),
   told as (insert into marketplace_event (uid, type, payload, sent_at) values ($7, 'installer.bound', $8, now())),
   recorded as (
     insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, after, request_id,
                        previous_hash, hash)
     select now(), id, 0, 'CloudA', 'installer.bind', 'organization', id, $8::text::json, $9, $10, $10 from organization),
   changed as (
     insert into change (revision, kind, id, organization_id)
     select 1, 'account', id, id from organization
     union all select 1, 'account', id, null from admin
     union all select 1, 'team', id, organization_id from teams
     union all select 1, 'contract', id, owner_id from made)
   insert into delivery (marketplace, natural_key, subject, event_type, event_time, notification, source, request_id,
                         state, reason, answer_status, answered, done_at)
   values ('CloudA', $10, $6, '', '', $8, $11, $9, 'done', 'applied', 200, true, now())`,
);

interface Body {
  readonly bindingInfo: { readonly installerId: string; readonly clusterId: string };
}

await serveInserts(async (db, request) => {
  const { installerId, clusterId } = (request.body as Body).bindingInfo;
  const text = JSON.stringify(request.body);
  await db.query(INSERT, [
    installerId,
    'Standalone organization from CloudA',
    'Administrator',
    randomUUID(),
    clusterId,
    installerId,
    randomUUID(),
    text,
    request.id,
    hash('sha256', text, 'buffer'),
    request.ip,
  ]);
});
