import type pg from 'pg';

/**
 * Inserts rows directly into the tables, without triggers. The counters and blocks that the triggers would maintain are
 * computed at the end.
 */
export async function fillFollowers(client: pg.Client, followedId: number, count: number): Promise<void> {
  await client.query(`set session_replication_role = replica`);
  await client.query(
    `with fans as (
       insert into account (kind, name, full_name, followings)
       select 'user', 'crowd' || n, 'Follower ' || n, 1 from generate_series(1, $1::bigint) n returning id, name
     )
     insert into email (account_id, address, verified, is_primary)
     select id, name || '@example.com', true, true from fans`,
    [count],
  );
  // In a different order from the one in which the accounts were created, as in a real deployment.
  await client.query(
    `insert into follow (follower_id, followed_id, seq)
     select id, $1, row_number() over (order by md5(name)) from account where name like 'crowd%'`,
    [followedId],
  );
  await client.query(
    `insert into follow_block (followed_id, block, count)
     select followed_id, seq / 1000, count(*) from follow where followed_id = $1 group by 1, 2`,
    [followedId],
  );
  await client.query(
    `update account a set followers = c.count, follow_seq = c.last
       from (select count(*), max(seq) as last from follow where followed_id = $1) c where a.id = $1`,
    [followedId],
  );
  await client.query(`set session_replication_role = origin`);
}

/** Clusters of one organization, in different phases: a third of them has been silent for two days. */
export async function fillOrganization(client: pg.Client, organization: string, clusters: number): Promise<void> {
  await client.query(
    `insert into cluster (owner_id, name, display_name, uid, provider, node_count, phase, heartbeat_at)
     select a.id, 'many' || n, 'Many ' || n, gen_random_uuid(), 'GKE', n % 50, 'Active',
            now() - case when n % 3 = 0 then interval '2 days' else interval '1 second' end
       from account a, generate_series(1, $2::bigint) n where a.name = $1`,
    [organization, clusters],
  );
}

/** Organizations in which the user is a viewer, with the clusters spread over them. */
export async function fillClusters(
  client: pg.Client,
  personId: number,
  organizations: number,
  clusters: number,
): Promise<void> {
  await client.query(
    `with made as (
       insert into account (kind, name) select 'organization', 'bench' || n from generate_series(1, $2::bigint) n
       returning id
     ), owners as (
       insert into team (organization_id, name, permission, type) select id, 'Owners', 'owner', 'builtin' from made
     ), viewers as (
       insert into team (organization_id, name, permission, type) select id, 'Viewers', 'read', 'builtin' from made
       returning id
     )
     insert into team_member (team_id, account_id) select id, $1 from viewers`,
    [personId, organizations],
  );
  await client.query(
    `insert into cluster (owner_id, name, display_name, uid, provider, vendor, orchestrator_version, node_count, location)
     select a.id, 'cluster' || n, 'Cluster ' || n, gen_random_uuid(), 'GKE', 'Google', 'v1.31.4', 3, 'europe-west4'
       from account a, generate_series(1, $1::bigint) n where a.name like 'bench%' and a.kind = 'organization'`,
    [Math.ceil(clusters / organizations)],
  );
}
