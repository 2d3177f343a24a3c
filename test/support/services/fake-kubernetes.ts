import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface KubeRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

export interface KubeObject {
  readonly kind?: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    resourceVersion?: string;
    uid?: string;
  };
  rules?: KubeRule[];
  subjects?: { name: string }[];
  roleRef?: { name: string; kind: string; apiGroup: string };
  data?: Record<string, string>;
}

interface Resource {
  readonly group: string;
  readonly name: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

const READ = ['get', 'list', 'watch'];
const ALL = [...READ, 'create', 'update', 'patch', 'delete', 'deletecollection'];
const RBAC = 'rbac.authorization.k8s.io';
const EVERYTHING: readonly KubeRule[] = [{ apiGroups: ['*'], resources: ['*'], nonResourceURLs: ['*'], verbs: ['*'] }];

const RESOURCES: readonly Resource[] = [
  { group: '', name: 'namespaces', namespaced: false, verbs: ALL },
  { group: '', name: 'nodes', namespaced: false, verbs: ALL },
  { group: '', name: 'pods', namespaced: true, verbs: ALL },
  { group: '', name: 'pods/log', namespaced: true, verbs: ['get'] },
  { group: '', name: 'pods/exec', namespaced: true, verbs: ['create', 'get'] },
  { group: '', name: 'pods/eviction', namespaced: true, verbs: ['create'] },
  { group: '', name: 'secrets', namespaced: true, verbs: ALL },
  { group: '', name: 'configmaps', namespaced: true, verbs: ALL },
  { group: '', name: 'serviceaccounts/token', namespaced: true, verbs: ['create'] },
  { group: 'apps', name: 'deployments', namespaced: true, verbs: ALL },
  { group: 'apps', name: 'deployments/scale', namespaced: true, verbs: ['get', 'patch', 'update'] },
  { group: RBAC, name: 'clusterroles', namespaced: false, verbs: ALL },
  { group: RBAC, name: 'clusterrolebindings', namespaced: false, verbs: ALL },
  { group: RBAC, name: 'rolebindings', namespaced: true, verbs: ALL },
  { group: 'apiextensions.k8s.io', name: 'customresourcedefinitions', namespaced: false, verbs: ALL },
];

export type FakeKubernetes = Awaited<ReturnType<typeof startFakeKubernetes>>;

/**
 * An API server as far as an agent needs one: discovery, namespaces, RBAC, ConfigMaps, watches. It obeys RBAC: the agent
 * may do what `rules` say, and `escalate` and `bind` are asked for as the real one does.
 */
export async function startFakeKubernetes(rules: readonly KubeRule[] = EVERYTHING) {
  const objects = new Map<string, KubeObject>();
  const resources = [...RESOURCES];
  const watches = new Map<string, Set<ServerResponse>>();
  const rejected: string[] = [];
  const requests: string[] = [];
  let version = 1;
  let allowed = rules;
  let isUp = true;
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const name of ['default', 'kube-system', 'atrium-system']) put(`/api/v1/namespaces/${name}`, object(name));
  return {
    url,
    objects,
    /** Requests that RBAC did not allow. */
    rejected,
    requests,
    put,
    remove,
    addResource: (one: Resource) => void resources.push(one),
    /** What the agent may do from now on. */
    allow: (next: readonly KubeRule[]) => {
      allowed = next;
    },
    setUp: (next: boolean) => {
      isUp = next;
    },
    binding: (path: string) => objects.get(`/apis/${RBAC}/v1/${path}`),
    /** Ends all watches, as a restart does. */
    cut: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };

  function object(name: string): KubeObject {
    return { metadata: { name } };
  }

  function put(path: string, value: KubeObject): KubeObject {
    const isNew = !objects.has(path);
    const uid = objects.get(path)?.metadata.uid ?? `uid-${version}`;
    const stored = { ...value, metadata: { ...value.metadata, uid, resourceVersion: String(++version) } };
    objects.set(path, stored);
    tell(path, isNew ? 'ADDED' : 'MODIFIED', stored);
    return stored;
  }

  function remove(path: string): boolean {
    const known = objects.get(path);
    if (known === undefined) return false;
    objects.delete(path);
    tell(path, 'DELETED', known);
    return true;
  }

