import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rejected } from './failure.ts';

/** What the files of an API server are about. */
export interface ServerPlace {
  readonly clusterId: bigint;
  readonly uid: string;
  /** The public address of the server. */
  readonly server: string;
  readonly token: string;
}

/** Where the API server finds the files. */
const FOLDER = '/etc/kubernetes/atrium';
/** Two of them have a secret. */
const MODE = 0o600;

/** All files and the flags, as one text. */
export function printed(place: ServerPlace): string {
  const files = Object.entries(filesOf(place)).map(([name, text]) => {
    const secret = text.includes(place.token) ? ' (mode 0600: it has a secret)' : '';
    return `# ${FOLDER}/${name}${secret}\n${text}---\n`;
  });
  return `${files.join('')}${flags(place, '# ')}`;
}

/** To be called before a token is made: one that cannot be written is of no use. */
export function prepareFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const draft = draftOf(join(folder, 'token-review.yaml'));
    writeFileSync(draft, '', { mode: MODE, flag: 'wx' });
    rmSync(draft);
  } catch (error) {
    throw unwritable(folder, error);
  }
}

/** Writes the files; returns what is left to be done. */
export function writeServerConfig(folder: string, place: ServerPlace): string {
  const files = filesOf(place);
  for (const [name, text] of Object.entries(files)) writeSecret(join(folder, name), text);
  const names = Object.keys(files).join(', ');
  return `# Wrote ${names} into ${folder}: copy them to ${FOLDER} on each node of the control plane.\n${flags(place, '')}`;
}

/**
 * A new file takes the place of one that was there: its owner, its readers and where it leads, if it is a link, may be
 * another user's choice.
 */
function writeSecret(path: string, text: string): void {
  const draft = draftOf(path);
  try {
    writeFileSync(draft, text, { mode: MODE, flag: 'wx' });
    chmodSync(draft, MODE);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw unwritable(path, error);
  }
}

function draftOf(path: string): string {
  return `${path}.${process.pid}.${Date.now()}`;
}

function unwritable(path: string, error: unknown) {
  return rejected(`cannot write ${path}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`);
}

function flags({ server, uid }: ServerPlace, before: string): string {
  return `# Flags of the API server. Remove --authorization-mode. Keep the audiences that are there: ISSUER is the value of
# --service-account-issuer.
${before}--authentication-token-webhook-config-file=${FOLDER}/token-review.yaml
${before}--authentication-token-webhook-version=v1
${before}--authentication-token-webhook-cache-ttl=0
${before}--authorization-config=${FOLDER}/authorization.yaml
${before}--api-audiences=ISSUER,${server}/clusters/${uid}`;
}

function filesOf(place: ServerPlace): Readonly<Record<string, string>> {
  return {
    'token-review.yaml': webhook(place, 'token-review'),
    'access-review.yaml': webhook(place, 'access-review'),
    'authorization.yaml': AUTHORIZATION,
  };
}

function webhook({ clusterId, server, token }: ServerPlace, call: string): string {
  return `apiVersion: v1
kind: Config
clusters:
  - name: atrium
    cluster:
      server: ${JSON.stringify(`${server}/api/v1/clusters/${clusterId}/${call}`)}
users:
  - name: api-server
    user:
      token: ${JSON.stringify(token)}
contexts:
  - name: atrium
    context: {cluster: atrium, user: api-server}
current-context: atrium
`;
}

const AUTHORIZATION = `apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
  - type: Node
    name: node
  - type: Webhook
    name: atrium
    webhook:
      timeout: 3s
      subjectAccessReviewVersion: v1
      matchConditionSubjectAccessReviewVersion: v1
      # While Atrium cannot be reached, RBAC of the cluster decides alone.
      failurePolicy: NoOpinion
      cacheAuthorizedRequests: false
      cacheUnauthorizedRequests: false
      authorizedTTL: 0s
      unauthorizedTTL: 0s
      connectionInfo:
        type: KubeConfigFile
        kubeConfigFile: ${FOLDER}/access-review.yaml
      matchConditions:
        - expression: "!request.user.startsWith('system:')"
  - type: RBAC
    name: rbac
`;
