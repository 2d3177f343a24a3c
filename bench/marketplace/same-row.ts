import { hash } from 'node:crypto';
import { sql } from '../../src/db/db.ts';
import { serveInserts } from './insert-server.ts';

/**
 * A bare insert of the row that a delivery leaves, with its indexes, behind the HTTP server that Atrium uses. It acts on
 * nothing, so there is no subscription, no installer, no event and no audit entry.
 */
const INSERT = sql(
  'bench.insert',
  `insert into delivery (marketplace, natural_key, subject, event_type, event_time, notification, source, request_id,
                         state, reason, answer_status, answered, done_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, 'done', 'applied', 200, true, now())`,
);

interface Body {
  readonly eventType?: string;
  readonly eventTime?: string;
  readonly applicationId?: string;
}

await serveInserts(async (db, request) => {
  const body = request.body as Body;
  const text = JSON.stringify(body);
  const { eventType = 'BIND', eventTime = '', applicationId = '' } = body;
  const key = hash('sha256', text, 'buffer');
  await db.query(INSERT, ['CloudB', key, applicationId, eventType, eventTime, text, request.ip, request.id]);
});
