import { allGroups, factsOf } from './facts.ts';
import type { PeerKind } from './peer.ts';
import { FOR_MEMBERS, PERMISSIONS } from './world.ts';

interface Uid {
  readonly type: string;
  readonly id: string;
}

interface Cedar {
  preparsePolicySet(id: string, policies: { staticPolicies: string }): { type: string };
  statefulIsAuthorized(call: object): { type: string; response?: { decision: string } };
}

export const cedar: PeerKind = {
  name: '@cedar-policy/cedar-wasm',
  version: '4',
  note: `${PERMISSIONS.length} statefulIsAuthorized; entities sliced by the caller`,
  async start(load, tuples) {
    const { default: engine } = (await load('@cedar-policy/cedar-wasm/nodejs')) as { default: Cedar };
    const facts = factsOf(tuples);
    const byRole = Map.groupBy(facts.grants, ({ role }) => role);
    const actions = (names: readonly string[]): string => names.map((name) => `Action::"${name}"`).join(', ');
    const permit = (group: string, names: readonly string[], organization: string): string =>
      `permit(principal in Group::"${group}", action in [${actions(names)}], resource in Group::"${organization}");`;
    const policies = ['permit(principal, action, resource) when { resource.owners.contains(principal) };'];
    for (const [role, grants] of byRole) {
      policies.push(
        permit(
          role,
          grants.map(({ permission }) => permission),
          grants[0]?.organization ?? '',
        ),
      );
    }
    for (const organization of facts.members.keys()) {
      policies.push(permit(`admin:${organization}`, PERMISSIONS, organization));
      policies.push(permit(`member:${organization}`, PERMISSIONS.slice(0, FOR_MEMBERS), organization));
    }
    const parsed = engine.preparsePolicySet('bench', { staticPolicies: policies.join('\n') });
    if (parsed.type !== 'success') throw new Error(JSON.stringify(parsed));
    const group = (id: string): Uid => ({ type: 'Group', id });

    return {
      ask({ user, object }) {
        const organization = facts.organizationOf.get(object) ?? '';
        const groups = allGroups(facts, user);
        const parents = (facts.groups.get(user) ?? []).map(group);
        if (facts.admins.get(organization)?.has(user)) parents.push(group(`admin:${organization}`));
        if (facts.members.get(organization)?.has(user)) parents.push(group(`member:${organization}`));
        const principal = { type: 'User', id: user };
        const resource = { type: 'Cluster', id: object };
        const owners = (facts.owners.get(object) ?? []).map((id) => ({ __entity: { type: 'User', id } }));
        const entities = [
          { uid: principal, attrs: {}, parents },
          { uid: resource, attrs: { owners }, parents: [group(organization)] },
          ...groups.map((id) => ({ uid: group(id), attrs: {}, parents: (facts.groups.get(id) ?? []).map(group) })),
        ];
        return PERMISSIONS.filter((name) => {
          const action = { type: 'Action', id: name };
          const answer = engine.statefulIsAuthorized({
            principal,
            action,
            resource,
            context: {},
            entities,
            preparsedPolicySetId: 'bench',
            validateRequest: false,
          });
          if (answer.type !== 'success') throw new Error(JSON.stringify(answer));
          return answer.response?.decision === 'allow';
        });
      },
      stop() {},
    };
  },
};
