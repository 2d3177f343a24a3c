import type pg from 'pg';

interface Cast {
  readonly acme: number;
  readonly globex: number;
  readonly root: number;
}

const SAMPLE = 50_000;
const OLD_INDEXES = [
  'create index audit_actor on audit (actor_id, id)',
  'create index audit_object on audit (object_type, object_id, id)',
];

/**
 * Inserts rows that are hard for a planner: half belong to acme, the others to two hundred organizations; root is
 * active everywhere except in acme; robots are everywhere except in acme; contracts and globex are only in the first
 * tenth. Each entry about a token is about another one, which is deleted: nothing but the log tells its name. Returns the cost of writing as text: the same rows with the current indexes, and with those from before paging
 * was added.
 */
export async function fillAudit(client: pg.Client, rows: number, cast: Cast): Promise<string[]> {
  await fill(client, rows, cast);
  const size = await sizes(client);
  const now = await costOfWriting(client, cast);
  const { rows: kept } = await client.query(`select indexname as name, indexdef as text from pg_indexes
    where tablename = 'audit' and indexname not in ('audit_pkey', 'audit_organization')`);
  for (const { name } of kept) await client.query(`drop index ${name}`);
  for (const text of OLD_INDEXES) await client.query(text);
  const sizeBefore = await sizes(client);
  const before = await costOfWriting(client, cast);
  for (const name of ['audit_actor', 'audit_object']) await client.query(`drop index ${name}`);
  for (const { text } of kept) await client.query(text);
  return [
    `${now.toFixed(1)} µs a row in one statement with the indexes of now (${size} of indexes)`,
    `${before.toFixed(1)} µs with those of before (${sizeBefore})`,
    `${(now / before).toFixed(2)} times`,
  ];
}

/** The same rows, as fast as possible. */
export async function fillWithoutIndexes(client: pg.Client, rows: number, cast: Cast): Promise<void> {
  const { rows: indexes } = await client.query(`select indexname as name, indexdef as text from pg_indexes
    where tablename = 'audit' and indexname <> 'audit_pkey'`);
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  await client.query('set session_replication_role = replica');
  await fill(client, rows, cast);
  for (const { text } of indexes) await client.query(text);
}

async function sizes(client: pg.Client): Promise<string> {
  return (await client.query(`select pg_size_pretty(pg_indexes_size('audit')) as size`)).rows[0].size;
}

/** The median of three runs, each rolled back. */
async function costOfWriting(client: pg.Client, cast: Cast): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < 3; round++) {
    await client.query('begin');
    const start = performance.now();
    await fill(client, SAMPLE, cast);
    took.push(((performance.now() - start) * 1000) / SAMPLE);
    await client.query('rollback');
  }
  return took.sort((a, b) => a - b)[1] ?? Number.NaN;
}

async function fill(client: pg.Client, rows: number, { acme, globex, root }: Cast): Promise<void> {
  await client.query(
    `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, before, after,
                        request_id, previous_hash, hash)
     select timestamptz '2020-01-01' + n * interval '10 seconds', organization,
            case when n % 10 = 3 and organization <> $2 then $4 else 1000000 + (n * 7919) % 500 end, 'somebody',
            type || '.update', type, case type when 'token' then 10000000 + n else (n * 31) % 5000 end, '{"name":"Operators","teamIds":["12","13"]}',
            '{"name":"Operators","description":"Look after the clusters of the company, at night too","teamIds":["12"]}',
            'request-' || n, decode(repeat('00', 32), 'hex'), sha256(n::text::bytea)
       from (select n, case when n % 2 = 0 then $2::bigint when n < $1 / 10 then $3 else 500000 + (n / 2) % 200 end
                    as organization,
                    case when n < $1 / 10 and n % 5 = 1 then 'contract' when n % 10 = 7 then 'robot'
                         else (array['role', 'team', 'cluster', 'token'])[1 + n % 4] end as type
               from generate_series(1, $1::bigint) n) numbered`,
    [rows, acme, globex, root],
  );
}
