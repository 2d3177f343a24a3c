import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../src/base/config/limits.ts';
import { buildRequest } from '../contract/tenant-requests.ts';
import { meaningOf, TENANT_SLOTS } from '../contract/tenant-slots.ts';
import { COUNTS } from '../counts.ts';
import { difference } from '../support/checks/alike.ts';
import { progress } from '../support/checks/progress.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { type Answer, openTestServer, type TestServer } from '../support/server/server.ts';
import { CREATED, HIDDEN, type Names, openTenantWorlds } from './tenant-worlds.ts';

const REQUESTS = COUNTS.tenantRequests;

/**
 * Where a name is taken or a person is found by design: account names and addresses are unique in a deployment, and
 * everybody can look up people. Such answers are searched for what is hidden, but not compared.
 */
const TOLD_BY_DESIGN: readonly (readonly [route: RegExp, meanings: RegExp])[] = [
  [/^GET \/users\/(search|:username(\/(followers|following|orgs|following\/:target))?)$/, /^person$/],
  [/\/user\/following\/:username$/, /^person$/],
  [/\/user\/validate\//, /^(person|organization|email)$/],
  [/^POST \/user\/emails$/, /^email$/],
  // A stranger holds nothing in an organization that exists, and is no member of one that does not.
  [/^(GET|POST) \/authz\/objects\/.*(allowed-permissions|explain)$/, /^organization$/],
  [/^GET \/authz\/objects\/:objectType$/, /^(person|organization)$/],
];
/** The same, within what the attacker owns. About another organization, nothing is told at all. */
const TOLD_AT_HOME: typeof TOLD_BY_DESIGN = [
  [/\/members\/:username$/, /^(person|organization)$/],
  [/\/audit(\/export|\/histogram)?$/, /^(person|organization)$/],
  [/\/(explain|access)$/, /^(person|organization)$/],
  [/\/authz\/(assignments|check|guardrails|matrix|preview)/, /^(person|organization)$/],
];
/** Owners may add anybody to what they own, so the person would then be a member. */
const NOT_TRIED: readonly (readonly [route: RegExp, slots: RegExp, meanings: RegExp])[] = [
  [/^PUT \/(orgs|teams)\/.*members/, /^username$/, /^person$/],
  // The name would be free, or the organization would have another one from then on.
  [/^(POST|PATCH) .*\/orgs(\/:org)?$/, /^\.username$/, /./],
  // Anybody can find a user by ID, and users have the same IDs as other things of the victim.
  [/^GET \/users\/search$/, /^\?uid$/, /./],
  // Attackers close and decide reviews of their own, which they can do only once.
  [/^POST \/authz\/reviews\/:id\//, /^(\?page|\?limit|\.comment)$/, /./],
];
/** A credential in the body decides who calls; guessing it is not about tenants. */
const NEVER_FILLED = 'secret';

describe('Requests that name things of another tenant', () => {
  let atrium: TestServer;
  before(async () => {
    const limits = Object.values(LIMITS).map(({ setting }) => [setting, '1000000'] as const);
    const env = { ...Object.fromEntries(limits), RATE_LIMIT: '0', AUTH_FAILURES: '1000000', DEPLOYMENT: 'marketplace' };
    atrium = await openTestServer({ env });
  });
  after(() => atrium.close());

  it(`${REQUESTS} requests about things of another tenant are answered as if those did not exist, with seed ${SEED}`, async () => {
    const random = createRandom();
    const { attackers, victim, absent, neutral, stateOfVictim } = await openTenantWorlds(atrium);
    const before = await stateOfVictim();
    const routes = Object.entries(TENANT_SLOTS).map(([route, line]) => ({
      route,
      slots: line.split(' ').map(meaningOf),
    }));
    // Each place once in turn, so that none is left out, in another order every time.
    const places = routes.flatMap(({ route, slots }) => slots.map(({ slot }) => ({ route, slots, slot })));
    const faults: string[] = [];
    const statuses = new Map<number, number>();
    let sent = 0;
    let compared = 0;
    for (let turn = 0; sent < REQUESTS && faults.length < 5; turn++) {
      const { route, slots, slot } = places[turn % places.length] ?? random.pick(places);
      const natural = slots.find((one) => one.slot === slot)?.meaning ?? 'text';
      if (natural === NEVER_FILLED) continue;
      const meaning = natural in victim && random.chance(0.6) ? natural : random.pick(Object.keys(victim));
      if (NOT_TRIED.some(([of, at, what]) => of.test(route) && at.test(slot) && what.test(meaning))) continue;
      // Often a second name of the victim, so that names that belong together are tried together.
      const others = slots.filter((one) => one.slot !== slot && one.meaning in victim && random.chance(0.3));
      const also = new Map(
        others
          .filter(
            (one) => !NOT_TRIED.some(([of, at, what]) => of.test(route) && at.test(one.slot) && what.test(one.meaning)),
          )
          .map((one) => [one.slot, one.meaning]),
      );
      const named = new Map([...also, [slot, meaning]]);
      const filled = new Set(slots.filter(() => random.chance(0.15)).map((one) => one.slot));
      const attacker = random.pick(attackers);
      const sudo = random.chance(0.02);
      const ask = async (names: Names, half: string): Promise<[Answer, readonly string[]]> => {
        const [method = '', path = ''] = route.split(' ');
        const built = buildRequest({ path, slots, named, filled, names, own: attacker.own, unique: `${turn}${half}` });
        const headers = sudo ? { Sudo: names.person ?? '' } : undefined;
        const body = method === 'GET' && !route.includes('buckets') ? undefined : built.body;
        const answer = await atrium.as(attacker.name)(method, built.path, body, headers);
        const about = `${attacker.name} ${method} ${built.path} ${JSON.stringify(body) ?? ''}`;
        if (HIDDEN.test(answer.text) || HIDDEN.test([...answer.headers.values()].join()))
          faults.push(`${about}: ${answer.text}`);
        if (answer.status >= 500 && ![502, 503].includes(answer.status))
          faults.push(`${about}: ${answer.status} ${answer.text}`);
        // Attackers can store a name in what they own, and then read it back: each name is replaced in both answers.
        return [answer, [...built.own, ...Object.values(victim), ...Object.values(absent)]];
      };
      const first = await ask(victim, 'c');
      sent += 1;
      statuses.set(first[0].status, (statuses.get(first[0].status) ?? 0) + 1);
      if (sent % 1000 === 0) progress(`${sent} of ${REQUESTS} requests about another tenant`);
      const isAtHome = !['org', '?org', 'id'].some((one) => named.has(one));
      const told = [...TOLD_BY_DESIGN, ...(isAtHome ? TOLD_AT_HOME : [])];
      if ([...named.values()].some((what) => told.some(([of, which]) => of.test(route) && which.test(what)))) continue;
      const second = await ask(absent, 'n');
      compared += 1;
      // What attackers own must contain as much of the one as of the other, because lists are searched for both.
      if (/^(PATCH|PUT)/.test(route)) await ask(neutral, 'r');
      const differs = difference(first, second, CREATED);
      if (differs !== undefined) {
        const what = [...named].map(([at, kind]) => `${at} = ${victim[kind]} or ${absent[kind]}`).join(', ');
        faults.push(`${attacker.name} ${route} with ${what}: ${differs}`);
      }
    }
    assert.deepEqual(faults, []);
    assert.ok(compared > sent * 0.85, `only ${compared} of ${sent} were compared`);
    assert.deepEqual(await stateOfVictim(), before);
    progress(`${sent} requests, ${compared} compared, by status ${JSON.stringify(Object.fromEntries(statuses))}`);
  });
});
