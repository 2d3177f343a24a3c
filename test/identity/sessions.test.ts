import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSessions, type SessionDraft, type SessionStore } from '../../src/identity/sessions/sessions.ts';
import { hashSecret } from '../../src/identity/tokens/token-text.ts';

const KEY = Buffer.alloc(32, 1);
const DAY_MS = 86_400_000;
const NOW = new Date('2026-01-01T00:00:00Z');
const later = (days: number) => new Date(NOW.getTime() + days * DAY_MS);
const ACTOR = { id: 1n, name: 'ann', requestId: 'test' };

function create({ accepts = true, has = true } = {}) {
  const drafts: SessionDraft[] = [];
  const done: string[] = [];
  const store: SessionStore = {
    create: async (draft) => {
      drafts.push(draft);
      return accepts;
    },
    sweep: async () => 0,
    remove: async (hash) => void done.push(`remove ${hash.toString('hex')}`),
    list: async () => {
      done.push('list');
      return { items: [], total: 0 };
    },
    park: async () => undefined,
    prove: async () => undefined,
    end: async () => has,
    endOthers: async () => undefined,
  };
  const sessions = createSessions(store, KEY, async () => void done.push('flush'));
  return { sessions, drafts, done };
}

describe('Sessions', () => {
  it('A session lasts a day, or a month if it is remembered, and never longer than its token', async () => {
    const { sessions } = create();
    const token = (expiresAt: Date | null) => ({ token: { id: 1n, expiresAt } });
    const table = [
      [false, {}, later(1)],
      [true, {}, later(31)],
      [false, token(later(0.5)), later(0.5)],
      [false, token(later(2)), later(1)],
      [true, token(null), later(31)],
    ] as const;
    for (const [remember, opening, expiresAt] of table) {
      assert.deepEqual((await sessions.open(1n, remember, NOW, opening)).expiresAt, expiresAt);
    }
  });

  it('Only a keyed hash of the cookie is stored, with what opened the session and where', async () => {
    const { sessions, drafts, done } = create();
    const browser = { userAgent: 'x'.repeat(300), ip: '192.0.2.1' };
    const opening = { passwordHash: 'hash', token: { id: 7n, expiresAt: null }, browser };
    const session = await sessions.open(1n, false, NOW, opening);
    assert.ok(Buffer.from(session.text, 'base64url').length === 32);
    assert.ok(Buffer.from(session.csrf, 'base64url').length === 24);
    const [draft] = drafts;
    assert.deepEqual(draft, {
      hash: hashSecret(KEY, session.text),
      accountId: 1n,
      csrf: session.csrf,
      createdAt: NOW,
      expiresAt: later(1),
      userAgent: 'x'.repeat(200),
      ip: '192.0.2.1',
      passwordHash: 'hash',
      tokenId: 7n,
      method: 'token',
      provider: undefined,
      idleMinutes: null,
      check: undefined,
    });
    await sessions.close(session.text);
    assert.deepEqual(done, [`remove ${draft?.hash.toString('hex')}`]);
  });

  it('A session without a browser has an empty place', async () => {
    const { sessions, drafts } = create();
    await sessions.open(1n, false, NOW);
    assert.deepEqual([drafts[0]?.userAgent, drafts[0]?.ip, drafts[0]?.tokenId], ['', '', undefined]);
  });

  it('A password or token that changed meanwhile opens no session', async () => {
    await assert.rejects(create({ accepts: false }).sessions.open(1n, false, NOW), { kind: 'unauthenticated' });
  });

  it('A list of sessions shows uses that were not written yet', async () => {
    const { sessions, done } = create();
    await sessions.list(1n, NOW, { offset: 0, limit: 10 });
    assert.deepEqual(done, ['flush', 'list']);
  });

  it('Ending a session that does not exist is reported as not found', async () => {
    await create().sessions.end(1n, 2n, NOW, ACTOR);
    await assert.rejects(create({ has: false }).sessions.end(1n, 2n, NOW, ACTOR), { kind: 'notFound' });
  });
});
