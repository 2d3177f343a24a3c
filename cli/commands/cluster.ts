import { readFileSync } from 'node:fs';
import type { Answer } from '../../client/client.ts';
import { changesIn, wholeNumber } from '../changes.ts';
import { command, type Group } from '../command.ts';
import { misuse } from '../failure.ts';
import { shortTime } from '../moments.ts';
import { all, findResource, idOf } from '../names.ts';
import { type Columns, list, one, said } from '../output.ts';
import { confirm } from '../terminal.ts';

type Cluster = Answer<'POST /user/clusters'>;
type ListedCluster = Pick<
  Cluster,
  'id' | 'name' | 'ownerName' | 'provider' | 'orchestratorVersion' | 'nodeCount' | 'age' | 'status'
>;

const cluster_ = { about: 'name or ID of the cluster', kind: 'cluster' } as const;
const details = {
  'display-name': { about: 'display name', value: 'TEXT' },
  provider: { about: 'where it runs, such as GKE, EKS, AKS or Generic', value: 'NAME' },
  vendor: { about: 'vendor of its orchestrator', value: 'NAME' },
  location: { about: 'region or location', value: 'TEXT' },
  project: { about: 'project or account at the provider', value: 'TEXT' },
  endpoint: { about: 'address of its API server', value: 'URL' },
  'orchestrator-version': { about: 'version of its orchestrator, such as v1.33.4', value: 'VERSION' },
  nodes: { about: 'number of nodes', value: 'N' },
  'cluster-set': { about: 'cluster set that it belongs to', value: 'NAME' },
  kubernetes: {
    about: 'who governs what can be done inside it: its API server asks (webhook), an agent, or neither (none)',
    value: 'WAY',
    choices: ['webhook', 'agent', 'none'],
  },
  'kubernetes-username': {
    about: 'what its agent calls users in bindings',
    value: 'NAME',
    choices: ['login', 'email'],
  },
  'kubernetes-prefix': { about: 'what stands before each name in bindings, such as oidc:', value: 'TEXT' },
  'ca-bundle': { about: 'file with the certificates that its API server is verified with', value: 'FILE' },
} as const;
const PHASES = ['Active', 'Inactive', 'NotReady', 'NotConnected', 'Registered', 'NotImported', 'Lost'] as const;
const ORDERS = ['name', 'heartbeat', 'nodes', 'created'] as const;
const PAGE = 200;
/** An agent reports every minute, mostly nothing new. */
const VOLATILE = ['age', 'heartbeatAt'];
type Details = Readonly<Record<keyof typeof details, string | undefined>>;

interface Kubernetes {
  readonly auth?: 'webhook' | 'agent' | 'none';
  readonly username?: 'login' | 'email';
  readonly prefix?: string;
}

