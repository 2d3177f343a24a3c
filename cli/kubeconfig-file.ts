import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { rejected } from './failure.ts';

/** The file that kubectl changes: the first one of KUBECONFIG. */
export function kubeconfigPath(env: NodeJS.ProcessEnv): string {
  const [first] = (env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  return first ?? join(env.HOME || homedir(), '.kube', 'config');
}

interface Kubeconfig {
  readonly clusters: readonly { readonly name: string; readonly cluster: { readonly server: string } }[];
}

/**
 * Adds the cluster, the user and the context of a kubeconfig to a file; the rest of the file stays as it is, comments
 * included. An entry of the same name for another server is not overwritten: it is a cluster of another Atrium.
 */
export async function mergeKubeconfig(path: string, text: string): Promise<string> {
  const { isMap, isSeq, parse, parseDocument } = await import('yaml');
  const added = parse(text) as Kubeconfig & Record<string, { name: string }[]> & { 'current-context': string };
  const document = parseDocument(existsSync(path) ? readFileSync(path, 'utf8') : '');
  if (document.errors.length > 0 || (document.contents !== null && !isMap(document.contents))) {
    throw rejected(`${path} is not a valid kubeconfig; fix it, or print the entry with --print`);
  }
  if (document.contents === null)
    document.contents = document.createNode({ apiVersion: 'v1', kind: 'Config' }) as never;
  const present = (document.toJS() ?? {}) as Partial<Kubeconfig>;
  const [cluster] = added.clusters;
  const same = present.clusters?.find(({ name }) => name === cluster?.name);
  if (same && same.cluster.server !== cluster?.cluster.server) {
    const advice = `delete it with kubectl config delete-cluster ${same.name} if it is not needed`;
    throw rejected(`${path} has a cluster ${same.name} at ${same.cluster.server} already; ${advice}`);
  }
  for (const key of ['clusters', 'users', 'contexts']) {
    const list = document.get(key);
    const items = isSeq(list) ? list : document.createNode([]);
    if (!isSeq(list)) document.set(key, items);
    for (const entry of added[key] ?? []) {
      const at = items.items.findIndex((one) => isMap(one) && one.get('name') === entry.name);
      if (at === -1) items.add(document.createNode(entry));
      else items.set(at, document.createNode(entry));
    }
  }
  if (!document.get('current-context')) document.set('current-context', added['current-context']);
  writeWhole(path, document.toString({ lineWidth: 0 }));
  return added['current-context'];
}

/** Completely or not at all. Kubeconfigs can have secrets of other clusters, so only their owner can read them. */
function writeWhole(named: string, text: string): void {
  const path = existsSync(named) ? realpathSync(named) : named;
  const draft = `${path}.${process.pid}.${Date.now()}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw rejected(`cannot write ${path}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`);
  }
}
