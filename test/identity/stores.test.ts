import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { DEFAULT_LIMITS } from '../../src/base/config/limits.ts';
import { createQuotas } from '../../src/changes/quotas.store.ts';
import { createRevisionStore } from '../../src/changes/revision.store.ts';
import { createRevisions, type Revisions } from '../../src/changes/revision.ts';
import type { Db } from '../../src/db/db.ts';
import { createCallerStore } from '../../src/identity/callers.store.ts';
import { createSessionUsageStore } from '../../src/identity/sessions/session-usage.store.ts';
import { createSessionStore } from '../../src/identity/sessions/sessions.store.ts';
import type { SessionDraft, SessionStore } from '../../src/identity/sessions/sessions.ts';
import { createTokenIssuerStore } from '../../src/identity/tokens/token-issuer.store.ts';
import type { TokenDraft, TokenIssuerStore } from '../../src/identity/tokens/token-issuer.ts';
import { createTokenUsageStore } from '../../src/identity/tokens/token-usage.store.ts';
import { auditOf } from '../support/checks/audit.ts';
import { ANY_DRIVER, migrated, openTestDb } from '../support/server/db.ts';
import { statement } from '../support/server/statement.ts';

const NOW = new Date(Math.floor(Date.now() / 1000) * 1000);
const MINUTE_MS = 60_000;
const at = (minutes: number) => new Date(NOW.getTime() + minutes * MINUTE_MS);
const LIMIT = 3;
const ACTOR = { id: 1n, name: 'ann', requestId: 'test' };
const ALL = { offset: 0, limit: 100 };