  function tell(path: string, type: string, about: KubeObject): void {
    const list = path.slice(0, path.lastIndexOf('/')).replace(/\/namespaces\/[^/]+\/(?=[^/]+$)/, '/');
    for (const response of watches.get(list) ?? []) response.write(`${JSON.stringify({ type, object: about })}\n`);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const path = decodeURIComponent(pathname);
    const method = request.method ?? '';
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = parts.length > 0 ? (JSON.parse(Buffer.concat(parts).toString()) as KubeObject) : undefined;
    requests.push(`${method} ${path}`);
    const send = (status: number, value: object): void => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
    };
    const fail = (status: number, message: string) => send(status, { kind: 'Status', message });
    if (!isUp) return fail(503, 'the server is starting');
    if (request.headers.authorization !== 'Bearer kube-token') return fail(401, 'Unauthorized');
    if (path === '/version') return send(200, { gitVersion: 'v1.36.3' });
    const discovered = discovery(path);
    if (discovered !== undefined) return send(200, discovered);
    const place = placeOf(path);
    if (place === undefined) return fail(404, 'the server could not find the requested resource');
    const isWatch = searchParams.get('watch') === '1';
    const verb = verbOf(method, place.name, isWatch);
    const may = (asked: string, resource = place.resource, name = place.name, group = place.group) => {
      const isAllowed = allowed.some(
        (rule) =>
          has(rule.apiGroups, group) &&
          has(rule.resources, resource) &&
          has(rule.verbs, asked) &&
          (rule.resourceNames === undefined || rule.resourceNames.includes(name)),
      );
      if (!isAllowed) rejected.push(`${asked} ${resource} ${name}`);
      return isAllowed;
    };
    if (!may(verb)) return fail(403, `agent cannot ${verb} ${place.resource}`);
    if (isWatch) return watch(path, response);
    if (verb === 'list') return send(200, list(path, place.resource));
    const known = objects.get(place.name === '' ? `${path}/${body?.metadata.name}` : path);
    if (method === 'GET') return known ? send(200, known) : fail(404, `${path} not found`);
    if (method === 'DELETE') return remove(path) ? send(200, { kind: 'Status' }) : fail(404, `${path} not found`);
    if (body === undefined) return fail(400, 'a body is required');
    // As the real one: rights that the writer does not have need escalate, and a role needs bind.
    const isRole = place.resource === 'clusterroles' && (body.rules?.length ?? 0) > 0;
    if (isRole && !may('escalate')) return fail(403, 'attempting to grant RBAC permissions not currently held');
    const role = body.roleRef?.name;
    if (role !== undefined && !may('bind', 'clusterroles', role, RBAC)) return fail(403, `cannot bind ${role}`);
    if (method === 'POST') {
      if (known) return fail(409, `${path} already exists`);
      return send(201, put(`${path}/${body.metadata.name}`, body));
    }
    if (known === undefined) return fail(404, `${path} not found`);
    const { resourceVersion } = body.metadata;
    if (resourceVersion !== undefined && resourceVersion !== known.metadata.resourceVersion) {
      return fail(409, 'the object has been modified');
    }
    if (role !== undefined && role !== known.roleRef?.name) return fail(422, 'cannot change roleRef');
    return send(200, put(path, body));
  }

  function watch(path: string, response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.flushHeaders();
    const open = watches.get(path) ?? new Set();
    watches.set(path, open.add(response));
    response.once('close', () => open.delete(response));
  }

  function list(path: string, resource: string): object {
    const items = [...objects].filter(([one]) => {
      const inNamespace = one.replace(/\/namespaces\/[^/]+\/(?=[^/]+\/[^/]+$)/, '/');
      return inNamespace.startsWith(`${path}/`) && !inNamespace.slice(path.length + 1).includes('/');
    });
    const nodes = resource === 'nodes' ? [object('node-1')] : [];
    const metadata = { resourceVersion: String(version), ...(resource === 'nodes' && { remainingItemCount: 2 }) };
    return { metadata, items: [...nodes, ...items.map(([, one]) => one)] };
  }

  function discovery(path: string): object | undefined {
    const groups = [...new Set(resources.map(({ group }) => group))].filter((group) => group !== '');
    if (path === '/apis') {
      return { groups: groups.map((name) => ({ name, versions: [{ groupVersion: `${name}/v1` }] })) };
    }
    const group = path === '/api/v1' ? '' : groups.find((name) => path === `/apis/${name}/v1`);
    if (group === undefined) return undefined;
    return { resources: resources.filter((one) => one.group === group) };
  }
}

function has(list: readonly string[] | undefined, text: string): boolean {
  return list?.some((one) => one === '*' || one === text) ?? false;
}

function verbOf(method: string, name: string, isWatch: boolean): string {
  if (method === 'GET') return isWatch ? 'watch' : name === '' ? 'list' : 'get';
  return { POST: 'create', PUT: 'update', DELETE: 'delete' }[method] ?? method.toLowerCase();
}

function placeOf(path: string): { group: string; resource: string; name: string } | undefined {
  const [, group = '', rest = ''] = /^\/(?:api|apis\/([^/]+))\/v1\/(.+)$/.exec(path) ?? [];
  if (rest === '') return undefined;
  const [first = '', second, third, fourth] = rest.split('/');
  if (first === 'namespaces' && third !== undefined) return { group, resource: third, name: fourth ?? '' };
  return { group, resource: first, name: second ?? '' };
}
