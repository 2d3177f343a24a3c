import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { COUNTS } from '../../counts.ts';
import { itLong } from '../../support/checks/long.ts';
import { progress } from '../../support/checks/progress.ts';
import { openPair, type Pair } from '../../support/server/processes.ts';
import { MAX_ATTEMPTS, RETRY_MS, type TestServer } from '../../support/server/server.ts';
import { lacks } from '../../support/services/requirements.ts';
import { makeHolder } from '../../support/world/authz.ts';

const PAIRS = Number(process.env.TEST_PAIRS ?? COUNTS.revokeAskPairs);
/** A real OpenFGA takes a millisecond and more for each relation, so fewer ask at once there. */
const LANES = process.env.TEST_OPENFGA_URL ? 4 : 16;

const VIEW = { namespace: 'cluster_mgmt', action: 'view clusters' };
const EDIT = { namespace: 'cluster_mgmt', action: 'reconfigure clusters' };
const REMOVE = { namespace: 'cluster_mgmt', action: 'remove clusters' };

interface Tally {
  pairs: number;
  readonly stale: string[];
}

/**
 * What each state of a lane's role lets its only holder do. Each state takes away something that the previous one
 * granted.
 */
const STATES: readonly {
  readonly permissions: readonly (typeof VIEW)[];
  readonly isGiven: boolean;
  readonly allowed: string;
}[] = [
  { permissions: [EDIT], isGiven: true, allowed: 'can_view,can_edit' },
  { permissions: [REMOVE], isGiven: true, allowed: 'can_view,can_remove' },
  { permissions: [REMOVE], isGiven: false, allowed: '' },
  { permissions: [VIEW], isGiven: true, allowed: 'can_view' },
];

/** One role goes through its states. As soon as a change is acknowledged here, the other process is queried. */
async function liveOneRole(atrium: TestServer, ask: Ask, lane: number, pairs: number, tally: Tally): Promise<void> {
  const org = lane % 4 === 3 ? 'globex' : 'acme';
  const holder = await makeHolder(atrium, [], org);
  const token = atrium.world.users[holder.name]?.token ?? '';
  const owner = org === 'acme' ? 'ann' : 'eve';
  const path = `/api/v1/authz/objects/cluster/${atrium.world.clusters[org === 'acme' ? 'prod' : 'globex']?.id}/allowed-permissions?org=${org}`;
  // Only a client repeats what an OpenFGA server did not answer in time.
  const change = lane % 4 === 0 || process.env.TEST_OPENFGA_URL ? overHttp : throughRules;

  for (let step = 0; step < pairs; step++) {
    const state = STATES[step % STATES.length] as (typeof STATES)[number];
    await change(state.permissions, state.isGiven ? [holder.teamId] : []);
    const said = await ask(path, token);
    tally.pairs++;
    if (tally.pairs % 2000 === 0) progress(`${tally.pairs} of ${PAIRS} revoke and ask pairs`);
    if (said !== state.allowed) tally.stale.push(`step ${step} of ${holder.name}: "${said}", not "${state.allowed}"`);
  }

  async function throughRules(permissions: readonly (typeof VIEW)[], teamIDs: readonly number[]): Promise<void> {
    const { orgs, users } = atrium.world;
    const actor = { id: users[owner]?.id ?? 0n, name: owner, requestId: 'freshness' };
    const setting = { organizationId: orgs[org]?.id ?? 0n, actor };
    const input = { permissions, teamIds: teamIDs.map(BigInt) };
    await atrium.instance.features.roles.update(setting, BigInt(holder.roleId), input, () => undefined);
  }

  async function overHttp(permissions: readonly (typeof VIEW)[], teamIDs: readonly number[]): Promise<void> {
    const answer = await atrium.as(owner)('PUT', `/authz/roles/${holder.roleId}?org=${org}`, { permissions, teamIDs });
    assert.equal(answer.status, 200, answer.text);
  }
}

/** The permissions that the other process returns, as one text. */
type Ask = (path: string, token: string) => Promise<string>;

function askAt(url: string, agent: Agent): Ask {
  return async (path, token) => {
    for (let attempt = 1; ; attempt++) {
      const said = await askOnce(path, token);
      if (said !== '503' || attempt >= MAX_ATTEMPTS) return said;
      await pause(RETRY_MS);
    }
  };

  function askOnce(path: string, token: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request(`${url}${path}`, { agent, headers: { Authorization: `token ${token}` } }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve(response.statusCode === 200 ? JSON.parse(text).allowedPermissions.join() : `${response.statusCode}`),
        );
      });
      sent.on('error', reject).end();
    });
  }
}

async function liveAll(atrium: TestServer, url: string, lanes: number, pairs: number): Promise<Tally> {
  const tally: Tally = { pairs: 0, stale: [] };
  const agent = new Agent({ keepAlive: true, maxSockets: lanes });
  const each = Math.ceil(pairs / lanes);
  await Promise.all(
    Array.from({ length: lanes }, (_, lane) => liveOneRole(atrium, askAt(url, agent), lane, each, tally)),
  );
  agent.destroy();
  return tally;
}

describe('Role changes across processes', { skip: lacks('postgresql') }, () => {
  let pair: Pair;
  before(async () => {
    pair = await openPair();
  });
  after(() => pair.atrium.close());

  it(`Another process never answers with stale permissions over ${PAIRS} role changes`, async () => {
    const other = await pair.open();
    const { pairs, stale } = await liveAll(pair.atrium, other.url, LANES, PAIRS).finally(() => other.close());
    assert.ok(pairs >= PAIRS);
    assert.deepEqual(stale.slice(0, 10), []);
  });

  itLong('A process that does not hear of changes answers with stale permissions', async () => {
    const other = await pair.open('deaf');
    const { pairs, stale } = await liveAll(pair.atrium, other.url, 4, 40);
    await other.close();
    assert.ok(stale.length > pairs / 2, `${stale.length} stale of ${pairs}`);
  });
});
