import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { AppError, missingRelation } from '../../src/base/errors.ts';
import {
  type Access,
  anyone,
  type Caller,
  holds,
  holdsIn,
  holdsOn,
  member,
  signedIn,
  siteAdmin,
  webhook,
} from '../../src/http/admission/access.ts';
import { createAdmission } from '../../src/http/admission/admission.ts';
import { createCallers } from '../../src/identity/callers.ts';
import { toPerson } from '../../src/identity/person.rows.ts';
import { mintToken } from '../../src/identity/tokens/token-text.ts';
import {
  CALLER_KEY,
  createMemoryCallers,
  personRow,
  STILL,
  sessionGrant,
  tokenGrant,
} from '../support/world/caller-store.ts';

const ACME = { id: 20n, name: 'acme' };
const ANN = toPerson(personRow({ organization_ids: [ACME.id], permissions: ['write'] }));
const EVE = toPerson(personRow({ id: 2n, name: 'eve' }));
const ROOT = toPerson(personRow({ id: 9n, name: 'root', is_admin: true }));
const INACTIVE = toPerson(personRow({ id: 3n, name: 'mia', active: false }));
const PROHIBITED = toPerson(personRow({ id: 4n, name: 'zed', prohibit_login: true }));

const texts = {
  ann: mintToken(),
  eve: mintToken(),
  root: mintToken(),
  mia: mintToken(),
  zed: mintToken(),
  reader: mintToken(),
  publicOnly: mintToken(),
  expired: mintToken(),
  brief: mintToken(),
};
const UNTIL = new Date(Date.now() + 3_600_000);
const TOKENS = new Map([
  [texts.ann, tokenGrant(ANN)],
  [texts.eve, tokenGrant(EVE)],
  [texts.root, tokenGrant(ROOT)],
  [texts.mia, tokenGrant(INACTIVE)],
  [texts.zed, tokenGrant(PROHIBITED)],
  [texts.reader, tokenGrant(ANN, { tokenId: 51n, scopes: ['read:user', 'read:authz'] })],
  [texts.publicOnly, tokenGrant(ANN, { tokenId: 52n, scopes: ['all', 'public-only'] })],
  [texts.expired, tokenGrant(ANN, { tokenId: 53n, expiresAt: new Date(0) })],
  [texts.brief, tokenGrant(ANN, { tokenId: 54n, expiresAt: UNTIL })],
]);
const OPENED = { sessionId: 7n, csrf: 'right', createdAt: new Date(0), expiresAt: UNTIL };
const SESSIONS = new Map([
  ['plain', sessionGrant(ANN, OPENED)],
  ['fresh', sessionGrant(ANN, { ...OPENED, provenAt: new Date() })],
  ['by-token', sessionGrant(ANN, { ...OPENED, method: 'token', token: { id: 54n, expiresAt: UNTIL } })],
]);

type Who = keyof typeof texts;
interface Sent {
  readonly as?: Who;
  readonly method?: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, string>>;
  /** Requests over one connection share it. */
  readonly socket?: object;
}

