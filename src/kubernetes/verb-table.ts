/**
 * What each relation on a cluster allows in Kubernetes: all of it, in one place. `docs/kubernetes.md` shows the same
 * rows, and a test compares them. `needed-relation.ts` reads them; to add a row, look at nothing else.
 *
 * 1. A request needs the first relation below that has it. Each relation also allows what those before it allow.
 * 2. What no row has is for `can_administer` only: unknown verbs, subresources and paths, and everything with `*`.
 */
export const KUBERNETES_RELATIONS = ['can_view', 'can_connect', 'can_edit', 'can_administer'] as const;
export type KubernetesRelation = (typeof KUBERNETES_RELATIONS)[number];

export const READING = ['get', 'list', 'watch'] as const;
export const WRITING = ['create', 'update', 'patch', 'delete', 'deletecollection'] as const;
export const VERBS: readonly string[] = [...READING, ...WRITING];

export interface VerbRow {
  readonly relation: KubernetesRelation;
  /** In words, for the documentation. */
  readonly what: string;
  /** The resource, and the subresource behind a slash. `*` stands for all that no other row names. */
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Of the resource. Absent: any group, as long as no other row has it. */
  readonly groups?: readonly string[];
  /** Only if the request names a namespace, or only if it does not. */
  readonly where?: 'in a namespace' | 'cluster-wide';
}

const CORE = [''];

/**
 * The first row that fits a request decides. A row that has the resource and the group, but not the verb, does not fit,
 * and the next ones are looked at.
 */
export const VERB_TABLE: readonly VerbRow[] = [
  {
    relation: 'can_view',
    what: 'asking what oneself may do',
    resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    groups: ['authorization.k8s.io'],
    verbs: ['create'],
    where: 'cluster-wide',
  },
  {
    relation: 'can_view',
    what: 'asking who oneself is',
    resources: ['selfsubjectreviews'],
    groups: ['authentication.k8s.io'],
    verbs: ['create'],
    where: 'cluster-wide',
  },
  {
    relation: 'can_administer',
    what: 'changes of RBAC, admission webhooks, CRDs, aggregated APIs, certificates',
    resources: ['*', '*/status', '*/scale'],
    groups: [
      'rbac.authorization.k8s.io',
      'admissionregistration.k8s.io',
      'apiextensions.k8s.io',
      'apiregistration.k8s.io',
      'certificates.k8s.io',
    ],
    verbs: WRITING,
  },
  {
    relation: 'can_edit',
    what: 'Secrets of any group',
    resources: ['secrets', 'secrets/status', 'secrets/scale'],
    verbs: READING,
  },
  {
    relation: 'can_edit',
    what: 'changes of Secrets of any group',
    resources: ['secrets', 'secrets/status', 'secrets/scale'],
    verbs: WRITING,
    where: 'in a namespace',
  },
  {
    relation: 'can_administer',
    what: 'tokens of service accounts, and where pods run',
    resources: ['serviceaccounts/token', 'bindings', 'pods/binding'],
    verbs: VERBS,
  },
  {
    relation: 'can_view',
    what: 'RBAC, admission webhooks, CRDs, aggregated APIs, certificates',
    resources: ['*'],
    groups: [
      'rbac.authorization.k8s.io',
      'admissionregistration.k8s.io',
      'apiextensions.k8s.io',
      'apiregistration.k8s.io',
      'certificates.k8s.io',
    ],
    verbs: READING,
  },
  { relation: 'can_view', what: 'nodes', resources: ['nodes'], verbs: READING },
  { relation: 'can_view', what: 'the status of nodes', resources: ['nodes/status'], verbs: ['get'] },
  { relation: 'can_administer', what: 'changes of nodes', resources: ['nodes', 'nodes/*'], verbs: VERBS },
  { relation: 'can_view', what: 'namespaces', resources: ['namespaces'], verbs: READING },
  { relation: 'can_view', what: 'the status of namespaces', resources: ['namespaces/status'], verbs: ['get'] },
  {
    relation: 'can_administer',
    what: 'changes of namespaces',
    resources: ['namespaces', 'namespaces/*'],
    verbs: VERBS,
  },
  { relation: 'can_connect', what: 'logs of pods', resources: ['pods/log'], groups: CORE, verbs: ['get'] },
  {
    relation: 'can_connect',
    what: 'into pods',
    resources: ['pods/exec', 'pods/attach', 'pods/portforward'],
    groups: CORE,
    verbs: ['get', 'create'],
  },
  {
    relation: 'can_connect',
    what: 'to services',
    resources: ['services/proxy'],
    groups: CORE,
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
  {
    relation: 'can_edit',
    what: 'every known subresource of pods and services',
    resources: [
      ...['pods/log', 'pods/exec', 'pods/attach', 'pods/portforward', 'pods/proxy', 'pods/eviction'],
      ...['pods/ephemeralcontainers', 'pods/resize', 'services/proxy'],
    ],
    groups: CORE,
    verbs: VERBS,
    where: 'in a namespace',
  },
  {
    relation: 'can_view',
    what: 'the status and the scale of everything',
    resources: ['*/status', '*/scale'],
    verbs: ['get'],
  },
  {
    relation: 'can_edit',
    what: 'the status and the scale of everything',
    resources: ['*/status', '*/scale'],
    verbs: VERBS,
    where: 'in a namespace',
  },
  { relation: 'can_view', what: 'everything else', resources: ['*'], verbs: READING },
  { relation: 'can_edit', what: 'everything else', resources: ['*'], verbs: WRITING, where: 'in a namespace' },
];

/** In these namespaces, only `can_administer` allows more than `can_view`: what runs there can do everything. */
export const PROTECTED_NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'atrium-system'] as const;

/** Paths that are no resources, and everything below them, for get and head with `can_view`. */
export const OPEN_PATHS = ['/version', '/healthz', '/livez', '/readyz', '/api', '/apis', '/openapi'] as const;
export const OPEN_PATH_VERBS = ['get', 'head'] as const;

/** A namespaced `can_administer` does not have these, although their requests name a namespace. */
export const NEVER_IN_NAMESPACES = { verbs: ['impersonate'], resources: ['namespaces'] } as const;
