import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestServer } from '../server/server.ts';
import type { Owner } from './list-owners.ts';
import { addMember, makeOrganization, makePerson } from './people.ts';

/** Open access requests, for the test of the limits of every list. */
export const REQUEST_LIST = {
  limit: 'openRequestsPerUser',
  prepare: async (atrium: TestServer): Promise<Owner> => {
    const owner = await makePerson(atrium);
    const org = await makeOrganization(atrium, owner.name);
    const role = { name: 'editor', permissions: [{ namespace: 'cluster_mgmt', action: 'reconfigure clusters' }] };
    assert.equal((await atrium.as(owner.name)('POST', `/authz/roles?org=${org.name}`, role)).status, 201);
    const cluster = { name: 'prod', uid: randomUUID() };
    assert.equal((await atrium.as(owner.name)('POST', `/orgs/${org.name}/clusters`, cluster)).status, 201);
    const asker = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(org.team('Viewers')), asker.id);
    return { user: owner.name, org: org.name, id: org.id, others: [asker.name] };
  },
  /** Each request is about another namespace, because the same one again is no other request. */
  grow: async (atrium: TestServer, { org, others }: Owner, name: string) => {
    return await atrium.as(others[0])('POST', `/authz/requests?org=${org}`, {
      ...{ relation: 'can_edit', object: { type: 'cluster', name: 'prod' }, namespaces: [name] },
      ...{ for: 'PT1H', reason: name },
    });
  },
  size: `select count(*)::integer as n from access_request where state = 'open' and organization_id = $1`,
} as const;
