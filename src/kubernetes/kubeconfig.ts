import { AppError } from '../base/errors.ts';
import { serverOf } from '../clusters/kubernetes-access.ts';

interface ReachedCluster {
  readonly id: bigint;
  readonly name: string;
  readonly ownerName: string;
  readonly endpoint: string;
  readonly caBundle: string;
}

/**
 * The file that kubectl reads. There is no secret in it: kubectl starts `atrium`, which gets a token for ten minutes.
 * Names and addresses come from users, so nothing in it is text that a program would have to take apart.
 */
export async function kubeconfigOf(cluster: ReachedCluster): Promise<string> {
  const { id, name, ownerName, endpoint, caBundle } = cluster;
  const address = serverOf(endpoint);
  if (address === undefined || caBundle === '') {
    const what = address === undefined ? 'the https address (endpoint)' : 'the certificates (caBundle)';
    const message = `${what} of the API server of this cluster is not known: its agent reports it, or set it`;
    throw new AppError('conflict', message, { reason: 'no_endpoint' });
  }
  const context = `atrium-${ownerName}-${name}`;
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'atrium',
    args: ['kube', 'token', `--cluster=${id}`],
    interactiveMode: 'IfAvailable',
    provideClusterInfo: false,
    installHint: 'Install the atrium command line, and sign in with: atrium login',
  };
  const { stringify } = await import('yaml');
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: context,
          cluster: { server: address, 'certificate-authority-data': Buffer.from(caBundle).toString('base64') },
        },
      ],
      users: [{ name: context, user: { exec } }],
      contexts: [{ name: context, context: { cluster: context, user: context } }],
      'current-context': context,
    },
    { lineWidth: 0 },
  );
}