describe('Admission', () => {
  let used: string[];
  let guarded: string[];
  let required: string[];
  let asked: readonly string[];
  let door: ReturnType<typeof createAdmission>;
  let isMissing = false;
  beforeEach(() => open());

  function open(queryTokens = true): void {
    [used, guarded, required, isMissing] = [[], [], [], false];
    const memory = createMemoryCallers({
      people: [ANN, EVE, ROOT],
      tokens: TOKENS,
      sessions: SESSIONS,
      organizations: [ACME],
    });
    asked = memory.asked;
    door = createAdmission({
      callers: createCallers(memory.store, STILL, CALLER_KEY),
      relations: {
        async require(person, organizationId, relation, id) {
          required.push(`${person.login} ${relation} ${organizationId} ${id}`);
          if (person.login !== 'ann') throw missingRelation(relation);
        },
        async requireOn(person, relation, id) {
          required.push(`${person.login} ${relation} ${id}`);
          return 30n;
        },
        noteMember: () => undefined,
        ownerOf: async () => ACME.id,
      },
      tokenUsage: { note: (id) => used.push(`token ${id}`) },
      sessionUsage: { note: (id) => used.push(`session ${id}`) },
      brake: {
        password: (login, _address, attempt) => {
          guarded.push(login);
          return attempt();
        },
        token: (address, attempt) => {
          guarded.push(address);
          return attempt();
        },
      },
      queryTokens,
      secondFactors: { isMissing: async () => isMissing },
      provenMs: 900_000,
    });
  }

  function requestOf({ as, method = 'GET', query = {}, headers = {}, params = {}, socket = {} }: Sent): FastifyRequest {
    const all = { ...(as && { authorization: `token ${texts[as]}` }), ...headers };
    const raw = { headers: all, socket };
    const request = { raw, headers: all, method, query, params, ip: '192.0.2.1', caller: null, identified: null };
    return request as unknown as FastifyRequest;
  }

  /** Twice, because the second request takes the fast path if it can. Both must end alike. */
  async function call(access: Access, sent: Sent): Promise<{ caller: Caller | null; identified: Caller | null }> {
    const admit = door(access);
    const outcomes: { error: unknown; request: FastifyRequest }[] = [];
    for (let time = 0; time < 2; time++) {
      const request = requestOf(sent);
      outcomes.push(await new Promise((resolve) => admit(request, (error) => resolve({ error, request }))));
    }
    const [first, second] = outcomes;
    assert.ok(first && second);
    assert.equal(String(second.error), String(first.error));
    assert.deepEqual(second.request.caller, first.request.caller);
    if (first.error !== undefined) throw first.error;
    return second.request;
  }
  const loginOf = async (access: Access, sent: Sent) => (await call(access, sent)).caller?.person.login;

  it('Routes for anyone and for marketplaces ask for nothing', async () => {
    for (const access of [anyone, webhook]) assert.equal((await call(access, { as: 'expired' })).caller, null);
    assert.deepEqual([asked.length, used], [0, []]);
  });

  it('A token is looked up once, and its use is noted each time', async () => {
    const { caller } = await call(signedIn('user', 'never'), { as: 'ann' });
    assert.deepEqual(caller, {
      person: ANN,
      via: 'token',
      credentialKey: 't1',
      scopes: ['all'],
      tokenId: 1n,
      until: null,
    });
    assert.deepEqual([asked, guarded, used], [['token'], ['192.0.2.1'], ['token 1', 'token 1']]);
    assert.deepEqual((await call(signedIn('user', 'never'), { as: 'brief' })).caller?.until, UNTIL);
  });

  it('Two tokens over one connection are not mixed up', async () => {
    const socket = {};
    for (const as of ['ann', 'eve', 'ann', 'eve'] as const) {
      assert.equal(await loginOf(signedIn('user', 'never'), { as, socket }), as);
    }
  });

  it('No credential, an expired token and a wrong one are rejected as such', async () => {
    const wrong = { kind: 'unauthenticated', message: 'invalid username, password or token' };
    await assert.rejects(call(signedIn('user', 'never'), {}), {
      kind: 'unauthenticated',
      message: 'token is required',
    });
    await assert.rejects(call(signedIn('user', 'never'), { as: 'expired' }), wrong);
    for (const authorization of ['token nonsense', `token ${mintToken()}`, `Bearer ${mintToken()}`]) {
      await assert.rejects(call(signedIn('user', 'never'), { headers: { authorization } }), wrong);
    }
    assert.deepEqual(used, []);
  });

  it('An account that may not be used is rejected, and the audit log learns which one it was', async () => {
    for (const as of ['mia', 'zed'] as const) {
      await assert.rejects(call(signedIn('user', 'never'), { as }), { kind: 'forbidden', message: /^This account is/ });
      const request = requestOf({ as });
      await new Promise((resolve) => door(signedIn('user', 'never'))(request, resolve));
      assert.deepEqual([request.caller, request.identified?.person.login], [null, as]);
    }
  });

  it('A route for site administrators rejects everybody else', async () => {
    assert.equal(await loginOf(siteAdmin('admin'), { as: 'root' }), 'root');
    await assert.rejects(call(siteAdmin('admin'), { as: 'ann' }), { kind: 'forbidden', message: /site admin/ });
    const request = requestOf({ as: 'ann' });
    await new Promise((resolve) => door(siteAdmin('admin'))(request, resolve));
    assert.deepEqual([request.caller, request.identified?.person.login], [null, 'ann']);
  });

  it('A token needs the scope of the route, for reading or writing', async () => {
    const narrow = { kind: 'forbidden', message: /required=\[write:user\], token scope=read:user,read:authz$/ };
    assert.equal(await loginOf(signedIn('user', 'never'), { as: 'reader' }), 'ann');
    await assert.rejects(call(signedIn('user', 'never'), { as: 'reader', method: 'POST' }), narrow);
    assert.equal(await loginOf(signedIn('user', 'never', { level: 'read' }), { as: 'reader', method: 'POST' }), 'ann');
    await assert.rejects(call(signedIn('user', 'never', { scope: 'all' }), { as: 'reader' }), /required=\[all\]/);
    for (const method of ['HEAD', 'OPTIONS'])
      assert.equal(await loginOf(signedIn('user', 'never'), { as: 'reader', method }), 'ann');
  });

  it('A public-only token reaches public routes and no others', async () => {
    assert.equal(await loginOf(signedIn('user', 'never', { isPublic: true }), { as: 'publicOnly' }), 'ann');
    await assert.rejects(call(signedIn('user', 'never'), { as: 'publicOnly' }), /not available for public-only tokens/);
  });

  it('A token in the query counts before the header, where the route and the deployment allow it', async () => {
    const query = signedIn('user', 'never', { queryToken: true });
    assert.equal(await loginOf(query, { as: 'eve' }), 'eve', 'from now on, her token is remembered');
    assert.equal(await loginOf(query, { as: 'eve', query: { token: texts.ann } }), 'ann');
    assert.equal(await loginOf(query, { as: 'eve', query: { access_token: texts.ann } }), 'ann');
    assert.equal(await loginOf(signedIn('user', 'never'), { as: 'eve', query: { token: texts.ann } }), 'eve');
    open(false);
    assert.equal(await loginOf(query, { as: 'eve', query: { token: texts.ann } }), 'eve');
  });

  it('A route that needs Basic authentication accepts a session besides, and no token in another way', async () => {
    const access = signedIn('user', 'never', { basic: true });
    const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });
    assert.equal(await loginOf(access, { headers: basic(`ann:${texts.ann}`) }), 'ann');
    await assert.rejects(call(access, { as: 'ann' }), /needs Basic authentication/);
    assert.equal(await loginOf(access, { headers: { cookie: 'atrium_session=plain' } }), 'ann');
    await assert.rejects(call(access, {}), /token is required/);
    await assert.rejects(call(access, { headers: basic('ann:wrong') }), { kind: 'unauthenticated' });
    assert.deepEqual(guarded.slice(-2), ['ann', 'ann']);
  });

  it('A session needs its CSRF token for what changes something, and carries what opened it', async () => {
    const cookie = (text: string, csrf?: string) => ({
      headers: { cookie: `atrium_session=${text}`, ...(csrf !== undefined && { 'x-csrf-token': csrf }) },
    });
    const { caller } = await call(signedIn('user', 'never'), cookie('plain'));
    assert.deepEqual(caller, {
      person: ANN,
      via: 'session',
      credentialKey: 'p1',
      scopes: ['all'],
      csrf: 'right',
      session: {
        ...{ id: 7n, createdAt: new Date(0), expiresAt: UNTIL, method: 'password', provenAt: new Date(0) },
        provenUntil: new Date(900_000),
      },
      until: null,
    });
    assert.deepEqual(used, ['session 7', 'session 7']);
    assert.equal(await loginOf(signedIn('user', 'never'), { ...cookie('plain', 'right'), method: 'POST' }), 'ann');
    for (const csrf of [undefined, 'wrong']) {
      const sent = { ...cookie('plain', csrf), method: 'POST' };
      await assert.rejects(call(signedIn('user', 'never'), sent), { kind: 'forbidden', message: /X-Csrf-Token/ });
    }
    const byToken = (await call(signedIn('user', 'never'), cookie('by-token'))).caller;
    assert.deepEqual([byToken?.tokenId, byToken?.until], [54n, UNTIL]);
  });

  it('A session whose user was last seen too long ago may do nothing sensitive, and a token may', async () => {
    const access = signedIn('user', 'never', { proven: true });
    const needed = { kind: 'forbidden', detail: { reason: 'reauthentication_required' } };
    await assert.rejects(call(access, { headers: { cookie: 'atrium_session=plain' } }), needed);
    assert.equal(await loginOf(access, { headers: { cookie: 'atrium_session=fresh' } }), 'ann');
    assert.equal(await loginOf(access, { as: 'ann' }), 'ann');
  });

  it('Without a required second factor, a session may only add one, and a token is not concerned', async () => {
    isMissing = true;
    const cookie = { headers: { cookie: 'atrium_session=fresh' } };
    const needed = { kind: 'forbidden', detail: { reason: 'second_factor_enrollment' } };
    await assert.rejects(call(signedIn('user', 'never'), cookie), needed);
    assert.equal(await loginOf(signedIn('user', 'never', { enrolling: true }), cookie), 'ann');
    assert.equal(await loginOf(signedIn('user', 'never'), { as: 'ann' }), 'ann');
  });

  it('Only site administrators act in the name of others, and an empty name is nobody', async () => {
    for (const sent of [{ query: { sudo: 'eve' } }, { headers: { sudo: 'eve' } }]) {
      const { caller } = await call(signedIn('user', 'never'), { as: 'root', ...sent });
      assert.deepEqual([caller?.person.login, caller?.sudoBy?.login], ['eve', 'root']);
      await assert.rejects(call(signedIn('user', 'never'), { as: 'ann', ...sent }), {
        kind: 'forbidden',
        message: /to sudo/,
      });
    }
    assert.equal(await loginOf(signedIn('user', 'never'), { as: 'ann', query: { sudo: '' } }), 'ann');
    for (const sudo of ['nobody', ['eve', 'ann']]) {
      await assert.rejects(call(signedIn('user', 'never'), { as: 'root', query: { sudo } }), { kind: 'notFound' });
    }
    // As eve, root is no administrator.
    await assert.rejects(call(siteAdmin('admin'), { as: 'root', query: { sudo: 'eve' } }), { kind: 'forbidden' });
  });

  it('A route for members accepts members and site administrators, and names the organization', async () => {
    const query = { org: 'acme' };
    for (const as of ['ann', 'root'] as const) {
      assert.deepEqual((await call(member('authz', 'as users'), { as, query })).caller?.organization, ACME);
    }
    const outside = { kind: 'forbidden', message: 'Must be an organization member' };
    await assert.rejects(call(member('authz', 'as users'), { as: 'eve', query }), outside);
    await assert.rejects(call(member('authz', 'as users'), { as: 'ann', query: { org: 'nowhere' } }), outside);
    for (const org of [undefined, '', ['acme', 'acme']]) {
      await assert.rejects(call(member('authz', 'as users'), { as: 'ann', query: { org } }), { kind: 'invalid' });
    }
    const anybody = signedIn('authz', 'never', { about: 'query' });
    assert.deepEqual((await call(anybody, { as: 'eve', query })).caller?.organization, ACME);
    await assert.rejects(call(anybody, { as: 'eve', query: { org: 'nowhere' } }), outside);
  });

  it('Whoever is kept from an organization learns nothing, and the audit log learns which one it was', async () => {
    const detailOf = async (access: Access, sent: Sent) => {
      const error = await call(access, sent).then(
        () => assert.fail('admitted'),
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof AppError);
      return [error.kind, error.message, error.detail.keptFrom];
    };
    const kept = { ownerId: ACME.id, type: 'organization', id: ACME.id };
    for (const [access, sent] of [
      [member('authz', 'as users'), (org: string): Sent => ({ as: 'eve', query: { org } })],
      [holdsIn('view:org', 'organization'), (org: string): Sent => ({ as: 'eve', params: { org } })],
    ] as const) {
      const [known, unknown] = [await detailOf(access, sent('acme')), await detailOf(access, sent('nowhere'))];
      assert.deepEqual(known.slice(0, 2), unknown.slice(0, 2));
      assert.deepEqual([known[2], unknown[2]], [kept, undefined]);
    }
  });

  it('A route that asks for a relation is opened by the engine alone, every time', async () => {
    const inQuery = { as: 'ann', query: { org: 'acme' }, params: { id: '4' } } as const;
    assert.deepEqual((await call(holds('view:role', 'authz'), inQuery)).caller?.organization, ACME);
    assert.deepEqual(required, ['ann view:role 20 4', 'ann view:role 20 4']);
    const path = { params: { org: 'acme' } };
    assert.deepEqual(
      (await call(holdsIn('view:org', 'organization'), { as: 'ann', ...path })).caller?.organization,
      ACME,
    );
    assert.deepEqual(required.slice(2), ['ann view:org 20 undefined', 'ann view:org 20 undefined']);
    await assert.rejects(
      call(holdsIn('view:org', 'organization'), { as: 'root', ...path }),
      /missing relation view:org/,
    );
    await assert.rejects(
      call(holds('view:role', 'authz'), { ...inQuery, as: 'eve' }),
      /Must be an organization member/,
    );
    await assert.rejects(call(holdsIn('view:org', 'organization'), { as: 'ann' }), { kind: 'notFound' });
  });

  it('A route about an object asks the engine, and knows the owner of the object', async () => {
    const { caller } = await call(holdsOn('view:team', 'organization'), { as: 'eve', params: { id: '4' } });
    assert.equal(caller?.ownerId, 30n);
    assert.deepEqual(required, ['eve view:team 4', 'eve view:team 4']);
    const nothing: Access = { who: 'holds', area: 'organization', robots: 'as users', about: 'object' };
    await assert.rejects(call(nothing, { as: 'eve', params: { id: '4' } }), { kind: 'internal' });
  });
});
