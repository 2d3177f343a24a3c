import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { missingRelation } from '../../src/base/errors.ts';
import { type Access, type Caller, holdsOn, member, signedIn, siteAdmin } from '../../src/http/admission/access.ts';
import { createAdmission } from '../../src/http/admission/admission.ts';
import { createCallers } from '../../src/identity/callers.ts';
import { personOfRobot, toPerson } from '../../src/identity/person.rows.ts';
import { mintToken } from '../../src/identity/tokens/token-text.ts';
import { CALLER_KEY, createMemoryCallers, personRow, STILL, tokenGrant } from '../support/world/caller-store.ts';

const ACME = { id: 20n, name: 'acme' };
const ROBOT = { id: 5n, name: 'deploy', organization: ACME };
const DEPLOY = personOfRobot(ROBOT, toPerson(personRow({ id: ACME.id, name: 'acme' })), new Date(0));
const ANN = toPerson(personRow({ organization_ids: [ACME.id], permissions: ['write'] }));
const ROOT = toPerson(personRow({ id: 9n, name: 'root', is_admin: true }));
const texts = { robot: mintToken(), reporter: mintToken(), ann: mintToken(), root: mintToken() };
const TOKENS = new Map([
  [texts.robot, tokenGrant(DEPLOY, { tokenId: 50n, robot: ROBOT })],
  [texts.reporter, tokenGrant(DEPLOY, { tokenId: 55n, robot: ROBOT, scopes: ['write:organization'] })],
  [texts.ann, tokenGrant(ANN)],
  [texts.root, tokenGrant(ROOT)],
]);

interface Sent {
  readonly as: keyof typeof texts;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, string>>;
}

describe('Admission of robots', () => {
  let used: bigint[];
  let required: string[];
  let identified: Caller | null;
  let door: ReturnType<typeof createAdmission>;
  beforeEach(() => {
    [used, required, identified] = [[], [], null];
    const memory = createMemoryCallers({ people: [ANN, ROOT], tokens: TOKENS, organizations: [ACME] });
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
        ownerOf: async (_relation, id) => ({ '1': ACME.id, '2': 21n })[id],
      },
      tokenUsage: { note: (id) => used.push(id) },
      sessionUsage: { note: () => undefined },
      brake: { password: (_login, _address, attempt) => attempt(), token: (_address, attempt) => attempt() },
      queryTokens: true,
      secondFactors: { isMissing: async () => true },
      provenMs: 900_000,
    });
  });

  /** Twice, because the second request takes the fast path if it can. Both must end alike. */
  async function call(access: Access, { as, query = {}, headers = {}, params = {} }: Sent): Promise<FastifyRequest> {
    const admit = door(access);
    const outcomes: { error: unknown; request: FastifyRequest }[] = [];
    for (let time = 0; time < 2; time++) {
      const all = { authorization: `token ${texts[as]}`, ...headers };
      const raw = { headers: all, socket: {} };
      const sent = { raw, headers: all, method: 'GET', query, params, ip: '192.0.2.1', caller: null, identified: null };
      const request = sent as unknown as FastifyRequest;
      outcomes.push(await new Promise((resolve) => admit(request, (error) => resolve({ error, request }))));
    }
    const [first, second] = outcomes;
    assert.ok(first && second);
    assert.equal(String(second.error), String(first.error));
    assert.deepEqual(second.request.caller, first.request.caller);
    identified = first.request.identified;
    if (first.error !== undefined) throw first.error;
    return second.request;
  }

  it('A route never admits a robot if it is about a person, whatever the scopes of the token are', async () => {
    const refused = { kind: 'forbidden', detail: { reason: 'not_for_robots' } };
    for (const access of [signedIn('user', 'never'), signedIn('user', 'never', { scope: 'all' }), siteAdmin('admin')]) {
      for (const as of ['robot', 'reporter'] as const) await assert.rejects(call(access, { as }), refused);
    }
    assert.deepEqual(used, []);
    assert.deepEqual(identified?.robot, ROBOT);
  });

  it('A robot is admitted under its own number, which is that of no user', async () => {
    const { caller } = await call(signedIn('user', 'as users'), { as: 'robot' });
    assert.deepEqual([caller?.person.id, caller?.person.login, caller?.robot], [-5n, 'acme/deploy', ROBOT]);
    await assert.rejects(call(signedIn('user', 'as users'), { as: 'reporter' }), /required=\[read:user\]/);
  });

  it('A robot passes the gate of its own organization only, and needs the relation that the route names', async () => {
    const inAcme = { as: 'robot', query: { org: 'acme' } } as const;
    assert.deepEqual((await call(member('authz', 'as users'), inAcme)).caller?.organization, ACME);
    assert.deepEqual(required, []);
    await assert.rejects(call(member('authz', 'view_roles:org'), inAcme), /view_roles/);
    assert.equal(required[0], 'acme/deploy view_roles:org 20 undefined');
    for (const robots of ['as users', 'view_roles:org'] as const) {
      const elsewhere = call(member('authz', robots), { as: 'robot', query: { org: 'globex' } });
      await assert.rejects(elsewhere, /Must be an organization member/);
    }
    required = [];
    assert.deepEqual(
      (await call(member('authz', 'view_roles:org'), { ...inAcme, as: 'ann' })).caller?.organization,
      ACME,
    );
    assert.deepEqual(required, [], 'users need no relation there');
  });

  it('A robot of the owner reaches an object without a relation if the route says so, and no other robot does', async () => {
    const route = holdsOn('edit:cluster', 'organization', { robots: 'of the owner' });
    const { caller } = await call(route, { as: 'robot', params: { id: '1' } });
    assert.deepEqual([caller?.robot, caller?.ownerId, required], [ROBOT, ACME.id, []]);
    for (const id of ['2', '3']) {
      required = [];
      await call(route, { as: 'robot', params: { id } });
      assert.equal(required[0], `acme/deploy edit:cluster ${id}`);
    }
  });

  it('A robot can never act on behalf of a user', async () => {
    for (const sent of [{ query: { sudo: 'ann' } }, { headers: { sudo: 'ann' } }, { query: { sudo: 'nobody' } }]) {
      const refused = { kind: 'forbidden', detail: { reason: 'sudo_forbidden' } };
      await assert.rejects(call(signedIn('user', 'as users'), { as: 'robot', ...sent }), refused);
    }
    await assert.rejects(call(signedIn('user', 'as users'), { as: 'root', query: { sudo: 'acme/deploy' } }), {
      kind: 'notFound',
    });
  });
});