describe('Stores of tokens and sessions', () => {
  let db: Db;
  let revisions: Revisions;
  let sessions: SessionStore;
  let tokens: TokenIssuerStore;
  let ann: bigint;
  let bob: bigint;
  let number = 0;
  const rows = async <T extends object>(text: string, values: readonly unknown[] = []) =>
    await db.query<T>(statement(text), [...values]);
  const addOwner = async (name: string) => {
    const sql = `insert into account (kind, name, password_hash) values ('user', $1, 'hash') returning id`;
    return (await rows<{ id: bigint }>(sql, [name]))[0]?.id ?? 0n;
  };
  /** What a write has told everybody who remembers something. */
  const changes = async (work: () => Promise<unknown>) => {
    const [before] = await rows<{ value: bigint }>('select value from revision');
    await work();
    const told = await rows<{ kind: string; id: bigint }>(
      'select kind, id from change where revision > $1 order by kind, id',
      [before?.value],
    );
    return told.map(({ kind, id }) => `${kind} ${id}`);
  };
  const entries = async () => (await auditOf(db, ann)).map(({ action, object_id }) => `${action} ${object_id}`);
  const session = (changed: Partial<SessionDraft> = {}): SessionDraft => ({
    hash: Buffer.from(`session ${++number}`),
    accountId: ann,
    csrf: 'x',
    createdAt: at(number),
    expiresAt: at(1000),
    userAgent: 'browser',
    ip: '192.0.2.1',
    passwordHash: undefined,
    tokenId: undefined,
    provider: undefined,
    idleMinutes: null,
    check: undefined,
    method: 'password',
    ...changed,
  });
  const token = (changed: Partial<TokenDraft> = {}): TokenDraft => ({
    accountId: ann,
    robotId: null,
    name: `token ${++number}`,
    hash: Buffer.from(`token ${number}`),
    lastEight: '12345678',
    scopes: ['all'],
    expiresAt: null,
    canRotate: false,
    isBeyondLimit: false,
    limits: undefined,
    origin: undefined,
    actor: undefined,
    ...changed,
  });
  const issue = async (changed: Partial<TokenDraft> = {}) => {
    const made = await tokens.create(token(changed));
    assert.ok(typeof made === 'object');
    return made.id;
  };
  const listed = async (request = ALL, now = NOW) => {
    const { items, total } = await sessions.list(ann, now, request);
    return { ids: items.map(({ id }) => id), total };
  };

  before(async () => {
    db = await openTestDb(ANY_DRIVER, {}, migrated());
    revisions = createRevisions(createRevisionStore(db));
    const quotas = createQuotas({ ...DEFAULT_LIMITS, sessionsPerUser: LIMIT, tokensPerUser: LIMIT, tokensPerRobot: 1 });
    sessions = createSessionStore(db, revisions.write, quotas);
    tokens = createTokenIssuerStore(revisions.write, quotas);
  });
  after(() => db.close());
  beforeEach(async () => {
    number += 1;
    ann = await addOwner(`ann${number}`);
    bob = await addOwner(`bob${number}`);
  });

  it('A session is opened only with the password that the account still has', async () => {
    assert.equal(await sessions.create(session({ passwordHash: 'other' })), false);
    assert.equal((await listed()).total, 0);
    assert.equal(await sessions.create(session({ passwordHash: 'hash' })), true);
    assert.equal((await listed()).total, 1);
  });

  it('A session is not opened by one factor, if the account has got a second one meanwhile', async () => {
    const factors = [
      `insert into passkey (account_id, credential_id, public_key, counter, name) values ($1, '\\x01', '\\x02', 0, 'key')`,
      `insert into totp (account_id, sealed) values ($1, '\\x03')`,
    ];
    for (const [factor, owner] of [
      [factors[0] ?? '', ann],
      [factors[1] ?? '', bob],
    ] as const) {
      await db.query(statement(factor), [owner]);
      for (const method of ['password', 'provider'] as const) {
        assert.equal(await sessions.create(session({ accountId: owner, method })), false, method);
      }
      assert.equal(await sessions.create(session({ accountId: owner, method: 'totp' })), true);
    }
  });

  it('A session is opened only with a token that the account still has', async () => {
    const [own, foreign] = [await issue(), await issue({ accountId: bob })];
    assert.equal(await sessions.create(session({ tokenId: foreign })), false);
    assert.equal(await sessions.create(session({ tokenId: own, passwordHash: 'other' })), false);
    assert.equal(await sessions.create(session({ tokenId: own })), true);
    await tokens.remove(own, undefined);
    assert.equal(await sessions.create(session({ tokenId: own })), false);
    assert.equal((await listed()).total, 0, 'a session ends with its token');
  });

  it('One session too many ends the oldest one, and whoever remembers the account is told', async () => {
    const other = session({ accountId: bob });
    await sessions.create(other);
    const quiet = await changes(async () => {
      for (let count = 0; count < LIMIT; count++) await sessions.create(session());
    });
    assert.deepEqual(quiet, []);
    const { ids } = await listed();
    assert.equal(ids.length, LIMIT);
    assert.deepEqual(await changes(() => sessions.create(session())), [`account ${ann}`]);
    const later = await listed();
    assert.deepEqual(later.ids.slice(1), ids.slice(0, -1));
    assert.equal((await sessions.list(bob, NOW, ALL)).total, 1);
  });

  it('Sessions that are opened at once are no more than allowed in the end', async () => {
    await Promise.all(Array.from({ length: 2 * LIMIT }, () => sessions.create(session())));
    assert.equal((await listed()).total, LIMIT);
  });

  it('A credential finds its user, with the organizations that they are in', async () => {
    const callers = createCallerStore(db);
    const organization = `insert into account (kind, name) values ('organization', $1) returning id`;
    const [acme] = await rows<{ id: bigint }>(organization, [`acme${number}`]);
    const team = `insert into team (organization_id, name, permission, type) values ($1, 'team', 'write', 'custom') returning id`;
    const [made] = await rows<{ id: bigint }>(team, [acme?.id]);
    await rows('insert into team_member (team_id, account_id) values ($1, $2)', [made?.id, ann]);
    const [drafted, opened] = [token({ scopes: ['read:user'] }), session()];
    await tokens.create(drafted);
    await sessions.create(opened);
    const grant = (await callers.byToken(drafted.hash)).value;
    assert.deepEqual([grant?.person.id, grant?.scopes, grant?.expiresAt], [ann, ['read:user'], null]);
    assert.deepEqual([...(grant?.person.organizations ?? [])], [[acme?.id, 'write']]);
    const found = (await callers.bySession(opened.hash)).value;
    assert.deepEqual([found?.person.id, found?.csrf, found?.token], [ann, 'x', null]);
    assert.equal((await callers.byToken(opened.hash)).value, undefined);
    assert.equal((await callers.bySession(drafted.hash)).value, undefined);
  });

  it('Sessions that have expired take no room and are in no list', async () => {
    await sessions.create(session({ expiresAt: at(-1) }));
    await sessions.create(session({ accountId: bob, expiresAt: at(-1) }));
    assert.deepEqual(await listed(), { ids: [], total: 0 });
    assert.deepEqual(await changes(() => sessions.create(session({ expiresAt: at(5) }))), []);
    const [left] = await rows<{ count: number }>('select count(*)::int as count from session where account_id = $1', [
      ann,
    ]);
    assert.equal(left?.count, 1);
    assert.equal((await listed(ALL, at(4))).total, 1);
    assert.equal((await listed(ALL, at(5))).total, 0);
    assert.equal(
      (await rows('select 1 from session where account_id = $1', [bob])).length,
      1,
      'only those of the user',
    );
  });

  it('Sessions are listed in pages, the one that was used last first, with where they were opened', async () => {
    for (let count = 0; count < LIMIT; count++) await sessions.create(session());
    const { ids } = await listed();
    const [newest, middle, oldest] = ids;
    await rows('update session set last_seen_at = $2 where id = $1', [oldest, at(500)]);
    assert.deepEqual((await listed()).ids, [oldest, newest, middle]);
    assert.deepEqual(await listed({ offset: 1, limit: 1 }), { ids: [newest], total: LIMIT });
    const { items } = await sessions.list(ann, NOW, { offset: 0, limit: 1 });
    const { createdAt: _, id: __, ...card } = items[0] ?? assert.fail();
    assert.deepEqual(card, { ip: '192.0.2.1', userAgent: 'browser', lastSeenAt: at(500), expiresAt: at(1000) });
  });

  it('A session that is closed by its cookie is told, and one that does not exist is not', async () => {
    const draft = session();
    await sessions.create(draft);
    assert.deepEqual(await changes(() => sessions.remove(Buffer.from('nothing'))), []);
    assert.deepEqual(await changes(() => sessions.remove(draft.hash)), [`account ${ann}`]);
    assert.equal((await listed()).total, 0);
  });

  it('Users end only their own sessions, which are in the audit log', async () => {
    await sessions.create(session());
    const [id = 0n] = (await listed()).ids;
    assert.equal(await sessions.end(bob, id, NOW, ACTOR), false);
    assert.equal(await sessions.end(ann, id, at(1000), ACTOR), false, 'it has expired');
    assert.deepEqual(await entries(), []);
    assert.deepEqual(await changes(async () => assert.equal(await sessions.end(ann, id, NOW, ACTOR), true)), [
      `account ${ann}`,
    ]);
    assert.deepEqual(await entries(), [`session.end ${id}`]);
    assert.equal(JSON.parse((await auditOf(db, ann))[0]?.before ?? '').userAgent, 'browser');
    assert.equal(await sessions.end(ann, id, NOW, ACTOR), false);
  });

  it('Ending all other sessions keeps one, and says how many of them had not expired', async () => {
    for (let count = 0; count < LIMIT - 1; count++) await sessions.create(session());
    await sessions.create(session({ accountId: bob }));
    const [kept = 0n] = (await listed()).ids;
    await rows(
      `insert into session (hash, account_id, csrf, created_at, expires_at, user_agent, ip)
       values ($1, $2, 'x', $3, $3, '', '')`,
      [Buffer.from(`old ${number}`), ann, at(-1)],
    );
    assert.deepEqual(await changes(() => sessions.endOthers(ann, kept, NOW, ACTOR)), [`account ${ann}`]);
    assert.deepEqual((await listed()).ids, [kept]);
    assert.deepEqual(await entries(), [`session.end_all ${ann}`]);
    assert.deepEqual(JSON.parse((await auditOf(db, ann))[0]?.before ?? ''), { sessions: 1 });
    assert.deepEqual(await changes(() => sessions.endOthers(ann, kept, NOW, ACTOR)), []);
    await sessions.endOthers(ann, undefined, NOW, ACTOR);
    assert.deepEqual(await entries(), [`session.end_all ${ann}`, `session.end_all ${ann}`]);
    assert.equal((await sessions.list(bob, NOW, ALL)).total, 1);
  });

  it('A new token is told, and it is in the audit log if somebody asked for it', async () => {
    let id = 0n;
    const told = await changes(async () => {
      id = await issue();
    });
    assert.deepEqual(told, [`token ${id}`]);
    assert.deepEqual(await entries(), []);
    const made = await issue({ actor: ACTOR });
    assert.deepEqual(await entries(), [`token.create ${made}`]);
    assert.deepEqual(await changes(() => tokens.remove(made, ACTOR)), [`account ${ann}`, `token ${made}`]);
    assert.deepEqual(await entries(), [`token.create ${made}`, `token.delete ${made}`]);
    assert.equal(await tokens.remove(id, undefined), true);
    assert.equal(await tokens.remove(id, undefined), false);
    assert.equal((await entries()).length, 2);
  });

  it('A token that a request makes once is kept in the same transaction as the answer to the request', async () => {
    const kept: bigint[] = [];
    const once = {
      begin: async () => undefined,
      keep: async (_query: unknown, { id }: { id: bigint }) => void kept.push(id),
    };
    const made = await tokens.create(token(), once);
    assert.deepEqual(kept, [typeof made === 'object' ? made.id : 0n]);
    const failing = { ...once, keep: () => Promise.reject(new Error('the answer cannot be kept')) };
    const draft = token();
    await assert.rejects(tokens.create(draft, failing), /cannot be kept/);
    assert.equal((await rows('select 1 from token where hash = $1', [draft.hash])).length, 0);
  });

  it('A name can be used once by a user, and a robot needs an owner that it belongs to', async () => {
    const draft = token();
    await tokens.create(draft);
    assert.equal(await tokens.create({ ...draft, hash: Buffer.from(`again ${number}`) }), 'name taken');
    await assert.rejects(tokens.create(token({ hash: draft.hash })), /token_hash/);
    assert.equal(await tokens.create(token({ robotId: 999_999n })), 'robot gone');
    const [robot] = await rows<{ id: bigint }>(`insert into robot (owner_id, name) values ($1, 'r') returning id`, [
      ann,
    ]);
    assert.equal(await tokens.create(token({ accountId: bob, robotId: robot?.id ?? 0n })), 'robot gone');
    await issue({ robotId: robot?.id ?? 0n });
    await assert.rejects(tokens.create(token({ robotId: robot?.id ?? 0n })), { kind: 'malformed' });
    for (let count = 1; count < LIMIT; count++) await issue();
  });

  it('A token too many is rejected, unless expired ones can make room', async () => {
    const live = [await issue(), await issue()];
    const expired = await issue({ expiresAt: at(-1) });
    const other = await issue({ accountId: bob, expiresAt: at(-1) });
    let made = 0n;
    const told = await changes(async () => {
      made = await issue({ actor: ACTOR });
    });
    assert.deepEqual(told, [`account ${ann}`, `token ${expired}`, `token ${made}`]);
    assert.deepEqual(await entries(), [`token.delete ${expired}`, `token.create ${made}`]);
    await assert.rejects(tokens.create(token()), { kind: 'malformed' });
    const left = await rows<{ id: bigint }>('select id from token where account_id = any ($1) order by id', [
      [ann, bob],
    ]);
    assert.deepEqual(
      left.map(({ id }) => id),
      [...live, other, made],
    );
  });

  it('The last use of a token moves forward only, unless it was noted before the clock was set back', async () => {
    const store = createTokenUsageStore(db);
    const [one, other] = [await issue(), await issue()];
    const lastUsed = async (id: bigint) =>
      (await rows<{ used: Date | null }>('select last_used_at as used from token where id = $1', [id]))[0]?.used;
    await store.write([{ tokenId: one, at: at(-10) }]);
    assert.deepEqual([await lastUsed(one), await lastUsed(other)], [at(-10), null]);
    await store.write([{ tokenId: one, at: at(-20) }]);
    assert.deepEqual(await lastUsed(one), at(-10));
    await store.write([{ tokenId: one, at: at(-5) }]);
    assert.deepEqual(await lastUsed(one), at(-5));
    await store.write([{ tokenId: one, at: at(600) }]);
    await store.write([{ tokenId: one, at: at(-3) }]);
    assert.deepEqual(await lastUsed(one), at(-3));
  });

  it('A session is noted when it was not for a while, or when the clock was set back', async () => {
    const store = createSessionUsageStore(db);
    await sessions.create(session({ createdAt: at(-60) }));
    const [id = 0n] = (await listed()).ids;
    const seen = async () =>
      (await rows<{ seen: Date | null }>('select last_seen_at as seen from session where id = $1', [id]))[0]?.seen;
    const write = (minutes: number) => store.write([{ sessionId: id, at: at(minutes) }], 5 * MINUTE_MS);
    await write(-56);
    assert.deepEqual(await seen(), at(-60), 'too soon');
    await write(-55);
    assert.deepEqual(await seen(), at(-55));
    await rows('update session set last_seen_at = null where id = $1', [id]);
    await write(-58);
    assert.deepEqual(await seen(), at(-58), 'never before');
    await rows('update session set last_seen_at = $2 where id = $1', [id, at(600)]);
    await write(-10);
    assert.deepEqual(await seen(), at(-10), 'noted before the clock was set back');
    await write(-20);
    assert.deepEqual(await seen(), at(-10));
  });
});
