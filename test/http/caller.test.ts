import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { actorFor, type Caller, callerIn, ownerIn, seesAsAdmin, seesAsSelf } from '../../src/http/admission/access.ts';
import { personOfRobot, toPerson } from '../../src/identity/person.rows.ts';
import { personRow } from '../support/world/caller-store.ts';

const ANN = toPerson(personRow());
const ROOT = toPerson(personRow({ id: 9n, name: 'root', is_admin: true }));

describe('What a caller sees and signs', () => {
  const caller = (changes: Partial<Caller> = {}): Caller => ({
    person: ROOT,
    via: 'token',
    credentialKey: 't9',
    scopes: ['all'],
    until: null,
    ...changes,
  });
  const limited = caller({ scopes: ['all', 'public-only'] });

  it('A public-only token shows neither what administrators see nor what is for the user alone', () => {
    assert.deepEqual([seesAsAdmin(caller()), seesAsAdmin(limited)], [true, false]);
    assert.equal(seesAsAdmin(caller({ person: ANN })), false);
    assert.deepEqual(
      [seesAsSelf(caller(), 9n), seesAsSelf(limited, 9n), seesAsSelf(caller(), 1n)],
      [true, false, false],
    );
  });

  it('The audit log names the user, the administrator behind them, or the robot of an organization', () => {
    assert.deepEqual(actorFor(caller(), 'r1'), { id: 9n, name: 'root', requestId: 'r1' });
    assert.deepEqual(actorFor(caller({ person: ANN, sudoBy: ROOT }), 'r1'), {
      id: 1n,
      name: 'ann',
      requestId: 'r1',
      sudoBy: { id: 9n, name: 'root' },
    });
    const robot = { id: 5n, name: 'deploy', organization: { id: 20n, name: 'acme' } };
    const person = personOfRobot(robot, toPerson(personRow({ id: 20n, name: 'acme' })), new Date(0));
    assert.deepEqual(actorFor(caller({ person, robot }), 'r1'), { id: -5n, name: 'deploy', requestId: 'r1' });
  });

  it('A route that is about nothing has neither an owner nor an organization', () => {
    const request = (changes: Partial<Caller> = {}) => ({ caller: caller(changes) }) as FastifyRequest;
    assert.equal(ownerIn(request({ ownerId: 3n })), 3n);
    assert.throws(() => ownerIn(request()), { kind: 'internal' });
    const organization = { id: 20n, name: 'acme' };
    assert.equal(callerIn(request({ organization })).organization, organization);
    assert.throws(() => callerIn(request()), { kind: 'internal' });
  });
});
