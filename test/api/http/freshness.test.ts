import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SESSION_COOKIE } from '../../../src/http/admission/credential.ts';
import { COUNTS } from '../../counts.ts';
import { itLong } from '../../support/checks/long.ts';
import { openPair, type Pair } from '../../support/server/processes.ts';
import type { TestServer } from '../../support/server/server.ts';
import { lacks } from '../../support/services/requirements.ts';
import { addMember, removeMember, setActive } from '../../support/world/people.ts';

const LANES = 8;
const ROUNDS = COUNTS.accountRounds;

/** What the other process answers: the status, and `admin` if GET /user says orgAdmin. */
type Ask = (headers: Record<string, string>, path?: string) => Promise<string>;

function askAt(url: string): Ask {
  return async (headers, path = '/user') => {
    const answer = await fetch(`${url}/api/v1${path}`, { headers });
    const body = (await answer.json()) as { orgAdmin?: boolean };
    return `${answer.status}${body.orgAdmin ? ' admin' : ''}`;
  };
}

interface Tally {
  checks: number;
  stale: string[];
}

/** The life of one user: everything that can be revoked is granted and revoked, and queried elsewhere at once. */
async function liveOneLife({ instance, world }: TestServer, ask: Ask, lane: number, rounds: number, tally: Tally) {
  const name = `lane${lane}-${Date.now().toString(36)}`;
  const id = await instance.features.users.create({ name, email: `${name}@example.com` });
  const owners = world.orgs.acme?.teams.Owners ?? 0n;
  const keyed = await instance.identity.tokens.issue({ accountId: id, name: 'kept', scopes: ['all'] });
  const kept = { Authorization: `token ${keyed.text}` };
  const expect = async (headers: Record<string, string>, wanted: string, what: string, path?: string) => {
    const said = await ask(headers, path);
    tally.checks++;
    if (said !== wanted) tally.stale.push(`${what}: ${said} instead of ${wanted}`);
  };

  for (let round = 0; round < rounds; round++) {
    const token = await instance.identity.tokens.issue({ accountId: id, name: `round ${round}`, scopes: ['all'] });
    const bearer = { Authorization: `Bearer ${token.text}` };
    await expect(bearer, '200', 'a new token');
    await instance.identity.tokens.revoke(token.id);
    await expect(bearer, '401', 'a revoked token');

    const session = await instance.identity.sessions.open(id, false, new Date());
    const cookie = { Cookie: `${SESSION_COOKIE}=${session.text}` };
    await expect(cookie, '200', 'a new session');
    await instance.identity.sessions.close(session.text);
    await expect(cookie, '401', 'an ended session');

    const elsewhere = await instance.identity.sessions.open(id, false, new Date());
    const away = { Cookie: `${SESSION_COOKIE}=${elsewhere.text}` };
    await expect(away, '200', 'another session');
    const actor = { id, name, requestId: 'test' };
    await instance.identity.sessions.endOthers(id, undefined, new Date(), actor);
    await expect(away, '401', 'a session that was ended from elsewhere');

    await addMember(instance, owners, id);
    await expect(kept, '200', 'a new member', '/authz/roles?org=acme');
    await expect(kept, '200 admin', 'a new owner');
    await removeMember(instance, owners, id);
    await expect(kept, '403', 'a removed member', '/authz/roles?org=acme');
    await expect(kept, '200', 'a removed owner');

    await setActive(instance, id, false);
    await expect(kept, '403', 'a deactivated user');
    await setActive(instance, id, true);
    await expect(kept, '200', 'an activated user');
  }
}

async function liveAtOnce(atrium: TestServer, ask: Ask, lanes: number, rounds: number): Promise<Tally> {
  const tally: Tally = { checks: 0, stale: [] };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => liveOneLife(atrium, ask, lane, rounds, tally)));
  return tally;
}

describe('Two processes on one PostgreSQL', { skip: lacks('postgresql') }, () => {
  let pair: Pair;
  before(async () => {
    pair = await openPair();
  });
  after(() => pair.atrium.close());

  it('A change acknowledged by one process is visible to the next request on the other', async (t) => {
    const other = await pair.open();
    t.after(() => other.close());
    const { checks, stale } = await liveAtOnce(pair.atrium, askAt(other.url), LANES, ROUNDS);
    assert.equal(checks, LANES * ROUNDS * 12);
    assert.deepEqual(stale, []);
  });

  itLong('A process that does not hear of changes serves stale answers, so the freshness test can fail', async (t) => {
    const other = await pair.open('deaf');
    t.after(() => other.close());
    const { stale } = await liveAtOnce(pair.atrium, askAt(other.url), 1, 2);
    for (const what of [
      'a revoked token',
      'an ended session',
      'a removed member',
      'a removed owner',
      'a deactivated user',
    ]) {
      assert.ok(
        stale.some((line) => line.startsWith(what)),
        `${what} was noticed without hearing of it`,
      );
    }
  });
});

describe('Revision queries', { skip: lacks('postgresql') }, () => {
  let pair: Pair;
  before(async () => {
    pair = await openPair();
  });
  after(() => pair.atrium.close());

  it('Concurrent requests over 64 connections share revision queries, more than six to a query', async () => {
    const requests = COUNTS.sharedRequests;
    const { atrium } = pair;
    const before = atrium.instance.revisions.queries;
    let left = requests;
    const connection = async () => {
      while (left-- > 0) assert.equal((await atrium.as('ann')('GET', '/user')).status, 200);
    };
    await Promise.all(Array.from({ length: 64 }, connection));
    const questions = atrium.instance.revisions.queries - before;
    assert.ok(questions < requests / 6, `${questions} questions for ${requests} requests`);
    assert.ok(questions > 0);
  });

  it('Sequential requests make one revision query each', async () => {
    await undisturbed(10, async () => {
      for (let time = 0; time < 10; time++) await pair.atrium.as('ann')('GET', '/user');
    });
  });

  it('Requests that need no caller make no revision query', async () => {
    await undisturbed(0, async () => {
      for (const path of ['/version', '/docs', '/openapi.json', '/nope', '/user']) await pair.atrium.as()('GET', path);
    });
  });

  /** The server makes a query of its own now and then, but not three times in a row. */
  async function undisturbed(expected: number, work: () => Promise<void>): Promise<void> {
    const { revisions } = pair.atrium.instance;
    const counts: number[] = [];
    for (let time = 0; time < 3 && counts.at(-1) !== expected; time++) {
      const before = revisions.queries;
      await work();
      counts.push(revisions.queries - before);
    }
    assert.equal(counts.at(-1), expected, `questions: ${counts.join(', ')}`);
  }
});
