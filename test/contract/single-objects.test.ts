import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SignedAccess } from '../../src/http/admission/access.ts';
import type { BookedRoute } from '../../src/http/admission/route-book.ts';
import { COUNTS, IS_LONG } from '../counts.ts';
import { difference } from '../support/checks/alike.ts';
import { readEvents } from '../support/server/event-stream.ts';
import type { Answer } from '../support/server/server.ts';
import { claimsOf, fileOf } from '../support/services/bus.ts';
import {
  openSingleObjects,
  SINGLE_PERMISSIONS,
  SINGLE_TYPES,
  type SingleCaller,
  type SingleObjects,
  type SingleType,
  type Thing,
} from '../support/world/single-object-world.ts';
import { PARAMETERS } from './routes/parameters.ts';
import { ROUTES } from './routes/table.ts';
import { LISTS, modelName, notFound, PLURALS, relationFor, typeOf } from './single-object-names.ts';
import { buildRequest } from './tenant-requests.ts';
import { meaningOf, TENANT_SLOTS } from './tenant-slots.ts';

/** IDs and names of what requests created. */
const CREATED = /\b9\d{6}\b|\bnew\d+[hn]\b/g;
/** IDs and names of what the organization owns. */
const CANARY = /\b77\d{5}\b|\bhush(one|two)\w*/g;

/** Every day, callers take turns: each request is made as some of them. */
const STEP = COUNTS.singleCallerStep;

interface Sent {
  readonly route: BookedRoute;
  readonly path: string;
  readonly body: unknown;
  /** What the path names by its ID, if the route is about an object. */
  readonly object: Thing | undefined;
}

