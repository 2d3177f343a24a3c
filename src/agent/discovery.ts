import type { Discovered } from './cluster-roles.ts';
import { type KubeAnswer, type KubeApi, mustBe } from './kube-api.client.ts';

interface GroupVersions {
  readonly name: string;
  readonly versions: readonly { readonly groupVersion: string }[];
}

/** What the API server has, also in versions that it does not prefer. */
export function createDiscovery(kube: Pick<KubeApi, 'call'>) {
  const known = new Map<string, readonly Discovered[]>();
  return { read };

  async function read(): Promise<readonly Discovered[]> {
    const { groups } = mustBe(await kube.call('GET', '/apis'), 'reading what the API server has') as {
      groups: readonly GroupVersions[];
    };
    const places = [
      { group: '', path: '/api/v1' },
      ...groups.flatMap(({ name, versions }) =>
        versions.map(({ groupVersion }) => ({ group: name, path: `/apis/${groupVersion}` })),
      ),
    ];
    for (const path of [...known.keys()]) if (!places.some((one) => one.path === path)) known.delete(path);
    for (const { group, path } of places) {
      const answer = await kube.call('GET', path);
      // An aggregated API that is down still has what it had.
      if (answer.status === 200) known.set(path, resourcesOf(group, answer.body));
    }
    return [...known.values()].flat();
  }
}

function resourcesOf(group: string, body: KubeAnswer['body']): readonly Discovered[] {
  const resources = Array.isArray(body?.resources) ? body.resources : [];
  return resources.flatMap((one: { name?: unknown; namespaced?: unknown; verbs?: unknown }) =>
    typeof one.name === 'string' && Array.isArray(one.verbs) && !one.name.includes('*')
      ? [{ group, name: one.name, isNamespaced: one.namespaced === true, verbs: one.verbs.map(String) }]
      : [],
  );
}
