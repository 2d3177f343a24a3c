import { createHash } from 'node:crypto';
import pg from 'pg';

/** How large a deployment is. The demo world comes on top of it. Half of the audit entries are of one organization. */
export interface Size {
  readonly users: number;
  readonly organizations: number;
  readonly clusters: number;
  readonly auditEntries: number;
}

/** The organization that has half of the audit entries. */
export const LARGE = { id: 5_000_001, name: `works1-${createHash('md5').update('o1').digest('hex').slice(0, 4)}` };

/** In parts, so that no statement takes minutes. */
const PART = 100_000;

const FIRST = `(array['Ada','Ben','Cleo','Dora','Emil','Fay','Gus','Hana','Ivo','Jana','Karl','Lena','Milo','Nora','Otto','Pia'])`;
const LAST = `(array['Abel','Brandt','Cole','Dietz','Engel','Fuchs','Graf','Holm','Ilves','Jung','Keller','Lang','Moser'])`;

const ORGANIZATION = `case when n % 2 = 0 then ${LARGE.id} else 5000000 + n / 2 % :organizations + 1 end`;
const ACTOR = '1000000 + n % :users + 1';
const SALT = `decode(md5('salt' || n), 'hex')`;
const COMMITMENT = `sha256(${SALT} || convert_to('grown', 'UTF8'))`;

/** Each makes the rows from the `$1`th to the `$2`th. `:users` and the like are their numbers. */
const STEPS: readonly (readonly [what: keyof Size, statement: string])[] = [
  [
    'users',
    `insert into account (id, kind, name, full_name, active, prohibit_login, has_factor)
     select 1000000 + n, 'user', 'grown' || n || '.' || substr(md5(n::text), 1, 4),
            ${FIRST}[1 + n % 16] || ' ' || ${LAST}[1 + n / 16 % 13], n % 200 <> 0, n % 333 = 0, n % 10 = 0
       from generate_series($1::bigint, $2::bigint) n`,
  ],
  [
    'users',
    `insert into email (account_id, address, verified, is_primary)
     select 1000000 + n, substr(md5('mail' || n), 1, 6) || n || '@mail' || n % 50 || '.example', true, true
       from generate_series($1::bigint, $2::bigint) n`,
  ],
  [
    'users',
    `insert into passkey (account_id, credential_id, public_key, counter, name)
     select 1000000 + n, decode(md5('passkey' || n), 'hex'), ''::bytea, 0, 'key'
       from generate_series($1::bigint, $2::bigint) n where n % 10 = 0`,
  ],
  [
    'users',
    `insert into token (account_id, name, hash, last_eight, scopes)
     select 1000000 + n, 'laptop', sha256(n::text::bytea), 'deadbeef', array['all']
       from generate_series($1::bigint, $2::bigint) n`,
  ],
  [
    'users',
    `insert into session (hash, account_id, csrf, expires_at)
     select sha256(('session' || n)::bytea), 1000000 + n, 'csrf', now() + interval '1 day'
       from generate_series($1::bigint, $2::bigint) n where n % 5 = 0`,
  ],
  [
    'organizations',
    `insert into account (id, kind, name, full_name, is_ownerless)
     select 5000000 + n, 'organization', 'works' || n || '-' || substr(md5('o' || n), 1, 4),
            ${LAST}[1 + n % 13] || ' ' || ${LAST}[1 + n / 13 % 13] || ' Works', n % 500 = 0
       from generate_series($1::bigint, $2::bigint) n`,
  ],
  [
    'organizations',
    `insert into team (id, organization_id, name, permission, type)
     select 5000000 + 4 * n + place, 5000000 + n, name, permission, type
       from generate_series($1::bigint, $2::bigint) n,
            (values (0, 'Owners', 'owner', 'builtin'), (1, 'Editors', 'write', 'builtin'),
                    (2, 'Viewers', 'read', 'builtin'), (3, 'night-shift', 'none', 'custom')) as t (place, name, permission, type)`,
  ],
  [
    'organizations',
    `insert into team_member (team_id, account_id)
     select 5000000 + 4 * n + place % 4, 1000000 + (n * 10 + place) % :users + 1
       from generate_series($1::bigint, $2::bigint) n, generate_series(0, 11) place
      where place % 4 <> 0 or n % 500 <> 0 on conflict do nothing`,
  ],
  [
    'organizations',
    `insert into role (id, organization_id, name, name_key)
     select 5000000 + n, 5000000 + n, 'watchers-' || n % 1000, 'watchers-' || n % 1000
       from generate_series($1::bigint, $2::bigint) n`,
  ],
  [
    'organizations',
    `insert into role_permission (role_id, namespace, action, relation)
     select 5000000 + n, 'cluster_mgmt', 'view clusters', 'can_view_clusters'
       from generate_series($1::bigint, $2::bigint) n`,
  ],
  [
    'organizations',
    `insert into assignment (role_id, team_id, organization_id)
     select 5000000 + n, 5000000 + 4 * n + 3, 5000000 + n from generate_series($1::bigint, $2::bigint) n`,
  ],
  [
    'organizations',
    `insert into robot (owner_id, name) select 5000000 + n, 'builder-' || n from generate_series($1::bigint, $2::bigint) n`,
  ],
  [
    'organizations',
    `insert into contract (owner_id, uid, name)
     select 5000000 + n, 'grown-' || n, 'support-' || n from generate_series($1::bigint, $2::bigint) n`,
  ],
  [
    'clusters',
    `insert into cluster (id, owner_id, name, display_name, uid, provider, node_count, heartbeat_at)
     select 5000000 + n, 5000000 + n % :organizations + 1, 'edge-' || n || '-' || substr(md5('c' || n), 1, 4),
            case when n % 3 = 0 then ${LAST}[1 + n % 13] || ' hall ' || n % 100 else '' end, gen_random_uuid(),
            (array['GKE', 'EKS', 'AKS'])[1 + n % 3], n % 20, now() - n % 1000 * interval '1 minute'
       from generate_series($1::bigint, $2::bigint) n`,
  ],
  // Each names its actor by a salted hash, whose salt and text are in the other table.
  [
    'auditEntries',
    `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, after, request_id,
                        previous_hash, hash)
     select now() - (:auditEntries - n) * interval '1 second', ${ORGANIZATION}, ${ACTOR},
            'sha256:' || encode(${COMMITMENT}, 'hex'), (array['team.update', 'role.update', 'cluster.update'])[1 + n % 3],
            (array['team', 'role', 'cluster'])[1 + n % 3], 5000000 + n % :organizations,
            '{"name":"night-shift","description":"Looks after the clusters at night"}', 'r' || n, ''::bytea, ''::bytea
       from generate_series($1::bigint, $2::bigint) n`,
  ],
  [
    'auditEntries',
    `insert into audit_text (organization_id, commitment, account_id, salt, text)
     select ${ORGANIZATION}, ${COMMITMENT}, ${ACTOR}, ${SALT}, 'grown'
       from generate_series($1::bigint, $2::bigint) n`,
  ],
];

