import { createHash } from 'node:crypto';

/** What the agent writes into a cluster, and how it knows it again. */
export const RBAC = 'rbac.authorization.k8s.io';

/**
 * One ClusterRole for each way of holding something. Their names are fixed, so that the agent needs `escalate` and `bind`
 * for these only. `cli/agent-manifest.ts` and the chart have the same names; a test compares them.
 */
export const ROLES = [
  'atrium:basic',
  'atrium:view',
  'atrium:connect',
  'atrium:edit',
  'atrium:administer',
  'atrium:administer-namespace',
] as const;
export type RoleName = (typeof ROLES)[number];

/** On everything that follows from the bindings of Atrium. What the agent itself needs to run has another label. */
export const LABEL = { name: 'atrium.dev/written-by', value: 'agent' } as const;

/**
 * Of the binding to a role, in each namespace and in the whole cluster. It has all its users, so there are only as many
 * names as roles, and the agent need not be allowed to change any other binding.
 */
export function bindingName(role: RoleName): string {
  return `atrium:${createHash('sha256').update(role).digest('hex').slice(0, 12)}`;
}

export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

/** A ClusterRoleBinding, or the RoleBinding of a namespace. */
export interface WantedBinding {
  readonly role: RoleName;
  readonly namespace: string | undefined;
  /** Sorted. */
  readonly users: readonly string[];
}
