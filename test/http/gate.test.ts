import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteDurations } from '../../src/base/metrics.ts';
import { type Access, anyone, signedIn, webhook } from '../../src/http/access.ts';
import { createGate } from '../../src/http/gate.ts';

const DURATIONS = {} as RouteDurations;

/** Passes a gate, and says in which order things happened. */
function pass(access: Access, { csrf, rejection, limit }: { csrf?: string; rejection?: Error; limit?: Error } = {}) {
  const happened: string[] = [];
  const request = { caller: csrf === undefined ? null : { csrf } } as unknown as FastifyRequest;
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
    assert.deepEqual(pass(signedIn('user'), { rejection }), ['admitted', 'counted', 'rejected: not you']);
    const limit = new Error('too many');
    assert.deepEqual(pass(signedIn('user'), { rejection, limit }), ['admitted', 'counted', 'rejected: too many']);
  });

  it('Deliveries of a marketplace are not counted, because it takes a limit as final', () => {
    assert.deepEqual(pass(webhook), ['admitted', 'in']);
  });

  it('A response to a session repeats its CSRF token', () => {
    assert.deepEqual(pass(signedIn('user'), { csrf: 'x' }), ['admitted', 'counted', 'X-Csrf-Token: x', 'in']);
  });
});
