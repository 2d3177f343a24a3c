import Fastify from 'fastify';

/** The common baseline: Fastify with one route that sends the given body and headers. */
const [body = '{}', headers = '{}'] = process.argv.slice(2);
const more = JSON.parse(headers) as Record<string, string>;
const app = Fastify();
app.get('/api/v1/user', async (_request, reply) => reply.headers(more).send(body));
process.on('SIGTERM', () => process.exit(0));
process.stdout.write(`listening on ${await app.listen({ port: 0, host: '127.0.0.1' })}\n`);
