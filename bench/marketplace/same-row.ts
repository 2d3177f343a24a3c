import { hash } from 'node:crypto';
import { createLog } from '../../src/base/log.ts';
import { openDb, sql } from '../../src/db/db.ts';
import { createServer } from '../../src/http/server.ts';

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

const db = await openDb({ databaseUrl: process.env.DATABASE_URL, dataDir: '', say: () => {} });
const app = createServer({
  log: createLog('error'),
  trustedProxies: [],
  isHttps: () => false,
  watch: () => {},
  refuse: (_error, _request, reply) => void reply.code(500).send(),
  word: () => ({}),
});
app.post('/', async (request, reply) => {
  const body = request.body as Body;
  const text = JSON.stringify(body);
  const { eventType = 'BIND', eventTime = '', applicationId = '' } = body;
  const key = hash('sha256', text, 'buffer');
  await db.query(INSERT, ['CloudB', key, applicationId, eventType, eventTime, text, request.ip, request.id]);
  return reply.code(200).send();
});
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
