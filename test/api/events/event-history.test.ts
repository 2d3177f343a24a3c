import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Instance } from '../../../src/instance.ts';
import { COUNTS, IS_LONG } from '../../counts.ts';
import { progress } from '../../support/checks/progress.ts';
import { createRandom, SEED } from '../../support/checks/random.ts';
import { type EventReader, type ReceivedEvent, readEvents } from '../../support/server/event-stream.ts';
import { openQuietly, openTestServer, TEST_KEY, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { lacks } from '../../support/services/requirements.ts';
import { makePerson } from '../../support/world/people.ts';

interface Heard {
  readonly revision: string;
  readonly changes: readonly string[];
}

const CHANGES = statement(
  `select revision, kind, id, organization_id from change where organization_id = $1 and revision > $2 order by revision`,
);

/** The last revision has another stamp, as on a server that never got the last commit and made another one. */
const OTHER_HISTORY = statement(
  `with other as (update revision_stamp set stamp = gen_random_uuid() where revision = (select value from revision)
     returning stamp)
   update revision set stamp = other.stamp from other where id = 1`,
);

/** Two servers on one database. */
describe('Events on several servers', { skip: lacks('postgresql') }, () => {
  let atrium: TestServer;
  let other: Instance;
  let urls: readonly string[];
  const readers: EventReader[] = [];
  before(async () => {
    atrium = await openTestServer({ driver: 'postgres' });
    const { DATABASE_URL = '' } = atrium.instance.config;
    other = await openQuietly({ DATABASE_URL, ATRIUM_KEY: TEST_KEY, EVENT_STREAMS: '6' }, []);
    urls = [atrium.url, await other.listen()];
  });
  after(async () => {
    for (const reader of readers) reader.close();
    await other.close();
    await atrium.close();
  });

  const connect = async (url: string, who: string, lastEventId?: string): Promise<EventReader> => {
    const headers: Record<string, string> = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
    const token = atrium.world.users[who]?.token;
    const reader = await readEvents(url, token, { path: `/api/v1/events?org=${orgOf(who)}`, headers });
    readers.push(reader);
    assert.equal(reader.status, 200);
    await reader.find(({ event }) => event === 'ready');
    return reader;
  };
  const orgOf = (who: string) => (who === 'eve' ? 'globex' : 'acme');

  it(`A listener that resumes on any server hears each of ${COUNTS.eventWrites} writes once, in order, with seed ${SEED}`, async () => {
    const random = createRandom();
    const write = await createWriter(atrium, urls);
    const [url = ''] = urls;
    const listeners = await Promise.all(
      ['ann', 'cat', 'eve'].map(async (who) => ({
        ...{ who, heard: [] as Heard[], position: undefined as string | undefined },
        reader: await connect(url, who),
      })),
    );
    const start = BigInt(listeners.map(({ reader }) => reader.events[0]?.data.revision).sort()[0] ?? '0');
    const collect = (reader: EventReader): Heard[] =>
      reader.events.flatMap(({ event, data }) => {
        assert.notEqual(event, 'reset');
        const wire = (one: { kind: string; id: string; organization: string }) =>
          `${one.kind} ${one.id} ${one.organization}`;
        return event === 'change' ? [{ revision: data.revision, changes: data.changes.map(wire) }] : [];
      });
    for (let done = 0; done < COUNTS.eventWrites; done += 2) {
      if (IS_LONG && done % 100 === 0) progress(`${done} of ${COUNTS.eventWrites} writes`);
      await Promise.all([write(random), write(random)]);
      for (const listener of listeners) {
        if (!random.chance(0.2)) continue;
        listener.reader.close();
        listener.heard.push(...collect(listener.reader));
        const next = random.pick(urls);
        // Sometimes, something happens while nobody listens.
        if (random.chance(0.5)) await write(random);
        // As a browser does: what is resumed keeps its position until the first event.
        listener.position = listener.reader.lastEventId() ?? listener.position;
        listener.reader = await connect(next, listener.who, listener.position);
      }
    }
    const last = await write(random, 'role');
    for (const listener of listeners) {
      const { who, reader } = listener;
      if (who !== 'eve') {
        await reader.find(isAboutRole(last), 'the last');
      }
      reader.close();
      listener.heard.push(...collect(reader));
      const expected = await recorded(atrium, orgOf(who), start);
      assert.deepEqual(listener.heard, expected, who);
      if (who === 'eve') assert.deepEqual(listener.heard, []);
      else assert.ok(listener.heard.length >= COUNTS.eventWrites / 2);
    }
  });

  it('A listener is told to load everything again after a failover to another history', async () => {
    const reader = await connect(atrium.url, 'ann');
    const position = reader.lastEventId();
    await atrium.instance.db.query(OTHER_HISTORY);
    const reset = await reader.find(({ event }) => event === 'reset');
    assert.equal(reset.data.reason, 'history');
    reader.close();
    const again = await connect(atrium.url, 'ann', position);
    assert.equal((await again.find(({ event }) => event === 'reset')).data.reason, 'position');
    again.close();
    const continued = await connect(atrium.url, 'ann', reset.id);
    const role = await (await createWriter(atrium, [atrium.url]))(createRandom(), 'role');
    await continued.find(isAboutRole(role));
    assert.equal(
      continued.events.some(({ event }) => event === 'reset'),
      false,
    );
    continued.close();
  });

  it('A server with its maximum of streams rejects more, and ends them all when it stops', async () => {
    const [, url = ''] = urls;
    const some = await Promise.all(Array.from({ length: 6 }, () => connect(url, 'cat')));
    const refused = await readEvents(url, atrium.world.users.ann?.token);
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '5']);
    refused.close();
    const id = some[0]?.lastEventId();
    await other.close();
    await Promise.all(some.map(({ ended }) => ended));
    for (const { events } of some) assert.deepEqual(events.map(({ event }) => event).slice(1), []);
    const moved = await connect(atrium.url, 'cat', id);
    assert.equal(moved.events[0]?.event, 'ready');
    moved.close();
  });
});

