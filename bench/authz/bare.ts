import Fastify from 'fastify';

/** The baseline: bare Fastify that sends the same answers, and for a batch parses the same body. */
const [one = '{}', many = '[]'] = process.argv.slice(2);
const answer = JSON.parse(one) as object;
const answers = JSON.parse(many) as object[];
const app = Fastify();
app.get('/api/v1/version', async () => ({}));
app.get('/api/v1/authz/objects/:objectType/:objID/allowed-permissions', async () => answer);
app.post('/api/v1/authz/objects/allowed-permissions', async () => answers);
process.on('SIGTERM', () => process.exit(0));
process.stdout.write(`listening on ${await app.listen({ port: 0, host: '127.0.0.1' })}\n`);