const COUNT = `insert into account_count (block, users, barred, organizations)
  select id / 1000, count(*) filter (where kind = 'user'),
         count(*) filter (where kind = 'user' and (not active or prohibit_login)),
         count(*) filter (where kind = 'organization') from account where id > 1000000 group by id / 1000`;
/**
 * Built again at the end, which takes a fraction of the time that it takes row by row. Keys stay, because rows that are
 * there already are found by them; but nothing finds texts, whose hashes come in no order.
 */
const INDEXES = `select c.relname as name, 'drop index ' || c.relname as remove, pg_get_indexdef(c.oid) as build
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
   where t.relname = any($1) and not exists (select 1 from pg_constraint k where k.conindid = c.oid)
  union all
  select conname, 'alter table audit_text drop constraint ' || conname,
         'alter table audit_text add constraint ' || conname || ' ' || pg_get_constraintdef(oid)
    from pg_constraint where conrelid = 'audit_text'::regclass and contype = 'p'`;
const NUMBERED = ['account', 'team', 'role', 'cluster', 'audit', 'email', 'token', 'robot', 'contract'];
const TABLES = [...NUMBERED, 'audit_text', 'passkey', 'session', 'team_member', 'role_permission', 'assignment'];

/** Fills a migrated database of PostgreSQL, as its superuser. Counters and flags are as the triggers would set them. */
export async function fill(databaseUrl: string, size: Size, tell: (line: string) => void): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  // An index of a million rows takes minutes on a busy machine, and silence would look as if the test hung.
  const alive = setInterval(() => tell('…'), 60_000);
  try {
    // No triggers, and no checks of references: what is inserted fits together.
    await client.query(
      `set session_replication_role = replica; set synchronous_commit = off; set maintenance_work_mem = '512MB'`,
    );
    const { rows: indexes } = await client.query<{ name: string; remove: string; build: string }>(INDEXES, [TABLES]);
    for (const { remove } of indexes) await client.query(remove);
    for (const [what, statement] of STEPS) {
      const text = statement.replaceAll(
        /:(users|organizations|auditEntries)/g,
        (_all, name) => `${size[name as keyof Size]}`,
      );
      tell(`${text.split('(')[0]?.trim()}`);
      for (let first = 1; first <= size[what]; first += PART) {
        await client.query(text, [first, Math.min(first + PART - 1, size[what])]);
      }
    }
    await client.query(COUNT);
    for (const { name, build } of indexes) {
      tell(`index ${name}`);
      await client.query(build);
    }
    for (const table of NUMBERED) {
      await client.query(`select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`);
    }
    tell('vacuum analyze');
    await client.query('vacuum analyze');
  } finally {
    clearInterval(alive);
    await client.end();
  }
}
