import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { AGENT_ROLES, AGENT_RULES } from '../../cli/agent-manifest.ts';
import { clusterRoles, type Discovered } from '../../src/agent/cluster-roles.ts';
import { bindingName, ROLES, type RoleName } from '../../src/agent/rbac.ts';
import { type Holding, nextEnd, wantedBindings } from '../../src/agent/wanted-bindings.ts';
import { neededForResource } from '../../src/kubernetes/needed-relation.ts';
import { KUBERNETES_RELATIONS, VERBS } from '../../src/kubernetes/verb-table.ts';

const ALL = [...VERBS, 'use', 'approve'];
const named = (group: string, isNamespaced: boolean, ...names: string[]): Discovered[] =>
  names.map((name) => ({ group, name, isNamespaced, verbs: ALL }));
const RESOURCES: readonly Discovered[] = [
  ...named('', true, 'pods', 'pods/log', 'pods/exec', 'pods/attach', 'pods/portforward', 'pods/proxy', 'pods/eviction'),
  ...named('', true, 'pods/ephemeralcontainers', 'pods/resize', 'pods/binding', 'pods/status', 'bindings', 'secrets'),
  ...named('', true, 'services', 'services/proxy', 'serviceaccounts', 'serviceaccounts/token', 'configmaps'),
  ...named('', false, 'nodes', 'nodes/proxy', 'nodes/status', 'namespaces', 'namespaces/finalize', 'persistentvolumes'),
  ...named('apps', true, 'deployments', 'deployments/scale', 'deployments/status', 'deployments/unknown'),
  ...named('rbac.authorization.k8s.io', true, 'roles', 'rolebindings'),
  ...named('rbac.authorization.k8s.io', false, 'clusterroles', 'clusterrolebindings'),
  ...named('example.com', true, 'secrets', 'widgets'),
  ...named('example.com', false, 'planets'),
];
const NAMESPACES = ['default', 'shop', 'shop-eu', 'kube-system', 'atrium-system'];
const NOW = new Date('2026-01-01T00:00:00Z');
const roles = clusterRoles(RESOURCES);

const holding = (relation: string, namespaces: string[] | null = null, user = 'dan'): Holding[] =>
  KUBERNETES_RELATIONS.slice(0, KUBERNETES_RELATIONS.indexOf(relation as 'can_view') + 1).map((one) => ({
    user,
    relation: one,
    namespaces,
    expires_at: null,
  }));

/** As RBAC decides: a RoleBinding counts in its namespace, a ClusterRoleBinding everywhere. */
function allows(holdings: readonly Holding[], { group, name, namespace, verb }: Asked): boolean {
  const bound = wantedBindings(holdings, NAMESPACES, NOW, 'atrium-system').filter((one) => one.users.includes('dan'));
  return bound.some((one) => {
    if (one.namespace !== undefined && one.namespace !== namespace) return false;
    return (roles.get(one.role) ?? []).some(
      ({ apiGroups = [], resources = [], verbs }) =>
        [group, '*'].some((text) => apiGroups.includes(text)) &&
        [name, '*'].some((text) => resources.includes(text)) &&
        [verb, '*'].some((text) => verbs.includes(text)),
    );
  });
}

interface Asked {
  readonly group: string;
  readonly name: string;
  readonly namespace: string;
  readonly verb: string;
}

/** As the webhook decides, for a user who holds this relation, in all namespaces or in some. */
function needs({ group, name, namespace, verb }: Asked): number {
  const [resource = '', subresource = ''] = name.split('/');
  const object = resource === 'namespaces' ? namespace : '';
  const { relation } = neededForResource({ group, resource, subresource, verb, namespace, name: object });
  return KUBERNETES_RELATIONS.indexOf(relation);
}

/** What RBAC cannot say: Secrets of all namespaces at once would be those of the protected ones, too. */
function isKnownDifference({ name, namespace }: Asked): boolean {
  return namespace === '' && name.startsWith('secrets');
}

