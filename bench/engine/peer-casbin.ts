import { factsOf } from './facts.ts';
import type { PeerKind } from './peer.ts';
import { FOR_MEMBERS, PERMISSIONS } from './world.ts';

const MODEL = `
[request_definition]
r = sub, dom, act
[policy_definition]
p = sub, dom, act
[role_definition]
g = _, _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = g(r.sub, p.sub, r.dom) && r.dom == p.dom && r.act == p.act
`;

interface Casbin {
  newModelFromString(text: string): unknown;
  newEnforcer(model: unknown): Promise<{
    addPolicies(rules: string[][]): Promise<boolean>;
    addGroupingPolicies(rules: string[][]): Promise<boolean>;
    getImplicitPermissionsForUser(user: string, domain: string): Promise<string[][]>;
  }>;
}

export const casbin: PeerKind = {
  name: 'casbin',
  version: '5',
  note: 'one getImplicitPermissionsForUser; organization and owner found by the caller',
  async start(load, tuples) {
    const { newModelFromString, newEnforcer } = (await load('casbin')) as Casbin;
    const facts = factsOf(tuples);
    const enforcer = await newEnforcer(newModelFromString(MODEL));
    const organizations = [...facts.members.keys()];
    await enforcer.addPolicies(
      facts.grants.map(({ role, organization, permission }) => [role, organization, permission]),
    );
    await enforcer.addPolicies(organizations.flatMap((one) => PERMISSIONS.map((name) => ['admin', one, name])));
    await enforcer.addPolicies(
      organizations.flatMap((one) => PERMISSIONS.slice(0, FOR_MEMBERS).map((name) => ['member', one, name])),
    );
    const domainOf = new Map(facts.grants.map(({ role, organization }) => [idOf(role), organization]));
    const groupings: string[][] = [];
    for (const [organization, users] of facts.members)
      for (const user of users) groupings.push([user, 'member', organization]);
    for (const [organization, users] of facts.admins)
      for (const user of users) groupings.push([user, 'admin', organization]);
    for (const [subject, groups] of facts.groups) {
      for (const group of groups) groupings.push([subject, group, domainOf.get(idOf(group)) ?? '']);
    }
    await enforcer.addGroupingPolicies(groupings);
    return {
      async ask({ user, object }) {
        if (facts.owners.get(object)?.includes(user)) return [...PERMISSIONS];
        const found = await enforcer.getImplicitPermissionsForUser(user, facts.organizationOf.get(object) ?? '');
        return [...new Set(found.map(([, , permission]) => permission ?? ''))];
      },
      stop() {},
    };
  },
};

/** The IDs of one organization are within one thousand. */
function idOf(text: string): number {
  return Math.floor(Number(text.slice(text.indexOf(':') + 1)) / 1000);
}
