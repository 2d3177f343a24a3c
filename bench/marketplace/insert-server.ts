import type { FastifyRequest } from 'fastify';
import { createLog } from '../../src/base/log.ts';
import { type Db, openDb } from '../../src/db/db.ts';
import { createServer } from '../../src/http/server.ts';

/** Answers each POST with 200 after an insert, behind the HTTP server that Atrium uses. */
export async function serveInserts(insert: (db: Db, request: FastifyRequest) => Promise<unknown>): Promise<void> {
  const db = await openDb({ databaseUrl: process.env.DATABASE_URL, dataDir: '', say: () => {} });
  const app = createServer({
    log: createLog('error'),
    trustedProxies: [],
    isHttps: () => false,
    watch: () => {},
    reject: (_error, _request, reply) => void reply.code(500).send(),
    word: () => ({}),
  });
  app.post('/', async (request, reply) => {
    await insert(db, request);
    return reply.code(200).send();
  });
  process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
}