describe('The roles and bindings of the agent', () => {
  for (const relation of KUBERNETES_RELATIONS) {
    it(`${relation} in the whole cluster allows what the webhook allows`, () => {
      const differences: string[] = [];
      const rank = KUBERNETES_RELATIONS.indexOf(relation);
      for (const { group, name, isNamespaced } of RESOURCES) {
        for (const verb of VERBS) {
          for (const namespace of isNamespaced ? [...NAMESPACES, ''] : ['']) {
            const asked = { group, name, namespace, verb };
            // What is about one object names its namespace.
            const isAboutAll = ['list', 'watch'].includes(verb) && !name.includes('/');
            if (isNamespaced && namespace === '' && !isAboutAll) continue;
            const due = needs(asked) <= rank && !(isKnownDifference(asked) && relation !== 'can_administer');
            if (allows(holding(relation), asked) !== due) differences.push(JSON.stringify({ ...asked, due }));
          }
        }
      }
      assert.deepEqual(differences, []);
    });

    it(`${relation} in namespaces allows what the webhook allows there, and nothing elsewhere`, () => {
      const differences: string[] = [];
      const rank = KUBERNETES_RELATIONS.indexOf(relation);
      const some = holding(relation, ['shop*', 'kube-system']);
      for (const { group, name, isNamespaced } of RESOURCES) {
        for (const verb of VERBS) {
          for (const namespace of isNamespaced ? [...NAMESPACES, ''] : ['']) {
            const asked = { group, name, namespace, verb };
            const isThere = ['shop', 'shop-eu', 'kube-system'].includes(namespace);
            const due = isThere && needs(asked) <= rank;
            if (allows(some, asked) !== due) differences.push(JSON.stringify({ ...asked, due }));
          }
        }
      }
      assert.deepEqual(differences, []);
    });
  }

  it('A namespace itself can be read, and nothing more, by who holds something in it', () => {
    const some = holding('can_administer', ['shop']);
    const asked = (verb: string, namespace: string) => allows(some, { group: '', name: 'namespaces', namespace, verb });
    assert.deepEqual([asked('get', 'shop'), asked('get', 'default'), asked('get', '')], [true, false, false]);
    for (const verb of ['update', 'patch', 'delete']) assert.equal(asked(verb, 'shop'), false, verb);
  });

  it('An asterisk is in the role of administrators alone, and special verbs are in no other', () => {
    for (const [role, rules] of roles) {
      if (role === 'atrium:administer') continue;
      for (const { apiGroups = [], resources = [], verbs } of rules) {
        assert.ok(![...apiGroups, ...resources, ...verbs].includes('*'), role);
        for (const verb of ['impersonate', 'bind', 'escalate', 'use', 'approve'])
          assert.ok(!verbs.includes(verb), role);
      }
    }
  });

  it('What has ended counts no more, and an unknown relation gives nothing', () => {
    const end = '2026-01-01T00:00:00Z';
    const [first] = holding('can_view');
    assert.ok(first);
    assert.deepEqual(wantedBindings([{ ...first, expires_at: end }], NAMESPACES, NOW, ''), []);
    const later = { ...first, expires_at: '2026-01-01T00:00:01Z' };
    assert.equal(wantedBindings([later], NAMESPACES, NOW, '').length, 2);
    assert.equal(nextEnd([later, first], NOW), Date.parse('2026-01-01T00:00:01Z'));
    assert.equal(nextEnd([{ ...first, expires_at: end }], NOW), Number.POSITIVE_INFINITY);
    assert.deepEqual(wantedBindings([{ ...first, relation: 'can_fly' }], NAMESPACES, NOW, ''), []);
  });

  it('The manifest and the chart name the roles and bindings of the agent, and give it the same rules', () => {
    const own = Object.fromEntries(ROLES.map((role: RoleName) => [role, bindingName(role)]));
    assert.deepEqual(AGENT_ROLES, own);
    const rules = parse(AGENT_RULES) as { resources: string[]; verbs: string[]; resourceNames?: string[] }[];
    assert.deepEqual(parse(readFileSync('deploy/helm/atrium-agent/files/rules.yaml', 'utf8')), rules);
    for (const { verbs, resources, resourceNames } of rules) {
      assert.ok(!verbs.includes('*') && !resources.includes('*'));
      assert.ok(!['pods', 'secrets'].some((one) => resources.includes(one)));
      const isRisky = verbs.some((verb) => ['escalate', 'bind', 'update'].includes(verb));
      if (isRisky) assert.equal(resourceNames?.length, ROLES.length);
    }
  });
});