function isAboutRole(role: number | undefined): (event: ReceivedEvent) => boolean {
  return ({ data }) =>
    data.changes?.some(({ kind, id }: { kind: string; id: string }) => kind === 'role' && id === String(role)) ?? false;
}

async function recorded(atrium: TestServer, org: string, start: bigint): Promise<Heard[]> {
  const organization = atrium.world.orgs[org];
  const rows = await atrium.instance.db.query<{ revision: bigint; kind: string; id: bigint; organization_id: bigint }>(
    CHANGES,
    [organization?.id, start],
  );
  const wordOf = (kind: string, id: bigint) =>
    kind !== 'account' ? kind : id === organization?.id ? 'organization' : 'user';
  return [...Map.groupBy(rows, ({ revision }) => revision)].map(([revision, some]) => ({
    revision: String(revision),
    changes: [...new Set(some.map(({ kind, id }) => `${wordOf(kind, id)} ${id} ${org}`))],
  }));
}

/** Writes something random to acme, through any server. Returns the ID of what was created. */
async function createWriter(atrium: TestServer, urls: readonly string[]) {
  const person = await makePerson(atrium);
  const headers = { Authorization: `token ${atrium.world.users.ann?.token}` };
  const made: Readonly<Record<string, number[]>> = { role: [], team: [], cluster: [], robot: [] };
  const paths: Readonly<Record<string, readonly [string, string, string]>> = {
    role: ['/authz/roles?org=acme', '/authz/roles', '?org=acme'],
    team: ['/orgs/acme/teams', '/teams', ''],
    cluster: ['/orgs/acme/clusters', '/clusters', ''],
    robot: ['/orgs/acme/robots', '/robots', ''],
  };
  let count = 0;
  return async (random: ReturnType<typeof createRandom>, only?: string): Promise<number | undefined> => {
    const url = random.pick(urls);
    const call = async (method: string, path: string, body?: unknown) => {
      const answer = await atrium.call(method, `/api/v1${path}`, body, headers, url);
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
      return answer.body;
    };
    const kind = only ?? random.pick([...Object.keys(paths), 'member', 'profile']);
    if (kind === 'profile') return void (await call('PATCH', '/user', { full_name: `Ann ${++count}` }));
    if (kind === 'member') {
      const viewers = atrium.world.orgs.acme?.teams.Viewers;
      await call('PUT', `/teams/${viewers}/members/${person.name}`);
      return undefined;
    }
    const [list = '', one = '', query = ''] = paths[kind] ?? [];
    const known = made[kind] ?? [];
    const at = random.below(known.length + 1);
    const id = only === undefined ? known[at] : undefined;
    const name = `${kind}-${++count}`;
    if (id === undefined) {
      const details = kind === 'cluster' ? { uid: crypto.randomUUID() } : kind === 'team' ? { permission: 'none' } : {};
      const permissions =
        kind === 'role' ? { permissions: [{ namespace: 'cluster_mgmt', action: 'view clusters' }] } : {};
      const created = await call('POST', list, { name, ...details, ...permissions });
      known.push(created.id);
      return created.id;
    }
    known.splice(at, 1);
    if (random.chance(0.5) || kind === 'role') return void (await call('DELETE', `${one}/${id}${query}`));
    await call('PATCH', `${one}/${id}`, kind === 'cluster' ? { displayName: name } : { description: name });
    known.push(id);
    return undefined;
  };
}
