import assert from 'node:assert/strict';
import { it } from 'node:test';
import { clusterPermission, makeRole } from '../../support/authz.ts';
import { DRIVERS } from '../../support/db.ts';
import { openTestServer } from '../../support/server.ts';
import { countTrips } from '../../support/trips.ts';

const VIEW = clusterPermission('view clusters');
const CONNECT = clusterPermission('connect to clusters');

for (const driver of DRIVERS.filter((one) => one === 'postgres')) {
  it('A change of a role takes two trips to PostgreSQL, after two that read the change before it', async (context) => {
    const atrium = await openTestServer({ driver });
    context.after(() => atrium.close());
    const { body: role } = await makeRole(atrium, { name: 'watch', permissions: [VIEW], teamIDs: [] });
    const path = `/authz/roles/${role.id}?org=acme`;
    const change = async (permissions: object[]) =>
      assert.equal((await atrium.as('ann')('PUT', path, { permissions })).status, 200);
    await change([VIEW, CONNECT]);
    const trips = countTrips(context);
    await change([VIEW]);
    assert.equal(trips(), 4);
    await change([CONNECT]);
    assert.equal(trips(), 4);
  });
}
