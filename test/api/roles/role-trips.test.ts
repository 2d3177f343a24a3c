import assert from 'node:assert/strict';
import { it } from 'node:test';
import { countTrips, fewestTrips } from '../../support/checks/trips.ts';
import { DRIVERS } from '../../support/server/db.ts';
import { openTestServer } from '../../support/server/server.ts';
import { clusterPermission, makeRole } from '../../support/world/authz.ts';

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
    const trips = await countTrips(context, atrium.instance.db);
    const changes = [[VIEW], [CONNECT], [VIEW, CONNECT]].values();
    assert.equal(await fewestTrips(trips, () => change(changes.next().value ?? [])), 4);
  });
}
