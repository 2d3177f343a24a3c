import type { Write } from '../changes/write.ts';
import { type Db, sql } from '../db/db.ts';
import { type ClusterStatus, SILENT_MS, statusOf } from './cluster.ts';
import type { HeartbeatStore, PlacedBeat } from './heartbeats.ts';

/**
 * The clocks of replicas differ slightly, so the time does not go back, unless it is so far ahead that the clock must
 * have been set back: then a cluster that falls silent would seem to be connected until the clock has caught up.
 */
const LATEST = (known: string, now: string, silent: string) =>
  `case when ${known} > ${now} + ${silent} * interval '1 millisecond' then ${now} else greatest(${known}, ${now}) end`;

// Rows are locked in the order of IDs, as on every replica.
const REPEAT = sql(
  'heartbeats.repeat',
  `update cluster c set heartbeat_at = ${LATEST('c.heartbeat_at', 'b.now', '$10')}, reason = coalesce(b.reason, c.reason),
          message = coalesce(b.message, c.message), node_count = coalesce(b.node_count, c.node_count),
          orchestrator_version = coalesce(b.orchestrator_version, c.orchestrator_version)
     from (select v.* from unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::integer[],
                                  $7::text[], $8::text[])
                      as v (id, owner_id, now, reason, message, node_count, orchestrator_version, phase)
             join cluster k on k.id = v.id order by k.id for update of k) b
    where c.id = b.id and c.owner_id = b.owner_id and c.heartbeat_at >= b.now - $10 * interval '1 millisecond'
      and (c.phase = b.phase or b.phase is null and c.phase = any($9::text[]))
   returning c.id`,
);
const LOCK = sql(
  'heartbeats.lock',
  'select phase, reason, message, heartbeat_at from cluster where id = $1 and owner_id = $2 for update',
);
const TURN = sql(
  'heartbeats.turn',
  `update cluster set heartbeat_at = ${LATEST('heartbeat_at', '$3::timestamptz', '$9::float8')}, reason = coalesce($4, reason),
          message = coalesce($5, message), node_count = coalesce($6, node_count),
          orchestrator_version = coalesce($7, orchestrator_version), phase = $8 where id = $1 and owner_id = $2`,
);

interface StatusRow extends ClusterStatus {
  heartbeat_at: Date | null;
}

export function createHeartbeatStore(db: Db, write: Write): HeartbeatStore {
  return {
    async repeat(beats, { steady, silentMs }) {
      const rows = beats.map((beat) => [...valuesOf(beat), beat.phase]);
      const columns = Array.from({ length: 8 }, (_, place) => rows.map((row) => row[place]));
      const taken = await db.query<{ id: bigint }>(REPEAT, [...columns, steady, silentMs]);
      return new Set(taken.map(({ id }) => id));
    },

    // No permissions depend on the status of a cluster: nothing is touched, so there is no new revision.
    turn: (beat, decide, actor) =>
      write(async (query, _touch, record) => {
        const { ownerId: organizationId, id: objectId, now } = beat;
        const [row] = await query<StatusRow>(LOCK, [objectId, organizationId]);
        if (!row) return false;
        const shown = statusOf({ ...row, heartbeatAt: row.heartbeat_at }, now);
        const phase = decide(row.phase);
        // The reason and the message of another phase do not stay.
        const unsaid = phase === row.phase ? undefined : '';
        const { reason = unsaid, message = unsaid } = beat;
        await query(TURN, [...valuesOf({ ...beat, reason, message }), phase, SILENT_MS]);
        if (shown.phase === phase) return true;
        const after = { phase, reason: reason ?? row.reason, message: message ?? row.message };
        record({
          actor,
          organizationId,
          action: 'cluster.phase',
          objectType: 'cluster',
          objectId,
          before: shown,
          after,
        });
        return true;
      }),
  };
}

function valuesOf({ id, ownerId, now, reason, message, nodeCount, orchestratorVersion }: PlacedBeat): unknown[] {
  return [id, ownerId, now, reason, message, nodeCount, orchestratorVersion];
}
