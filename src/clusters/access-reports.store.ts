import type { Write } from '../changes/write.ts';
import { type Db, type Query, sql } from '../db/db.ts';
import type { AccessReport, AccessReportStore } from './access-reports.ts';
import { bundleHash } from './kubernetes-access.rows.ts';

const COLUMNS = 'endpoint, ca_bundle, reported_endpoint, reported_ca_bundle';
const GET = sql('accessReports.get', `select ${COLUMNS} from cluster where owner_id = $1 and id = $2`);
const LOCK = sql('accessReports.lock', `select ${COLUMNS} from cluster where owner_id = $1 and id = $2 for update`);
const UPDATE = sql(
  'accessReports.update',
  `update cluster set endpoint = $2, ca_bundle = $3, reported_endpoint = $4, reported_ca_bundle = $5,
          version = version + 1 where id = $1`,
);

interface Row {
  endpoint: string;
  ca_bundle: string;
  reported_endpoint: string;
  reported_ca_bundle: string;
}

export function createAccessReportStore(db: Db, write: Write): AccessReportStore {
  return {
    get: ({ ownerId, id }) => read(db.query, GET, [ownerId, id]),

    report: ({ ownerId, id }, decide, actor) =>
      write(async (query, touch, record) => {
        const current = await read(query, LOCK, [ownerId, id]);
        if (!current) return;
        const { recorded, reported } = decide(current);
        const values = [recorded.endpoint, recorded.caBundle, reported.endpoint, reported.caBundle];
        await query(UPDATE, [id, ...values]);
        touch({ kind: 'cluster', id, organizationId: ownerId });
        const before = stateOf(current);
        const after = stateOf({ recorded, reported });
        const about = { actor, organizationId: ownerId, objectType: 'cluster', objectId: id };
        record({ ...about, action: 'cluster.report', before, after });
      }),
  };
}

async function read(query: Query, statement: typeof GET, values: unknown[]): Promise<AccessReport | undefined> {
  const [row] = await query<Row>(statement, values);
  return (
    row && {
      recorded: { endpoint: row.endpoint, caBundle: row.ca_bundle },
      reported: { endpoint: row.reported_endpoint, caBundle: row.reported_ca_bundle },
    }
  );
}

/** Certificates are long, so their hash stands for them. */
function stateOf({ recorded, reported }: AccessReport): object {
  const shown = ({ endpoint, caBundle }: AccessReport['recorded']) => ({
    ...(endpoint !== '' && { endpoint }),
    ...(caBundle !== '' && { caBundle: bundleHash(caBundle) }),
  });
  return { ...shown(recorded), reported: shown(reported) };
}
