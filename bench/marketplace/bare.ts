import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

/**
 * The minimum that a listener could do: one POST, one row. What ours costs beyond this pays for what it guarantees
 * beyond this.
 */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
await pool.query('create table if not exists bare (id bigint generated always as identity primary key, body text)');
const server = createServer(async (request, response) => {
  const body = (await request.toArray()).join('');
  await pool.query({ name: 'bare', text: 'insert into bare (body) values ($1)', values: [body] });
  response.writeHead(200).end();
}).listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
