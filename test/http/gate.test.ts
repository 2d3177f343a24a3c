import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteDurations } from '../../src/base/metrics.ts';
import { type Access, anyone, signedIn, webhook } from '../../src/http/admission/access.ts';
import { createGate, rejectUnknownPaths } from '../../src/http/admission/gate.ts';
import type { Scope } from '../../src/http/server.ts';

const DURATIONS = {} as RouteDurations;

interface Passing {
  readonly csrf?: string;
  readonly rejection?: Error;
  readonly limit?: Error;
  readonly caller?: object;
  readonly identified?: object;
  readonly noticeMs?: number;
}

/** Passes a gate, and says in which order things happened. */
function pass(access: Access, { csrf, rejection, limit, noticeMs, ...known }: Passing = {}) {
  const happened: string[] = [];
  const caller = csrf === undefined ? null : { csrf, via: 'session', until: null };
  const request = { caller, identified: null, ...known } as unknown as FastifyRequest;
  const reply = { header: (name: string, value: string) => happened.push(`${name}: ${value}`) };
  const gate = createGate(
    access,
    (_request, done) => {
      happened.push('admitted');
      done(rejection);
    },
    () => {
      happened.push('counted');
      if (limit) throw limit;
    },
    DURATIONS,
    noticeMs,
  );
  gate(request, reply as unknown as FastifyReply, (error) =>
    happened.push(error ? `rejected: ${error.message}` : 'in'),
  );
  assert.equal(request.durations, DURATIONS);
  return happened;
}

describe('The gate of a route', () => {
  it('A request is admitted, counted, and let in', () => {
    assert.deepEqual(pass(anyone), ['admitted', 'counted', 'in']);
  });

  it('A rejected request counts, too, and a request beyond the limit is told so once', () => {
    const rejection = new Error('not you');
    assert.deepEqual(pass(signedIn('user', 'never'), { rejection }), ['admitted', 'counted', 'rejected: not you']);
    const limit = new Error('too many');
    assert.deepEqual(pass(signedIn('user', 'never'), { rejection, limit }), [
      'admitted',
      'counted',
      'rejected: too many',
    ]);
  });

  it('Deliveries of a marketplace are not counted, because it takes a limit as final', () => {
    assert.deepEqual(pass(webhook), ['admitted', 'in']);
  });

  it('A response to a session repeats its CSRF token', () => {
    assert.deepEqual(pass(signedIn('user', 'never'), { csrf: 'x' }), ['admitted', 'counted', 'X-Csrf-Token: x', 'in']);
  });

  it('A response to a token that ends soon says when, also if the request is rejected', () => {
    const until = new Date(Date.now() + 60_000);
    const said = `X-Token-Expires-At: ${until.toISOString().replace(/\.\d+Z$/, 'Z')}`;
    const rejection = new Error('not you');
    for (const who of ['caller', 'identified'] as const) {
      const seen = (noticeMs: number, via = 'token', end: Date | null = until) =>
        pass(signedIn('user', 'never'), { rejection, noticeMs, [who]: { via, until: end } }).includes(said);
      assert.ok(seen(61_000), who);
      assert.ok(!seen(30_000), `${who}: not soon`);
      assert.ok(!seen(61_000, 'session'), `${who}: no token`);
      assert.ok(!seen(61_000, 'token', null), `${who}: no end`);
    }
  });
});

describe('Unknown paths', () => {
  type Hook = (request: object, reply: object, done: (error?: Error) => void) => void;

  it('A request to an unknown path is counted and rejected, and one to a known path passes', () => {
    const hooks: Hook[] = [];
    const app = { addHook: (_name: string, hook: Hook) => hooks.push(hook) } as unknown as Scope;
    const book = { unknownPath: (method: string, url: string) => new Error(`no ${method} ${url}`) };
    let counted = 0;
    rejectUnknownPaths(app, book as unknown as Parameters<typeof rejectUnknownPaths>[1], () => {
      counted += 1;
      if (counted > 1) throw new Error('too many');
    });
    const send = (is404: boolean) => {
      const answers: (string | undefined)[] = [];
      for (const hook of hooks) hook({ is404, method: 'GET', url: '/x' }, {}, (error) => answers.push(error?.message));
      return answers;
    };
    assert.deepEqual([send(false), counted], [[undefined], 0]);
    assert.deepEqual(send(true), ['no GET /x']);
    assert.deepEqual(send(true), ['too many']);
  });
});
