import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { NatsConnection } from '@nats-io/transport-node';
import { credentialsFile } from '../../../src/bus/credentials-file.ts';
import { userJwt } from '../../../src/bus/jwt-claims.ts';
import { createNkeyPair } from '../../../src/bus/nkeys.ts';
import { itLong } from '../../support/checks/long.ts';
import { until } from '../../support/checks/until.ts';
import { claimsOf, fileOf, inboxOf, mayHear, maySay, openTestBus, type TestBus } from '../../support/services/bus.ts';
import { onServer } from '../../support/services/postgres.ts';
import { lacks } from '../../support/services/requirements.ts';
import { inHours, letExpire } from '../../support/world/expiry.ts';
import { addMember, removeMember, setActive } from '../../support/world/people.ts';

const ANSWER_WITHIN_MS = 60_000;
const EVERYTHING = { publish: ['>'], subscribe: ['>'] };

describe('NATS server with the generated configuration', { skip: lacks('nats-server') }, () => {
  let bus: TestBus;
  const uid = (name: string) => bus.world.clusters[name]?.uid ?? '';
  const id = (name: string) => bus.world.users[name]?.id ?? 0n;
  const admin = async () => fileOf((await bus.as('root')('GET', '/user/bus/admin_credentials')).body);

  before(async () => {
    bus = await openTestBus();
  });
  after(() => bus.close());

  it('The NATS server configuration contains no seed', async () => {
    const configuration = await bus.instance.features.bus.serverConfig();
    assert.doesNotMatch(configuration, /\bS[AOUNC][A-Z2-7]{56}\b/);
    for (const part of [
      'operator:',
      'system_account:',
      'type: full',
      'resolver_preload:',
      'jetstream:',
      'websocket:',
    ]) {
      assert.ok(configuration.includes(part), part);
    }
  });

  it('Users can connect to NATS with their credentials over TCP and WebSocket', async () => {
    const credentials = await bus.credentials('ann');
    for (const websocket of [false, true]) {
      const connection = await bus.nats.connect(credentials, { websocket, inboxPrefix: inboxOf(bus, 'ann') });
      const heard = once(connection, `user.${id('ann')}.note`);
      connection.publish(`user.${id('ann')}.note`, 'to myself');
      assert.equal(await heard, 'to myself');
      await connection.close();
    }
  });

  it('Messages pass between users who may view the same cluster', async () => {
    const [ann, dan] = [await bus.connect('ann'), await bus.connect('dan')];
    const heard = once(dan, `cluster.${uid('prod')}.>`);
    await dan.flush();
    ann.publish(`cluster.${uid('prod')}.event`, 'restarted');
    assert.equal(await heard, 'restarted');
    await Promise.all([ann.close(), dan.close()]);
  });

  it('Request and reply work between users who may view the same cluster', async () => {
    const [ann, dan] = [await bus.connect('ann'), await bus.connect('dan')];
    dan.subscribe(`cluster.${uid('prod')}.ping`, { callback: (_error, message) => void message.respond('pong') });
    await dan.flush();
    const answer = await ann.request(`cluster.${uid('prod')}.ping`, '', { timeout: ANSWER_WITHIN_MS });
    assert.equal(answer.string(), 'pong');
    await Promise.all([ann.close(), dan.close()]);
  });

  it('Users can publish and subscribe only on permitted subjects', async () => {
    const dan = await bus.connect('dan');
    const [mine, foreign] = [uid('prod'), uid('globex')];
    const HEAR: readonly (readonly [string, boolean])[] = [
      [`user.${id('dan')}.x`, true],
      [`cluster.${mine}.x`, true],
      [`_INBOX.${id('dan')}.x`, true],
      [`user.${id('ann')}.x`, false],
      [`user.${id('dan')}9.x`, false],
      [`user.*.x`, false],
      [`cluster.${foreign}.x`, false],
      [`cluster.${uid('laptop')}.x`, false],
      ['cluster.*.x', false],
      ['cluster.>', false],
      [`history.${mine}.>`, false],
      [`_INBOX.${id('ann')}.x`, false],
      ['_INBOX.>', false],
      ['$SYS.>', false],
      ['$JS.>', false],
      ['>', false],
    ];
    for (const [subject, isAllowed] of HEAR) assert.equal(await mayHear(dan, subject), isAllowed, `hear ${subject}`);
    const SAY: readonly (readonly [string, boolean])[] = [
      [`user.${id('dan')}.x`, true],
      [`cluster.${mine}.x`, true],
      [`history.${mine}.apps.deployments.x`, false],
      [`user.${id('ann')}.x`, false],
      [`cluster.${foreign}.x`, false],
      [`_INBOX.${id('ann')}.x`, false],
      ['$SYS.REQ.SERVER.PING', false],
      ['$SYS.REQ.CLAIMS.UPDATE', false],
      ['$JS.API.STREAM.DELETE.HISTORY', false],
      ['anything', false],
    ];
    for (const [subject, isAllowed] of SAY) assert.equal(await maySay(dan, subject), isAllowed, `say ${subject}`);
    await dan.close();
  });

  it('Whoever imports the UID of another owner can neither hear nor say anything about that cluster', async () => {
    const shared = uid('prod');
    const made = await bus.as('eve')('POST', '/user/clusters', { name: 'not-mine', uid: shared });
    assert.equal(made.status, 201, made.text);
    const eve = await bus.connect('eve');
    for (const subject of [`cluster.${shared}.x`, `history.${shared}.apps.deployments.x`]) {
      assert.equal(await mayHear(eve, subject), false, `hear ${subject}`);
      assert.equal(await maySay(eve, subject), false, `say ${subject}`);
    }
    const own = `${shared}_${id('eve')}`;
    assert.equal(await mayHear(eve, `cluster.${own}.x`), true);
    assert.equal(await maySay(eve, `cluster.${own}.x`), true);
    assert.equal(await maySay(eve, `history.${own}.apps.deployments.x`), true);
    await eve.close();
    const ann = await bus.connect('ann');
    assert.equal(await mayHear(ann, `cluster.${shared}.x`), true);
    assert.equal(await mayHear(ann, `cluster.${own}.x`), false);
    await ann.close();
  });

  it('Administrators can receive the messages of every user and send messages to them', async () => {
    const [root, ann] = [await bus.nats.connect(await admin()), await bus.connect('ann')];
    const heard = once(root, `user.${id('ann')}.>`);
    await root.flush();
    ann.publish(`user.${id('ann')}.note`, 'private');
    assert.equal(await heard, 'private');
    const said = once(ann, `user.${id('ann')}.notice`);
    await ann.flush();
    root.publish(`app.user.${id('ann')}.notice`, 'maintenance at noon');
    assert.equal(await said, 'maintenance at noon');
    assert.equal(await mayHear(root, 'anything.>'), true);
    await Promise.all([root.close(), ann.close()]);
  });

  it('The NATS system account is inaccessible even to administrators', async () => {
    const root = await bus.nats.connect(await admin());
    await assert.rejects(root.request('$SYS.REQ.SERVER.PING', '', { timeout: 500 }));
    await root.close();
  });

  it('Forged, mismatched and expired NATS credentials are rejected', async () => {
    const file = await bus.credentials('ann');
    const { iss, user: key } = claimsOf(file);
    const seed = /SU[A-Z2-7]{56}/.exec(file)?.[0] ?? '';
    const now = Math.floor(Date.now() / 1000);
    const forger = createNkeyPair('account');
    const user = createNkeyPair('user');
    const forged = userJwt(forger, { name: 'ann', user: key, issuedAt: now, ...EVERYTHING });
    const [head, body = '', signature] = forged.split('.');
    const claims = { ...JSON.parse(Buffer.from(body, 'base64url').toString()), iss };
    const widened = [head, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
    const REFUSED: Readonly<Record<string, string>> = {
      'signed by a stranger': credentialsFile(forged, seed),
      'signature of another text': credentialsFile(widened, seed),
      'the seed of somebody else': file.replace(seed, user.seed()),
      'a broken signature': file.replace(/[\w-]{8}\n-+END NATS USER JWT/, 'AAAAAAAA\n------END NATS USER JWT'),
    };
    for (const [what, credentials] of Object.entries(REFUSED)) {
      await assert.rejects(bus.nats.connect(credentials), /authorization|authentication/i, what);
    }
    const past = await bus.instance.features.bus.issuer.issue(
      'application',
      { id: id('ann'), name: 'ann', ...EVERYTHING },
      { until: null },
      new Date(Date.now() - 3_601_000),
    );
    await assert.rejects(bus.nats.connect(past.file), /authorization|authentication/i);
  });

  it('A NATS connection ends when its credentials expire', async () => {
    const connectFor = async (seconds: number) => {
      const issuedAt = new Date(Date.now() - 3_600_000 + seconds * 1000);
      const user = { id: id('ann'), name: 'ann', ...EVERYTHING };
      const { issuer } = bus.instance.features.bus;
      return await bus.nats.connect((await issuer.issue('application', user, { until: null }, issuedAt)).file);
    };
    // On a busy machine they may have expired before the connection is established.
    const connection = await connectFor(2).catch(() => connectFor(20));
    assert.match(String(await connection.closed()), /expired/i);
  });

  itLong('NATS credentials for 4,000 clusters are accepted', async () => {
    const many = Array.from({ length: 4000 }, () => `cluster.${crypto.randomUUID()}.>`);
    const issued = await bus.instance.features.bus.issuer.issue(
      'application',
      { id: id('fan01'), name: 'fan01', publish: many, subscribe: many },
      { until: null },
      new Date(),
    );
    const connection = await bus.nats.connect(issued.file);
    assert.equal(await mayHear(connection, many[3999]?.replace('>', 'x') ?? ''), true);
    await connection.close();
  });
  const refused = async (credentials: string) => {
    try {
      await (await bus.nats.connect(credentials)).close();
      return false;
    } catch (error) {
      assert.match(String(error), /authorization|authentication/i);
      return true;
    }
  };

  it('Deactivating a user revokes their NATS connection and credentials but not those of others', async () => {
    const credentials = await bus.credentials('bob');
    const [bob, ann] = [await bus.nats.connect(credentials), await bus.connect('ann')];
    await setActive(bus.instance, id('bob'), false);
    assert.match(String(await bob.closed()), /revoked/i);
    assert.equal(await refused(credentials), true);
    assert.equal(ann.isClosed(), false);
    await ann.close();
    assert.equal((await bus.as('bob')('GET', '/user/bus/credentials')).status, 403);
  });

  it('Revoking a token ends the NATS connection that was opened with credentials from it', async () => {
    const { id: tokenId, text } = await bus.instance.identity.tokens.issue({
      ...{ accountId: id('fan06'), name: 'bus', scopes: ['all'] },
    });
    const headers = { Authorization: `token ${text}` };
    const credentials = fileOf((await bus.as()('GET', '/user/bus/credentials', undefined, headers)).body);
    const [fan, ann] = [await bus.nats.connect(credentials), await bus.connect('ann')];
    await bus.instance.identity.tokens.revoke(tokenId);
    assert.match(String(await fan.closed()), /revoked/i);
    assert.equal(await refused(credentials), true);
    assert.equal(ann.isClosed(), false);
    await ann.close();
  });

  it('A revocation survives a restart of the bus', async () => {
    const credentials = await bus.credentials('cat');
    await setActive(bus.instance, id('cat'), false);
    await until(() => refused(credentials));
    await bus.nats.kill();
    await bus.nats.restart();
    assert.equal(await refused(credentials), true);
  });

  it('A revocation made while the bus is down is applied when the bus returns', async () => {
    const credentials = await bus.credentials('dan');
    await bus.nats.kill();
    await setActive(bus.instance, id('dan'), false);
    await bus.nats.restart();
    await until(() => refused(credentials));
  });

  it('A reactivated user gets a new key, and the old bus credentials remain rejected', async () => {
    const old = await bus.credentials('eve');
    await setActive(bus.instance, id('eve'), false);
    await until(() => refused(old));
    await setActive(bus.instance, id('eve'), true);
    const fresh = await bus.credentials('eve');
    assert.notEqual(claimsOf(fresh).user, claimsOf(old).user);
    assert.equal(await refused(fresh), false);
    assert.equal(await refused(old), true);
  });

  it('Bus credentials that exceed the current rights of their owner are revoked, and no others', async (t) => {
    const teams = bus.world.orgs.acme?.teams ?? {};
    const fan = bus.world.users.fan05?.id ?? 0n;
    const of = async (name: string) =>
      fileOf((await bus.as('root')('GET', `/user/bus/user_credentials?user=${name}`)).body);
    await addMember(bus.instance, teams.Editors ?? 0n, fan);
    await addMember(bus.instance, teams.Viewers ?? 0n, fan);
    const [fan5, ann] = [await of('fan05'), await of('ann')];
    const connection = await bus.nats.connect(fan5);
    assert.ok(claimsOf(fan5).publish.some((subject) => subject.startsWith('history.')));
    // With a clock of its own, the database lets it expire. Nobody asks for anything.
    if (bus.instance.db.driver === 'postgres') {
      const put = await bus.as('ann')('PUT', `/teams/${teams.Editors}/members/fan05`, { expires_at: inHours(1) });
      assert.equal(put.status, 204, put.text);
      await letExpire(t, bus, bus.world.orgs.acme?.id ?? 0n);
    } else await removeMember(bus.instance, teams.Editors ?? 0n, fan);
    assert.match(String(await connection.closed()), /revoked/i);
    const narrower = await of('fan05');
    assert.ok(!claimsOf(narrower).publish.some((subject) => subject.startsWith('history.')));
    assert.ok(claimsOf(narrower).subscribe.some((subject) => subject.startsWith('cluster.')));
    assert.equal(await refused(narrower), false);
    assert.equal(await refused(ann), false);
    // Requesting new credentials at once, before the server has checked, also revokes the old ones.
    await removeMember(bus.instance, teams.Viewers ?? 0n, fan);
    assert.notEqual(claimsOf(await of('fan05')).user, claimsOf(narrower).user);
    await until(() => refused(narrower));
    assert.equal(await refused(ann), false);
  });

  it('Direct database writes that prohibit, delete or demote an account revoke its bus credentials', {
    skip: lacks('postgresql'),
  }, async () => {
    const write = async (text: string) => void (await onServer(bus.databaseUrl, text));
    const admin = fileOf((await bus.as('root')('GET', '/user/bus/admin_credentials')).body);
    const ann = await bus.credentials('ann');
    const of = async (name: string) =>
      fileOf((await bus.as('root')('GET', `/user/bus/user_credentials?user=${name}`)).body);
    const [fan1, fan2] = [await of('fan01'), await of('fan02')];
    await write(`update account set prohibit_login = true where name = 'fan01'`);
    await write(`delete from account where name = 'fan02'`);
    await write(`update account set is_admin = false where name = 'root'`);
    for (const credentials of [fan1, fan2, admin]) await until(() => refused(credentials));
    assert.equal(await refused(ann), false);
  });
});

function once(connection: NatsConnection, subject: string): Promise<string> {
  return new Promise((resolve, reject) => {
    connection.subscribe(subject, {
      max: 1,
      timeout: ANSWER_WITHIN_MS,
      callback: (error, message) => (error ? reject(error) : resolve(message.string())),
    });
  });
}
