import type { KubeAnswer, KubeApi } from './kube-api.client.ts';
import { mustBe } from './kube-api.client.ts';
import { bindingName, LABEL, RBAC, ROLES, type RoleName, type Rule, type WantedBinding } from './rbac.ts';

export interface Repaired {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** What could not be done. */
  readonly failures: readonly string[];
}

export interface Wanted {
  /** Undefined: what the roles contain is not known now, so they stay as they are. */
  readonly roles: ReadonlyMap<RoleName, readonly Rule[]> | undefined;
  readonly bindings: readonly WantedBinding[];
}

type Found = KubeAnswer['body'];

const BASE = `/apis/${RBAC}/v1`;
const PAGE = 500;
const OUR_BINDINGS: ReadonlySet<string> = new Set(ROLES.map(bindingName));
const labels = { [LABEL.name]: LABEL.value };

/**
 * Makes the roles and bindings of the agent what they should be.
 *
 * 1. An object is ours by its name or by our label, and nothing else is touched.
 * 2. One of our names without our label, or with another role, is replaced.
 * 3. What is to be taken away is taken away first, and a failure with one object does not keep the others.
 */
export function createRepair(kube: Pick<KubeApi, 'call'>) {
  return { repair };

  async function repair({ roles, bindings }: Wanted): Promise<Repaired> {
    const done = { created: 0, updated: 0, deleted: 0, failures: [] as string[] };
    const wanted = new Map(bindings.map((one) => [pathOf(one), one]));
    const found = await ours();
    for (const [path, one] of found) {
      const due = wanted.get(path);
      if (due === undefined || !isReplaceable(one, due)) await attempt(() => remove(path, one));
    }
    for (const [role, rules] of roles ?? []) await attempt(() => writeRole(role, rules));
    for (const [path, due] of wanted) await attempt(() => writeBinding(path, due, found.get(path)));
    return done;

    async function attempt(work: () => Promise<'created' | 'updated' | 'deleted' | 'nothing'>): Promise<void> {
      try {
        const what = await work();
        if (what !== 'nothing') done[what]++;
      } catch (error) {
        done.failures.push(error instanceof Error ? error.message : String(error));
      }
    }
  }

  async function ours(): Promise<Map<string, Found>> {
    const found = new Map<string, Found>();
    for (const kind of ['clusterrolebindings', 'rolebindings']) {
      for (const one of await list(kind)) {
        const { name, namespace } = one.metadata;
        if (isOurs(one.metadata)) found.set(placeOf(namespace, name), one);
      }
    }
    return found;
  }

  async function list(kind: string): Promise<Found[]> {
    const items: Found[] = [];
    let next = '';
    do {
      const query = next === '' ? '' : `&continue=${encodeURIComponent(next)}`;
      const page = mustBe(await kube.call('GET', `${BASE}/${kind}?limit=${PAGE}${query}`), `listing ${kind}`);
      items.push(...(page.items ?? []));
      next = page.metadata?.continue ?? '';
    } while (next !== '');
    return items;
  }

  async function remove(path: string, { metadata }: Found) {
    const { uid, resourceVersion } = metadata;
    const preconditions = { uid, resourceVersion };
    const answer = await kube.call('DELETE', path, { kind: 'DeleteOptions', apiVersion: 'v1', preconditions });
    mustBe(answer, `deleting ${nameOf(path)}`, 404);
    return answer.status === 404 ? 'nothing' : 'deleted';
  }

  /** A role is created empty, which needs no `escalate`, because that cannot be limited to names of what does not exist. */
  async function writeRole(name: RoleName, rules: readonly Rule[]) {
    const path = `${BASE}/clusterroles/${encodeURIComponent(name)}`;
    const answer = await kube.call('GET', path);
    const known = mustBe(answer, `reading the role ${name}`, 404);
    const metadata = { name, labels };
    const body = { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata, rules };
    const isRight =
      isLabeled(known?.metadata) && known.aggregationRule === undefined && isSame(known.rules ?? [], rules);
    if (isRight) return 'nothing';
    if (known !== undefined) {
      const { resourceVersion } = known.metadata;
      const changed = { ...body, metadata: { ...metadata, resourceVersion } };
      mustBe(await kube.call('PUT', path, changed), `changing the role ${name}`);
      return 'updated';
    }
    const created = mustBe(
      await kube.call('POST', `${BASE}/clusterroles`, { ...body, rules: [] }),
      `creating the role ${name}`,
    );
    const { resourceVersion } = created.metadata;
    const filled = { ...body, metadata: { ...metadata, resourceVersion } };
    mustBe(await kube.call('PUT', path, filled), `filling the role ${name}`);
    return 'created';
  }

  async function writeBinding(path: string, due: WantedBinding, known: Found | undefined) {
    const { role, namespace, users } = due;
    const metadata = { name: bindingName(role), labels, ...(namespace !== undefined && { namespace }) };
    const body = {
      apiVersion: `${RBAC}/v1`,
      kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
      metadata,
      subjects: users.map((name) => ({ kind: 'User', apiGroup: RBAC, name })),
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    };
    if (known !== undefined && isReplaceable(known, due)) {
      if (isSame(known.subjects ?? [], body.subjects)) return 'nothing';
      const { resourceVersion } = known.metadata;
      const changed = { ...body, metadata: { ...metadata, resourceVersion } };
      mustBe(await kube.call('PUT', path, changed), `changing ${nameOf(path)}`);
      return 'updated';
    }
    const parent = path.slice(0, path.lastIndexOf('/'));
    mustBe(await kube.call('POST', parent, body), `creating ${nameOf(path)}`);
    return 'created';
  }
}

/** Whether only its users may differ: the role of a binding cannot be changed. */
function isReplaceable({ metadata, roleRef }: Found, { role }: WantedBinding): boolean {
  return isLabeled(metadata) && roleRef?.kind === 'ClusterRole' && roleRef.name === role;
}

function isOurs(metadata: Found): boolean {
  return OUR_BINDINGS.has(metadata.name) || isLabeled(metadata);
}

function isLabeled(metadata: Found): boolean {
  return metadata?.labels?.[LABEL.name] === LABEL.value;
}

const pathOf = ({ role, namespace }: WantedBinding) => placeOf(namespace, bindingName(role));

function placeOf(namespace: string | undefined, name: string): string {
  const last = encodeURIComponent(name);
  return namespace === undefined
    ? `${BASE}/clusterrolebindings/${last}`
    : `${BASE}/namespaces/${namespace}/rolebindings/${last}`;
}

function nameOf(path: string): string {
  return decodeURIComponent(path.slice(BASE.length + 1));
}

/** As the API server shows them: empty members are left out. */
function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(
          Object.keys(inner)
            .sort()
            .map((key) => [key, inner[key]]),
        )
      : inner,
  );
}

/** Whether an event of a watch may be about something of ours. */
export function concernsUs(event: Found): boolean {
  const metadata = event?.object?.metadata;
  return metadata !== undefined && (isOurs(metadata) || (ROLES as readonly string[]).includes(metadata.name));
}