describe('Every route, for callers who hold at most one permission on one object', () => {
  let world: SingleObjects;
  const callers: SingleCaller[] = [];
  before(async () => {
    world = await openSingleObjects({ env: { RATE_LIMIT: '0', AUTH_FAILURES: '1000000' } });
    callers.push(await world.robot('idle'), await world.robot('worker', 'cluster'));
    for (const type of SINGLE_TYPES) {
      const permissions = IS_LONG ? SINGLE_PERMISSIONS[type] : SINGLE_PERMISSIONS[type].slice(0, 1);
      for (const permission of permissions) callers.push(await world.person(type, permission));
    }
  });
  after(() => world.atrium.close());

  it('Every route admits exactly the callers that the model allows, and no answer names what they may not see', async () => {
    const faults: string[] = [];
    for (const [turn, caller] of callers.entries()) {
      const held = await world.heldBy(caller);
      for (const [place, route] of world.atrium.instance.routes.entries()) {
        if (route.access.who === 'webhook' || (turn + place) % STEP !== 0) continue;
        for (const sent of requestsOf(route)) {
          const answer = await send(caller, sent);
          const about = `${caller.name}: ${route.method} ${sent.path}`;
          const fault = faultOf(caller, held, sent, answer) ?? leakOf(caller, sent, answer);
          if (fault !== undefined) faults.push(`${about}: ${fault}: ${answer.status} ${answer.text.slice(0, 300)}`);
        }
      }
    }
    assert.deepEqual(faults, []);
  });

  for (const type of SINGLE_TYPES) {
    it(`Every list, total, search and stream shows a member the one ${type} that a role shows them, and no other`, async () => {
      const caller = callers.find((one) => !one.isRobot && one.seen?.type === type) ?? assert.fail();
      const [{ status }] = (await world.asOwner('GET', `/orgs/${world.org.name}/clusters`)).body;
      for (const [path, shown] of questionsOf(caller, status.response.phase)) {
        const answer = await caller.call('GET', `/api/v1${path}`);
        assert.equal(leakOf(caller, { path }, answer), undefined, `${path}: ${answer.text}`);
        if (shown === undefined) {
          assert.deepEqual([answer.status, answer.body?.reason], [403, 'missing_relation'], `${path}: ${answer.text}`);
          continue;
        }
        assert.equal(answer.status, 200, `${path}: ${answer.text}`);
        const list = Array.isArray(answer.body) ? answer.body : (answer.body.items ?? answer.body.data);
        const names = list.map((one: { name?: string; metadata?: Thing }) => one.name ?? one.metadata?.name);
        assert.deepEqual(names.sort(), [...shown].sort(), path);
        const total = answer.headers.get('x-total-count');
        if (total !== null) assert.equal(total, String(shown.length), path);
      }
    });
  }

  it('A search finds only what a role shows the caller, and an overview counts only that', async () => {
    for (const caller of callers) {
      const { name: org } = world.org;
      const { body: found } = await caller.call('GET', `/api/v1/search?q=hush&org=${org}`);
      const { body: counts } = await caller.call('GET', `/api/v1/orgs/${org}/overview`);
      for (const type of SINGLE_TYPES) {
        const shown = caller.seen?.type === type ? [caller.seen.name] : [];
        assert.deepEqual(
          found[PLURALS[type]].map(({ name }: Thing) => name),
          shown,
          `${caller.name} ${type}`,
        );
        if (type === 'team') continue;
        const count = counts[PLURALS[type]]?.all ?? counts[PLURALS[type]];
        assert.equal(count, shown.length === 0 ? undefined : 1, `${caller.name} ${type}`);
      }
      assert.deepEqual([counts.teams, counts.members, counts.tokens], [undefined, undefined, undefined]);
    }
  });

  it('A cluster exists under the name of its organization only for callers to whom a role shows it', async () => {
    const [one, two] = world.things.filter(({ type }) => type === 'cluster');
    for (const caller of callers) {
      const exists = async (name = '') =>
        (await caller.call('GET', `/api/v1/clustersv2/${world.org.name}/${name}/exist`)).text;
      const nothing = await exists('nothing');
      assert.equal((await exists(one?.name)) === nothing, caller.seen !== one, caller.name);
      assert.equal(await exists(two?.name), nothing, caller.name);
    }
  });

  it('Bus credentials have the subjects of the cluster that a role shows, and of no other', async () => {
    const [one, two] = world.things.filter(({ type }) => type === 'cluster');
    for (const caller of callers.filter(({ isRobot }) => !isRobot)) {
      const { status, body, text } = await caller.call('GET', '/api/v1/user/bus/credentials');
      assert.equal(status, 200, text);
      const { subscribe } = claimsOf(fileOf(body));
      assert.equal(subscribe.includes(`cluster.${one?.uid}.>`), caller.seen === one, caller.name);
      assert.ok(!JSON.stringify(claimsOf(fileOf(body))).includes(two?.uid ?? ''), caller.name);
    }
  });

  it('Events tell of changes of the object that a role shows, and of no other', async () => {
    const { things, asOwner, atrium, org } = world;
    const path = `/api/v1/events?org=${org.name}&follow=false`;
    const starts: string[] = [];
    for (const { token } of callers) {
      const reader = await readEvents(atrium.url, token, { path });
      await reader.ended;
      starts.push(reader.lastEventId() ?? '');
    }
    for (const { type, id } of things) {
      const field = { cluster: 'location', contract: 'product', robot_ac: 'description', team: 'description' }[type];
      const answer = await asOwner('PATCH', `/${PLURALS[type]}/${id}`, { [field]: 'changed' });
      assert.equal(answer.status, 200, answer.text);
    }
    for (const [index, { name, token, seen }] of callers.entries()) {
      const reader = await readEvents(atrium.url, token, { path: `${path}&last_event_id=${starts[index]}` });
      await reader.ended;
      const changes = reader.events.flatMap(({ data }) => data.changes ?? []).map(({ event: _, ...change }) => change);
      const kind = seen && PLURALS[seen.type].slice(0, -1);
      const own = { kind, id: String(seen?.id), organization: org.name, type: `${kind}.update` };
      assert.deepEqual(changes, seen ? [own] : [], name);
    }
  });

  /** What a member asks for, and the names that are listed; undefined if the list is closed. */
  function questionsOf(
    { seen, team }: SingleCaller,
    phase: string,
  ): (readonly [path: string, shown: readonly string[] | undefined])[] {
    const at = `/orgs/${world.org.name}`;
    const of = (type: SingleType) => (seen?.type === type ? [seen.name] : undefined);
    const clusters = of('cluster');
    const teams = of('team') && [...(of('team') ?? []), team?.name ?? ''];
    const twos = (names: readonly string[] | undefined) => names && [];
    return [
      [`${at}/clusters`, clusters],
      ...['q=hush', `phase=${phase}`, 'sort=name', 'page=1&limit=1', 'q=hushonecluster'].map(
        (query) => [`${at}/clusters?${query}`, clusters] as const,
      ),
      [`${at}/clusters?q=hushtwo`, twos(clusters)],
      [`${at}/clusters?name=hushtwocluster`, twos(clusters)],
      [`${at}/clusters?phase=Lost`, twos(clusters)],
      ['/user/clusters?all=true', clusters ?? []],
      ['/user/clusters', []],
      [`/clustersv2/${world.org.name}`, clusters ?? []],
      [`/clustersv2/${world.org.name}?page=1&limit=5`, clusters ?? []],
      [`${at}/contracts`, of('contract')],
      [`${at}/contracts?name=hushtwocontract`, twos(of('contract'))],
      [`${at}/robots`, of('robot_ac')],
      [`${at}/robots?name=hushtworobot`, twos(of('robot_ac'))],
      [`${at}/teams`, teams],
      [`${at}/teams?page=1&limit=50`, teams],
      [`${at}/teams/search?q=hush`, of('team')],
      [`${at}/teams/search?q=hushtwo`, twos(of('team'))],
      ['/user/teams', [team?.name ?? '']],
      [`${at}/members`, undefined],
    ];
  }

  it('What a caller may not see is answered as if it did not exist, wherever a request can name it', async () => {
    const faults: string[] = [];
    let compared = 0;
    // Those who can only look, so that the objects stay as they are.
    const viewers = callers.filter(({ permission }) => permission?.includes(' view '));
    await world.idsFrom({ cluster: 9_000_000, contract: 9_100_000, robot: 9_200_000, team: 9_300_000 });
    let asked = 0;
    for (const caller of viewers) {
      asked += 1;
      const held = world.things.filter(({ name }) => name.startsWith('hushtwo'));
      const hidden = namesOf(held, world.org.name);
      const absent = Object.fromEntries(Object.entries(hidden).map(([meaning, text]) => [meaning, likeBut(text)]));
      const own = {
        ...namesOf(
          world.things.filter(({ name }) => name.startsWith('hushone')),
          world.org.name,
        ),
        person: 'ann',
      };
      for (const [route, line] of Object.entries(TENANT_SLOTS)) {
        const [method = '', path = ''] = route.split(' ');
        const slots = line.split(' ').map(meaningOf);
        for (const { slot, meaning } of slots.filter(
          (one) => one.meaning in hidden && one.meaning !== 'organization',
        )) {
          // Robots report for every cluster of their organization.
          if (caller.isRobot && path.endsWith('/heartbeat')) continue;
          asked += 1;
          if (asked % STEP !== 0) continue;
          const named = new Map([[slot, meaning]]);
          const ask = async (names: Readonly<Record<string, string>>, half: string) => {
            const built = buildRequest({
              path,
              slots,
              named,
              filled: new Set(),
              names,
              own,
              unique: `${compared}${half}`,
            });
            const body = method === 'GET' && !route.includes('buckets') ? undefined : built.body;
            const answer = await caller.call(method, `/api/v1${built.path}`, body);
            const sent = { path: `${built.path} ${JSON.stringify(body) ?? ''}` };
            const leak =
              leakOf(caller, sent, answer) ?? (answer.status >= 500 && answer.status < 502 ? 'fails' : undefined);
            if (leak !== undefined)
              faults.push(`${caller.name}: ${method} ${sent.path}: ${leak}: ${answer.text.slice(0, 200)}`);
            return [answer, [...built.own, ...Object.values(hidden), ...Object.values(absent)]] as const;
          };
          const differs = difference(await ask(hidden, 'h'), await ask(absent, 'n'), CREATED);
          compared += 1;
          if (differs !== undefined)
            faults.push(`${caller.name}: ${route} with ${slot} = ${hidden[meaning]}: ${differs}`);
        }
      }
    }
    assert.deepEqual(faults, []);
    assert.ok(compared > 400 / STEP, `only ${compared} were compared`);
  });

  /** One request, or one for each object of the type that the route is about. */
  function requestsOf(route: BookedRoute): Sent[] {
    const key = `${route.method} ${route.path}`;
    const { access } = route;
    const type = access.who === 'holds' && access.about === 'object' ? typeOf(access) : undefined;
    const objects = type === undefined ? [undefined] : world.things.filter((one) => one.type === type);
    const inQuery = 'about' in access && access.about === 'query' ? [`org=${world.org.name}`] : [];
    const more = ROUTES[key]?.query?.replace(/org=acme&?/, `org=${world.org.name}&`) ?? '';
    const query = [...inQuery, more].filter((part) => part !== '').join('&');
    return objects.map((object) => {
      const path = route.path.replace(/:(\w+)|\*/g, (whole, name) => {
        if (name === 'id' && object) return String(object.id);
        if (name === 'org' || name === 'owner') return world.org.name;
        return PARAMETERS[name ?? whole] ?? 'nothing';
      });
      return { route, path: `${path}${query && `?${query}`}`, body: ROUTES[key]?.body, object };
    });
  }

  async function send({ call }: SingleCaller, { route, path, body }: Sent): Promise<Answer> {
    // The version does not match, so nothing is deleted.
    const headers: Record<string, string> = route.method === 'DELETE' ? { 'If-Match': '"nothing"' } : {};
    return await call(route.method, path, body, headers);
  }

  /** How the answer differs from what the route declares and the model says. */
  function faultOf(caller: SingleCaller, held: ReadonlySet<string>, sent: Sent, answer: Answer): string | undefined {
    const { access, method, path } = sent.route;
    if (answer.status >= 500) return 'fails';
    if (access.who === 'anyone' || access.who === 'webhook') return undefined;
    const reason: string | undefined = answer.body?.reason;
    if (access.basic) return answer.status === 401 || reason === 'not_for_robots' ? undefined : 'needs a password';
    if (access.robots === 'only') return answer.status >= 400 ? undefined : 'is for provisioning';
    if (caller.isRobot && access.robots === 'never')
      return reason === 'not_for_robots' ? undefined : 'is not for robots';
    if (access.who === 'siteAdmin') return answer.status === 403 ? undefined : 'is for administrators';
    const expected = expectedOf(caller, held, sent, access);
    if (expected !== 'admitted') {
      return answer.status === expected.status && reason === expected.reason
        ? undefined
        : `should be ${expected.status} ${expected.reason}`;
    }
    const relation = relationFor(caller, access);
    if (sent.object && reason === notFound(sent.object.type)) return 'should be admitted';
    if (reason === 'missing_relation') {
      // The handler of some routes asks for another one, on the organization.
      const asked: string = answer.body.relation;
      const isHeld = asked === relation || held.has(`organization:${world.org.id}#${modelName(asked)}`);
      return isHeld ? 'should be admitted' : undefined;
    }
    // What the path names otherwise does not exist.
    const namesMore = path.replace(sent.object ? /:(id|org|owner)/g : /:(org|owner)/g, '').includes(':');
    // The cluster of this world has no API server.
    const isOpen =
      answer.status === 200 ||
      answer.status === 204 ||
      (answer.status === 409 && answer.body?.reason === 'no_endpoint');
    return method === 'GET' && !namesMore && !isOpen ? 'should be open' : undefined;
  }

  function expectedOf(caller: SingleCaller, held: ReadonlySet<string>, { object }: Sent, access: SignedAccess) {
    const relation = relationFor(caller, access);
    if (relation === undefined) return 'admitted';
    const missing = { status: 403, reason: 'missing_relation' };
    if (object) {
      const name = `${object.type}:${object.id}`;
      if (caller.isRobot && access.robots === 'of the owner') return 'admitted';
      if (held.has(`${name}#${modelName(relation)}`)) return 'admitted';
      return held.has(`${name}#can_view`) ? missing : { status: 404, reason: notFound(object.type) };
    }
    if (relation.endsWith(':role')) return missing;
    if (held.has(`organization:${world.org.id}#${modelName(relation)}`)) return 'admitted';
    const [type, seen] = LISTS[relation] ?? [];
    const isOpen = type && [...held].some((one) => one.startsWith(`${type}:`) && one.endsWith(`#${seen}`));
    return isOpen ? 'admitted' : missing;
  }

  /** What an answer tells of the objects that the caller may not see, beyond what the request named. */
  function leakOf(caller: SingleCaller, { path }: Pick<Sent, 'path'>, { text, headers }: Answer): string | undefined {
    const own = [caller.seen, caller.team].flatMap((one) => (one ? [String(one.id), one.name] : []));
    const named = decodeURIComponent(path);
    const known = new Set([...own, caller.subject.split(':')[1] ?? '', ...(named.match(CANARY) ?? [])]);
    if (caller.seen?.type === 'cluster') known.add('hushoneset');
    if (caller.seen?.type === 'contract') known.add('hushoneproduct');
    const hidden = world.things
      .filter((one) => one !== caller.seen)
      .flatMap(({ uid = '' }) => (named.includes(uid) ? [] : uid));
    const all = `${text} ${[...headers.values()].join(' ')}`;
    const told = [
      ...(all.match(CANARY) ?? []).filter((one) => !known.has(one)),
      ...hidden.filter((uid) => all.includes(uid)),
    ];
    return told.length === 0 ? undefined : `tells ${[...new Set(told)].join()}`;
  }
});

/** What a request can name of these objects, by meaning as in the table of slots. */
function namesOf(things: readonly Thing[], organization: string): Readonly<Record<string, string>> {
  const of = (type: SingleType) => things.find((one) => one.type === type) ?? assert.fail(type);
  const { id, name, uid = '' } = of('cluster');
  return {
    organization,
    cluster: String(id),
    clusterName: name,
    uid,
    object: `cluster:${id}`,
    contract: String(of('contract').id),
    contractName: of('contract').name,
    robot: String(of('robot_ac').id),
    robotName: of('robot_ac').name,
    team: String(of('team').id),
    teamName: of('team').name,
  };
}

/** A name or an ID of the same length that nothing has. */
function likeBut(text: string): string {
  return text
    .replace('hushtwo', 'nonetwo')
    .replace(/\b77(\d{5})\b/, '88$1')
    .replace(/^[0-9a-f]{8}-/, 'abcdef01-');
}
