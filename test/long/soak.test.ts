import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { type ServerProcess, startServer } from '../support/server/process.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

const CLIENTS = 16;
const MIB = 2 ** 20;

describe('A server under mixed load for minutes', { skip: lacks('postgresql') }, () => {
  it('A server answers every request of a long mixed load, and its memory stays bounded', async () => {
    const { place, world } = await newDemoPlace('postgres');
    const env = { DATABASE_URL: place.databaseUrl ?? '', ATRIUM_KEY: TEST_KEY, LOG_LEVEL: 'error' };
    const server = startServer({ env });
    const base = `${await server.listening()}/api/v1`;
    const token = { ann: world.users.ann?.token ?? '', bob: world.users.bob?.token ?? '' };
    const prod = world.clusters.prod?.id;
    const wrong = new Map<string, number>();
    let requests = 0;
    let seconds = 0;
    const revisions = setInterval(() => {
      seconds += 1;
      if (seconds % 15 === 0) progress(`soak: ${seconds} s, ${requests} requests, ${residentMiB(server)} MiB`);
    }, 1000);
    const warm = Math.round(COUNTS.soakSeconds / 4);
    let atWarm = 0;

    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => live(client)));
    clearInterval(revisions);
    const atEnd = residentMiB(server);
    server.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
    assert.deepEqual(Object.fromEntries(wrong), {}, `of ${requests} requests`);
    assert.ok(requests > COUNTS.soakSeconds * 20, `only ${requests} requests`);
    assert.ok(atEnd < atWarm * 1.5 + 64, `${atWarm} MiB after ${warm} s, ${atEnd} MiB at the end`);

    async function live(client: number): Promise<void> {
      for (let turn = 0; seconds < COUNTS.soakSeconds; turn++) {
        if (atWarm === 0 && seconds >= warm) atWarm = residentMiB(server);
        await send('GET', '/user', 'ann', 200);
        await send('GET', `/authz/objects/cluster/${prod}/allowed-permissions?org=acme`, 'bob', 200);
        await send('GET', '/user/clusters', 'bob', 200);
        await send('GET', '/nothing/here', 'bob', 404);
        if (turn % 5 !== client % 5) continue;
        const role = await send('POST', '/authz/roles?org=acme', 'ann', 201, {
          name: `soak ${client} ${turn}`,
          permissions: [{ namespace: 'cluster_mgmt', action: 'view clusters' }],
        });
        await send('DELETE', `/authz/roles/${(role as { id?: number }).id}?org=acme`, 'ann', 204);
      }
    }

    async function send(method: string, path: string, who: keyof typeof token, status: number, body?: object) {
      const headers = { Authorization: `token ${token[who]}`, ...(body && { 'Content-Type': 'application/json' }) };
      const answer = await fetch(base + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      const text = await answer.text();
      requests += 1;
      const key = `${method} ${path.replace(/\d+/g, 'N')}: ${answer.status}`;
      if (answer.status !== status) wrong.set(key, (wrong.get(key) ?? 0) + 1);
      return text === '' ? {} : JSON.parse(text);
    }
  });
});

function residentMiB({ pid }: ServerProcess): number {
  const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round((Number(kib) * 1024) / MIB);
}
