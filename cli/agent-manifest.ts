/** What the manifest of the agent is about. */
export interface AgentPlace {
  /** The public address of the server. */
  readonly server: string;
  readonly clusterId: bigint;
  readonly token: string;
  readonly image: string;
  readonly endpoint: string | undefined;
}

const NAMESPACE = 'atrium-system';
const RBAC = 'rbac.authorization.k8s.io';

/** The roles that the agent writes, and the names of the bindings to them. `src/agent/rbac.ts` has the same. */
export const AGENT_ROLES = {
  'atrium:basic': 'atrium:4b657bbd317b',
  'atrium:view': 'atrium:4299adac0ee8',
  'atrium:connect': 'atrium:632f95547eb8',
  'atrium:edit': 'atrium:127068161a2f',
  'atrium:administer': 'atrium:e9757ed8ed55',
  'atrium:administer-namespace': 'atrium:a07371de61af',
} as const;

/** What the agent may do in the cluster; each line says why. The chart has the same rules. */
export const AGENT_RULES = `\
  # The namespaces that roles in namespaces are about, new kinds of resources, and how many nodes there are.
  - {apiGroups: [""], resources: [namespaces], verbs: [get, list, watch]}
  - {apiGroups: [""], resources: [nodes], verbs: [list]}
  - {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [list, watch]}
  # To see what others changed.
  - {apiGroups: [${RBAC}], resources: [clusterroles, clusterrolebindings, rolebindings], verbs: [list, watch]}
  # Its own roles. It can create others, but only with what it may do itself.
  - {apiGroups: [${RBAC}], resources: [clusterroles], verbs: [create]}
  - apiGroups: [${RBAC}]
    resources: [clusterroles]
    verbs: [get, update, escalate, bind]
    resourceNames: [${Object.keys(AGENT_ROLES)
      .map((name) => JSON.stringify(name))
      .join(', ')}]
  # Its own bindings. It can create others, but only to these roles. It deletes what carries its label under another name.
  - {apiGroups: [${RBAC}], resources: [clusterrolebindings, rolebindings], verbs: [create, delete]}
  - apiGroups: [${RBAC}]
    resources: [clusterrolebindings, rolebindings]
    verbs: [update]
    resourceNames: [${Object.values(AGENT_ROLES)
      .map((name) => JSON.stringify(name))
      .join(', ')}]
`;

/** Everything that `kubectl apply -f -` needs to run the agent in a cluster. */
export function agentManifest({ server, clusterId, token, image, endpoint }: AgentPlace): string {
  const own = '{app.kubernetes.io/name: atrium-agent}';
  const args = [
    'agent',
    `--server=${server}`,
    `--cluster=${clusterId}`,
    '--token-file=/run/secrets/atrium/token',
    ...(endpoint === undefined ? [] : [`--endpoint=${endpoint}`]),
  ];
  return `# The agent of Atrium. Apply it with kubectl; it has a secret.
apiVersion: v1
kind: Namespace
metadata: {name: ${NAMESPACE}, labels: ${own}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: atrium-agent, namespace: ${NAMESPACE}, labels: ${own}}
---
apiVersion: v1
kind: Secret
metadata: {name: atrium-agent, namespace: ${NAMESPACE}, labels: ${own}}
type: Opaque
stringData:
  token: ${JSON.stringify(token)}
---
apiVersion: ${RBAC}/v1
kind: ClusterRole
metadata: {name: atrium-agent, labels: ${own}}
rules:
${AGENT_RULES}---
apiVersion: ${RBAC}/v1
kind: ClusterRoleBinding
metadata: {name: atrium-agent, labels: ${own}}
roleRef: {apiGroup: ${RBAC}, kind: ClusterRole, name: atrium-agent}
subjects:
  - {kind: ServiceAccount, name: atrium-agent, namespace: ${NAMESPACE}}
---
# What it has heard last, so that a restart forgets nothing.
apiVersion: ${RBAC}/v1
kind: Role
metadata: {name: atrium-agent, namespace: ${NAMESPACE}, labels: ${own}}
rules:
  - {apiGroups: [""], resources: [configmaps], verbs: [create]}
  - {apiGroups: [""], resources: [configmaps], verbs: [get, update], resourceNames: [atrium-agent-state]}
---
apiVersion: ${RBAC}/v1
kind: RoleBinding
metadata: {name: atrium-agent, namespace: ${NAMESPACE}, labels: ${own}}
roleRef: {apiGroup: ${RBAC}, kind: Role, name: atrium-agent}
subjects:
  - {kind: ServiceAccount, name: atrium-agent, namespace: ${NAMESPACE}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: atrium-agent, namespace: ${NAMESPACE}, labels: ${own}}
spec:
  replicas: 1
  strategy: {type: Recreate}
  selector: {matchLabels: ${own}}
  template:
    metadata: {labels: ${own}}
    spec:
      serviceAccountName: atrium-agent
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
        runAsGroup: 1000
        fsGroup: 1000
        seccompProfile: {type: RuntimeDefault}
      containers:
        - name: agent
          image: ${JSON.stringify(image)}
          command: [node, bin/atrium.mjs]
          args: ${JSON.stringify(args)}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {drop: [ALL]}
          resources: {requests: {cpu: 10m, memory: 96Mi}, limits: {memory: 256Mi}}
          volumeMounts:
            - {name: token, mountPath: /run/secrets/atrium, readOnly: true}
      volumes:
        - name: token
          secret: {secretName: atrium-agent, defaultMode: 0440}`;
}
