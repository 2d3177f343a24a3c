import assert from 'node:assert/strict';
import type { Answer, TestServer } from '../server/server.ts';
import { assign, openPlace } from './assignments.ts';
import { addMember, createTeam, makePerson } from './people.ts';

export type RequestPlace = Awaited<ReturnType<typeof openRequestPlace>>;

/** An organization with an owner, a lead who may assign roles, dan, who asks, and cat, who may see the same cluster. */
export async function openRequestPlace(atrium: TestServer) {
  const place = await openPlace(atrium);
  const { org, owner, dan, call } = place;
  const [lead, cat] = [await makePerson(atrium), await makePerson(atrium)];
  const leads = await createTeam(atrium.instance, { organizationId: org.id, name: 'leads', permission: 'none' });
  await addMember(atrium.instance, leads, lead.id);
  const leading = await place.role(
    'leading',
    'org_mgmt assign roles',
    'org_mgmt view members',
    'cluster_mgmt view clusters',
    'cluster_mgmt connect to clusters',
  );
  await assign(place, leading.id, { type: 'team', id: Number(leads) });
  await addMember(atrium.instance, BigInt(place.crew), cat.id);
  const looker = await place.role('looker', 'cluster_mgmt view clusters');
  for (const { id } of [dan, cat]) {
    await assign(place, looker.id, { type: 'user', id: Number(id) }, { type: 'cluster', id: place.prod.id });
  }
  const path = `/authz/requests?org=${org.name}`;
  const at = (id: string, verb = '') => `/authz/requests/${id}${verb === '' ? '' : `/${verb}`}?org=${org.name}`;
  const connect = { relation: 'can_connect', object: { type: 'cluster', id: place.prod.id } };
  const as = (name: string) => atrium.as(name);
  const ask = async (more: object = {}, name = dan.name): Promise<Answer['body']> => {
    const answer = await as(name)('POST', path, { ...connect, for: 'PT4H', reason: 'INC-1', ...more });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const approve = async (id: string, name = owner.name): Promise<Answer> => {
    const seen = await as(name)('GET', at(id));
    return await as(name)('POST', at(id, 'approve'), { digest: seen.body.digest });
  };
  const rules = async (...list: object[]): Promise<void> => {
    const answer = await call('PUT', `/orgs/${org.name}/request_rules`, list);
    assert.equal(answer.status, 200, answer.text);
  };
  return {
    ...place,
    looker,
    leads: Number(leads),
    lead,
    cat,
    requests: path,
    request: at,
    connect,
    as,
    ask,
    approve,
    rules,
  };
}
