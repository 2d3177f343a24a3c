import { neededForResource } from '../kubernetes/needed-relation.ts';
import { KUBERNETES_RELATIONS, OPEN_PATH_VERBS, OPEN_PATHS, VERBS } from '../kubernetes/verb-table.ts';
import type { RoleName, Rule } from './rbac.ts';

/** A resource that the API server has, as its discovery document says; with the subresource behind a slash. */
export interface Discovered {
  readonly group: string;
  readonly name: string;
  readonly isNamespaced: boolean;
  readonly verbs: readonly string[];
}

type Asked = Pick<Parameters<typeof neededForResource>[0], 'group' | 'resource' | 'subresource' | 'verb'>;

const REVIEWS = { 'authorization.k8s.io': ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'] } as const;
/** In a namespace that is not protected: protected ones only have bindings to roles that are allowed there. */
const ANY_NAMESPACE = 'namespace';

/**
 * The roles, from the table that also answers the webhook. RBAC has no "everything but", so each role lists what there is,
 * and has to be written anew when the API server gets new resources. An asterisk is in `atrium:administer` alone.
 */
export function clusterRoles(resources: readonly Discovered[]): ReadonlyMap<RoleName, readonly Rule[]> {
  return new Map<RoleName, readonly Rule[]>([
    ['atrium:basic', basic()],
    ['atrium:view', rulesOf(resources, allowedBy('can_view'))],
    ['atrium:connect', rulesOf(resources, allowedBy('can_connect'))],
    ['atrium:edit', rulesOf(resources, allowedBy('can_edit'))],
    ['atrium:administer', administer()],
    ['atrium:administer-namespace', rulesOf(resources, ({ isNamespaced }) => isNamespaced)],
  ]);
}

function basic(): Rule[] {
  const nonResourceURLs = OPEN_PATHS.flatMap((path) => [path, `${path}/*`]);
  return [
    ...Object.entries(REVIEWS).map(([group, resources]) => ({ apiGroups: [group], resources, verbs: ['create'] })),
    { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] },
    { nonResourceURLs, verbs: [...OPEN_PATH_VERBS] },
  ];
}

function administer(): Rule[] {
  return [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ];
}

/** A user who holds a relation also holds those before it. */
function allowedBy(relation: (typeof KUBERNETES_RELATIONS)[number]) {
  const allowed = KUBERNETES_RELATIONS.slice(0, KUBERNETES_RELATIONS.indexOf(relation) + 1);
  return ({ isNamespaced }: Discovered, asked: Asked): boolean => {
    const namespace = isNamespaced ? ANY_NAMESPACE : '';
    return allowed.includes(neededForResource({ ...asked, namespace, name: '' }).relation);
  };
}

function rulesOf(resources: readonly Discovered[], isAllowed: (resource: Discovered, asked: Asked) => boolean): Rule[] {
  const byVerbs = new Map<string, { group: string; verbs: readonly string[]; names: Set<string> }>();
  for (const one of resources) {
    const [resource = '', subresource = ''] = one.name.split('/');
    const known = VERBS.filter((verb) => one.verbs.includes(verb));
    const verbs = known.filter((verb) => isAllowed(one, { group: one.group, resource, subresource, verb }));
    if (verbs.length === 0) continue;
    const key = `${one.group} ${verbs.join()}`;
    const rule = byVerbs.get(key) ?? { group: one.group, verbs, names: new Set() };
    byVerbs.set(key, rule);
    rule.names.add(one.name);
  }
  const keys = [...byVerbs.keys()].sort();
  return keys.flatMap((key) => {
    const rule = byVerbs.get(key);
    return rule ? [{ apiGroups: [rule.group], resources: [...rule.names].sort(), verbs: rule.verbs }] : [];
  });
}