function readBundle(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw misuse(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function bodyOf(options: Details) {
  const { provider, vendor, location, project, endpoint } = options;
  return {
    displayName: options['display-name'],
    provider,
    vendor,
    location,
    project,
    endpoint,
    orchestratorVersion: options['orchestrator-version'],
    nodeCount: wholeNumber(options.nodes, '--nodes'),
    clusterSetName: options['cluster-set'],
    ...kubernetesOf(options),
    ...(options['ca-bundle'] !== undefined && { caBundle: readBundle(options['ca-bundle']) }),
  };
}

function kubernetesOf(options: Details): { readonly kubernetes?: Kubernetes } {
  const { kubernetes: auth, 'kubernetes-username': username, 'kubernetes-prefix': prefix } = options;
  const stated = Object.entries({ auth, username, prefix }).filter(([, value]) => value !== undefined);
  return stated.length === 0 ? {} : { kubernetes: Object.fromEntries(stated) as Kubernetes };
}

const fields: Columns<Cluster & { readonly kubernetes?: { readonly auth: string } }> = {
  id: (row) => row.id,
  name: (row) => row.name,
  'display name': (row) => row.displayName,
  uid: (row) => row.uid,
  owner: (row) => row.ownerName,
  provider: (row) => row.provider,
  location: (row) => row.location,
  'cluster set': (row) => row.clusterSetName,
  version: (row) => row.orchestratorVersion,
  nodes: (row) => row.nodeCount,
  endpoint: (row) => row.endpoint,
  kubernetes: (row) => row.kubernetes?.auth,
  phase: (row) => row.status.response.phase,
  reason: (row) => row.status.response.reason,
  message: (row) => row.status.response.message,
  created: (row) => shortTime(row.createdAt),
};

export const cluster: Group = {
  summary: 'manage clusters',
  commands: {
    list: command({
      summary: 'list the clusters of the organization; with --mine, your own; with --all, all that you can see',
      options: {
        mine: { about: 'list your own clusters' },
        all: { about: 'list all clusters that you can see, in any organization' },
        search: {
          about: 'only clusters with this text in their name or display name, or whose UID starts with it',
          value: 'TEXT',
        },
        phase: { about: 'only clusters in this phase', value: 'PHASE', choices: PHASES },
        provider: { about: 'only clusters of this provider', value: 'NAME' },
        sort: { about: 'what to sort by; by default the ID', value: 'WHAT', choices: ORDERS },
        descending: { about: 'sort in descending order' },
      },
      examples: [
        'atrium cluster list --org acme',
        'atrium cluster list --all --phase Lost',
        'atrium cluster list --sort heartbeat',
        'atrium cluster list --watch -o json',
      ],
      watch: { ignore: VOLATILE },
      async run(session, { options }) {
        if (options.mine && options.all) throw misuse('use either --mine or --all, not both');
        const columns: Columns<ListedCluster> = {
          id: (row) => row.id,
          name: (row) => row.name,
          owner: (row) => row.ownerName,
          provider: (row) => row.provider,
          version: (row) => row.orchestratorVersion,
          nodes: (row) => row.nodeCount,
          phase: (row) => row.status.response.phase,
          age: (row) => row.age,
        };
        const client = session.client();
        const { search: q, phase, provider, sort } = options;
        const query = { q, phase, provider, sort, order: options.descending ? ('desc' as const) : undefined };
        const found: readonly ListedCluster[] =
          options.mine || options.all
            ? await client.call('GET /user/clusters', { query: { ...query, all: options.all ? 'true' : undefined } })
            : await all(
                client.each('GET /orgs/{org}/clusters', {
                  path: { org: session.org() },
                  query: { ...query, limit: PAGE },
                }),
              );
        return list(found, columns, 'none');
      },
    }),
    show: command({
      summary: 'show a cluster',
      args: { cluster: cluster_ },
      examples: ['atrium cluster show prod', 'atrium cluster show prod --json'],
      watch: { ignore: VOLATILE },
      async run(session, { args }) {
        const path = { id: await idOf(session, 'cluster', args.cluster) };
        return one(await session.client().call('GET /clusters/{id}', { path }), fields);
      },
    }),
    import: command({
      summary: 'import a cluster into the organization; with --mine, as your own',
      args: { name: { about: 'name of the cluster' } },
      options: {
        uid: { about: 'UUID of its kube-system namespace', value: 'UUID' },
        mine: { about: 'import it as your own, without an organization' },
        ...details,
      },
      examples: ['atrium cluster import prod2 --uid 0b1c7c0e-3f5c-4e8e-9b39-8a7d2a9a6c11 --provider GKE --nodes 3'],
      async run(session, { args, options }) {
        if (options.uid === undefined)
          throw misuse('missing option --uid UUID; use the UID of the kube-system namespace');
        const body = { name: args.name, uid: options.uid, ...bodyOf(options) };
        const client = session.client();
        const made = options.mine
          ? await client.call('POST /user/clusters', { body })
          : await client.call('POST /orgs/{org}/clusters', { path: { org: session.org() }, body });
        return one(made, fields);
      },
    }),
    edit: command({
      summary: 'change a cluster; only the given fields change',
      args: { cluster: cluster_ },
      options: { name: { about: 'new name', value: 'NAME' }, ...details },
      examples: ['atrium cluster edit staging --display-name "Staging, Frankfurt" --nodes 4'],
      async run(session, { args, options }) {
        const body = changesIn({ name: options.name, ...bodyOf(options) }, 'cluster edit');
        const path = { id: await idOf(session, 'cluster', args.cluster) };
        return one(await session.client().call('PATCH /clusters/{id}', { path, body }), fields);
      },
    }),
    heartbeat: command({
      summary: 'report the state of a cluster, for its agent or a scheduled job',
      args: { cluster: cluster_ },
      options: {
        phase: { about: 'phase of the cluster', value: 'PHASE', choices: PHASES },
        reason: { about: 'reason for the phase, in one word', value: 'WORD' },
        message: { about: 'explanation, as a sentence', value: 'TEXT' },
        nodes: details.nodes,
        'orchestrator-version': details['orchestrator-version'],
      },
      examples: ['atrium cluster heartbeat prod --phase Active --nodes 5'],
      async run(session, { args, options }) {
        const { phase, reason, message } = options;
        const nodeCount = wholeNumber(options.nodes, '--nodes');
        const body = { phase, reason, message, nodeCount, orchestratorVersion: options['orchestrator-version'] };
        const path = { id: await idOf(session, 'cluster', args.cluster) };
        await session.client().call('POST /clusters/{id}/heartbeat', { path, body });
        return said(`reported the state of ${args.cluster}`);
      },
    }),
    remove: command({
      summary: 'remove a cluster',
      args: { cluster: cluster_ },
      examples: ['atrium cluster remove prod2 --yes'],
      async run(session, { args }) {
        const { id, name } = await findResource(session, 'cluster', args.cluster);
        await confirm(session, `Remove the cluster ${name}?`);
        await session.client().call('DELETE /clusters/{id}', { path: { id } });
        return said(`removed the cluster ${name}`);
      },
    }),
  },
};
