import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import type { TestServer } from '../server/server.ts';
import { makeOrganization, makePerson } from './people.ts';

const HOUR_MS = 3_600_000;

const END_MEMBERSHIPS = sql(
  'test.endMemberships',
  `update team_member set expires_at = clock_timestamp() where expires_at is not null
      and team_id in (select id from team where organization_id = $1)`,
);
const END_ASSIGNMENTS = sql(
  'test.endAssignments',
  `update assignment set expires_at = clock_timestamp() where expires_at is not null
      and role_id in (select id from role where organization_id = $1)`,
);

const END_REQUESTS = sql(
  'test.endRequests',
  'update access_request set expires_at = clock_timestamp() where expires_at is not null and organization_id = $1',
);

/** An hour from now, in whole seconds. */
export function inHours(hours: number): string {
  return new Date((Math.floor(Date.now() / 1000) + hours * 3600) * 1000).toISOString().replace('.000Z', 'Z');
}

/**
 * Everything of an organization that expires within a day has expired now. PostgreSQL has a clock of its own, so the rows
 * are changed behind the back of every server. The built-in database must have the clock of the test (`hasOurClock`).
 */
export async function letExpire(t: TestContext, { instance }: TestServer, organizationId: bigint): Promise<void> {
  if (instance.db.driver === 'pglite') {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 24 * HOUR_MS });
    return;
  }
  await instance.db.transaction(async (query) => {
    await query(END_MEMBERSHIPS, [organizationId]);
    await query(END_ASSIGNMENTS, [organizationId]);
    await query(END_REQUESTS, [organizationId]);
  });
}

/** A new organization with its owner, and somebody who is in none of its teams. */
export async function openScene(atrium: TestServer) {
  const [owner, other] = [await makePerson(atrium), await makePerson(atrium)];
  const org = await makeOrganization(atrium, owner.name);
  const call = atrium.as(owner.name);
  const put = async (path: string, body?: unknown) => {
    const answer = await call('PUT', path, body);
    assert.equal(answer.status, 204, answer.text);
  };
  return { owner, other, org, call, put };
}
