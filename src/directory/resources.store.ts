import { type Statement, sql } from '../db/db.ts';
import type { ChangeKind, Write } from './clock.ts';
import type { Resources } from './resources.ts';

const INSERT_CLUSTER = sql(
  'resources.insertCluster',
  `insert into cluster (owner_id, name, uid, display_name, provider, orchestrator_version, node_count, location, phase)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id`,
);
const INSERT_CONTRACT = sql(
  'resources.insertContract',
  'insert into contract (owner_id, uid, name, product, ends_at) values ($1, $2, $3, $4, $5) returning id',
);
const INSERT_ROBOT = sql(
  'resources.insertRobot',
  'insert into robot (owner_id, name, description) values ($1, $2, $3) returning id',
);

export function createResourceStore(write: Write): Resources {
  return {
    createCluster: (cluster) =>
      insert('cluster', INSERT_CLUSTER, [
        cluster.ownerId,
        cluster.name,
        cluster.uid,
        cluster.displayName ?? cluster.name,
        cluster.provider ?? 'Generic',
        cluster.orchestratorVersion ?? '',
        cluster.nodeCount ?? 0,
        cluster.location ?? '',
        cluster.phase ?? 'Registered',
      ]),
    createContract: (contract) =>
      insert('contract', INSERT_CONTRACT, [
        contract.ownerId,
        contract.uid,
        contract.name,
        contract.product,
        contract.endsAt,
      ]),
    createRobot: (robot) => insert('robot', INSERT_ROBOT, [robot.ownerId, robot.name, robot.description ?? '']),
  };

  async function insert(kind: ChangeKind, statement: Statement, values: readonly [bigint, ...unknown[]]) {
    return await write(async (query, touch) => {
      const [row] = await query<{ id: bigint }>(statement, values);
      const id = row?.id ?? 0n;
      touch({ kind, id, organizationId: values[0] });
      return id;
    });
  }
}
