import { type Db, sql } from '../db/db.ts';
import type { Write } from '../directory/clock.ts';
import { type ClusterStatus, statusOf } from '../directory/clusters.ts';
import type { HeartbeatStore, PlacedBeat } from './heartbeats.ts';

// Replicas do not have quite the same time: it never goes back.
const SAID = `heartbeat_at = greatest(heartbeat_at, $3), reason = coalesce($4, reason), message = coalesce($5, message),
  node_count = coalesce($6, node_count), orchestrator_version = coalesce($7, orchestrator_version)`;
const REPEAT = sql(
  'heartbeats.repeat',
  `update cluster set ${SAID}
    where id = $1 and owner_id = $2 and phase = any($8::text[]) and heartbeat_at >= $9 returning id`,
);
const LOCK = sql(
  'heartbeats.lock',
  'select phase, reason, message, heartbeat_at from cluster where id = $1 and owner_id = $2 for update',
);
const TURN = sql('heartbeats.turn', `update cluster set phase = $8, ${SAID} where id = $1 and owner_id = $2`);

interface StatusRow extends ClusterStatus {
  heartbeat_at: Date | null;
}

export function createHeartbeatStore(db: Db, write: Write): HeartbeatStore {
  return {
    repeat: async (beat, phases, heardSince) =>
      (await db.query(REPEAT, [...valuesOf(beat), phases, heardSince])).length > 0,

    // Nobody's rights hang on how a cluster fares: nothing is touched, so no revision is taken.
    turn: (beat, decide, actor) =>
      write(async (query, _touch, record) => {
        const { ownerId: organizationId, id: objectId, now } = beat;
        const [row] = await query<StatusRow>(LOCK, [objectId, organizationId]);
        if (!row) return false;
        const shown = statusOf({ ...row, heartbeatAt: row.heartbeat_at }, now);
        const phase = decide(row.phase);
        // Words about another phase do not stay.
        const unsaid = phase === row.phase ? undefined : '';
        const { reason = unsaid, message = unsaid } = beat;
        await query(TURN, [...valuesOf({ ...beat, reason, message }), phase]);
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
