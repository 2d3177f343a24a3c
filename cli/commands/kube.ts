import { ApiError } from '../../client/errors.ts';
import { tokenOfClusterRobot } from '../cluster-robot.ts';
import { command, type Group } from '../command.ts';
import { misuse, rejected } from '../failure.ts';
import { kubeconfigPath, mergeKubeconfig } from '../kubeconfig-file.ts';
import { findResource, type Named } from '../names.ts';
import { said, verbatim } from '../output.ts';
import type { Session } from '../session.ts';

const cluster_ = { about: 'name or ID of the cluster', kind: 'cluster' } as const;

export const kube: Group = {
  summary: 'reach clusters with kubectl, and let their API servers ask Atrium',
  commands: {
    config: command({
      summary: 'add a context for a cluster to your kubeconfig',
      details: 'There is no secret in it: kubectl starts atrium, which gets a token for ten minutes.',
      args: { cluster: cluster_ },
      options: { print: { about: 'print the entry instead of writing it' } },
      examples: ['atrium kube config prod', 'atrium kube config prod --print'],
      async run(session, { args, options }) {
        const { id } = await findResource(session, 'cluster', args.cluster);
        const text = await withContext(session, await kubeconfigOf(session, id));
        if (options.print) return verbatim(text.trimEnd());
        const path = kubeconfigPath(session.env);
        const context = await mergeKubeconfig(path, text);
        return said(`added the context ${context} to ${path}; use it with kubectl --context ${context}`);
      },
    }),
    token: command({
      summary: 'print a token for a cluster, as kubectl expects it from a program',
      details: 'kubectl starts this by itself; atrium kube config sets that up.',
      options: { cluster: { about: 'ID or name of the cluster', value: 'CLUSTER', kind: 'cluster' } },
      examples: ['atrium kube token --cluster=1'],
      async run(session, { options }) {
        if (options.cluster === undefined) throw misuse('--cluster is required, such as --cluster=1');
        const { id } = await findResource(session, 'cluster', options.cluster);
        const made = await known(() => session.client().call('POST /clusters/{id}/kube-token', { path: { id } }));
        const credential = {
          apiVersion: 'client.authentication.k8s.io/v1',
          kind: 'ExecCredential',
          status: { expirationTimestamp: made.expires_at, token: made.token },
        };
        return verbatim(JSON.stringify(credential), credential);
      },
    }),
    'server-config': command({
      summary: 'print the files and flags with which an API server asks Atrium',
      details:
        'Creates the robot kube-CLUSTER, which may review requests of this cluster and nothing else. Run it again to ' +
        'rotate its token: the old one works for an hour more.',
      args: { cluster: cluster_ },
      options: { into: { about: 'write the files into this folder instead of printing them', value: 'FOLDER' } },
      examples: ['atrium kube server-config prod', 'atrium kube server-config prod --into atrium'],
      async run(session, { args, options }) {
        const cluster = await governed(session, args.cluster);
        const { prepareFolder, printed, writeServerConfig } = await import('../server-config.ts');
        if (options.into !== undefined) prepareFolder(options.into);
        const token = await tokenOfClusterRobot(session, cluster, 'kube');
        remind(session, cluster, 'webhook');
        const place = { ...cluster, clusterId: cluster.id, token };
        return verbatim(options.into === undefined ? printed(place) : writeServerConfig(options.into, place));
      },
    }),
    agent: command({
      summary: 'print the manifest of the agent, which works in a cluster whose API server cannot ask Atrium',
      details:
        'Creates the robot agent-CLUSTER, which may review this cluster and report about it. Run it again to rotate ' +
        'its token: the old one works for an hour more.',
      args: { cluster: cluster_ },
      options: {
        image: { about: 'the image of Atrium, such as registry.example.com/atrium:0.9.0', value: 'IMAGE' },
        endpoint: { about: 'where users reach the API server, if the agent is to report that', value: 'URL' },
      },
      examples: ['atrium kube agent eks --image registry.example.com/atrium:0.9.0 > agent.yaml'],
      async run(session, { args, options }) {
        const { image, endpoint } = options;
        if (image === undefined) throw misuse('--image is required, such as --image registry.example.com/atrium:0.9.0');
        if (/\s/.test(image)) throw misuse('--image must be the name of an image');
        if (endpoint !== undefined && !/^https:\/\/\S+$/.test(endpoint))
          throw misuse('--endpoint must be an https URL');
        const cluster = await governed(session, args.cluster);
        const token = await tokenOfClusterRobot(session, cluster, 'agent');
        remind(session, cluster, 'agent');
        const { agentManifest } = await import('../agent-manifest.ts');
        return verbatim(agentManifest({ server: cluster.server, clusterId: cluster.id, token, image, endpoint }));
      },
    }),
  },
};

interface Governed extends Named {
  readonly uid: string;
  /** The public address of the server, as tokens for clusters name it. */
  readonly server: string;
  /** Who governs it now. */
  readonly auth: string | undefined;
}

async function governed(session: Session, text: string): Promise<Governed> {
  const { id } = await findResource(session, 'cluster', text);
  const client = session.client();
  const { name, uid, kubernetes } = await client.call('GET /clusters/{id}', { path: { id } });
  const answer = await session.raw('GET', '/.well-known/openid-configuration', {});
  if (answer.status !== 200) throw tooOld();
  return { id, name, uid, server: (JSON.parse(answer.text) as { issuer: string }).issuer, auth: kubernetes?.auth };
}

/** What else is needed, before what was printed has an effect. */
function remind({ screen }: Session, { name, server, auth }: Governed, needed: 'webhook' | 'agent'): void {
  if (auth !== needed) screen.note(`first of all, let it: atrium cluster edit ${name} --kubernetes ${needed}`);
  if (!server.startsWith('https://')) {
    screen.note(`${server} is not https: a token would be readable on its way, and API servers send none`);
  }
}

async function kubeconfigOf(session: Session, id: bigint): Promise<string> {
  const answer = await session.raw('GET', `/api/v1/clusters/${id}/kubeconfig`, { Accept: '*/*' });
  if (answer.status === 200) return answer.text;
  const { message = '', reason = '' } = JSON.parse(answer.text) as { message?: string; reason?: string };
  throw reason === 'route_not_found' ? tooOld() : rejected(message);
}

/** A server of an earlier release has no such route. */
async function known<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof ApiError && error.reason === 'route_not_found' ? tooOld() : error;
  }
}

function tooOld() {
  return rejected('the server does not know how to govern clusters: upgrade it');
}

/** kubectl does not know which of the user's servers and accounts is meant, so the entry says it. */
async function withContext(session: Session, text: string): Promise<string> {
  const name = session.context()?.name;
  if (name === undefined) return text;
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text);
  document.setIn(['users', 0, 'user', 'exec', 'env'], document.createNode([{ name: 'ATRIUM_CONTEXT', value: name }]));
  return document.toString({ lineWidth: 0 });
}
