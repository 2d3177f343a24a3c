import pg from 'pg';

/** How large a deployment is. The demo world comes on top of it. */
export interface Size {
  readonly users: number;
  readonly organizations: number;
  readonly clusters: number;
  readonly auditEntries: number;
}

/** In parts, so that progress can be told and no statement takes minutes. */
const PART = 100_000;

const FIRST = `(array['Ada','Ben','Cleo','Dora','Emil','Fay','Gus','Hana','Ivo','Jana','Karl','Lena','Milo','Nora','Otto','Pia'])`;
const LAST = `(array['Abel','Brandt','Cole','Dietz','Engel','Fuchs','Graf','Holm','Ilves','Jung','Keller','Lang','Moser'])`;

/** Each makes the rows from the `$1`th to the `$2`th. `:users` and `:organizations` are their numbers. */
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
  [
    'auditEntries',
    `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, request_id,
                        previous_hash, hash)
     select now() - interval '400 days' + n * interval '1 second', 5000000 + n % :organizations + 1,
            1000000 + n % :users + 1, 'grown', (array['team.update', 'role.update', 'cluster.update'])[1 + n % 3],
            (array['team', 'role', 'cluster'])[1 + n % 3], 5000000 + n % :organizations, 'r' || n, ''::bytea, ''::bytea
       from generate_series($1::bigint, $2::bigint) n`,
  ],
];

const COUNT = `insert into account_count (block, users, barred, organizations)
  select id / 1000, count(*) filter (where kind = 'user'),
         count(*) filter (where kind = 'user' and (not active or prohibit_login)),
         count(*) filter (where kind = 'organization') from account where id > 1000000 group by id / 1000`;
/** Built again at the end, which takes a fraction of the time that it takes row by row. */
const SLOW_INDEXES = `select indexname as name, indexdef as definition from pg_indexes
  where schemaname = 'public' and indexdef like '%USING gin%search_pieces%'`;

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
    const { rows } = await client.query<{ name: string; definition: string }>(SLOW_INDEXES);
    for (const { name } of rows) await client.query(`drop index ${name}`);
    for (const [what, statement] of STEPS) {
      const text = statement
        .replaceAll(':users', `${size.users}`)
        .replaceAll(':organizations', `${size.organizations}`);
      for (let first = 1; first <= size[what]; first += PART) {
        tell(`${text.split('(')[0]?.trim()} from ${first}`);
        await client.query(text, [first, Math.min(first + PART - 1, size[what])]);
      }
    }
    await client.query(COUNT);
    for (const { name, definition } of rows) {
      tell(`index ${name}`);
      await client.query(definition);
    }
    for (const table of ['account', 'team', 'role', 'cluster', 'audit', 'email', 'token', 'robot', 'contract']) {
      await client.query(`select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`);
    }
    tell('vacuum analyze');
    await client.query('vacuum analyze');
  } finally {
    clearInterval(alive);
    await client.end();
  }
}
