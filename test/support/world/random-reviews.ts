import type { createRandom } from '../checks/random.ts';

const LEVELS = ['can_view', 'can_connect', 'can_edit', 'can_administer'];
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'update', 'patch', 'delete', 'deletecollection'];
const CORE_GROUPS = ['', 'apps', 'example.com', 'rbac.authorization.k8s.io', 'certificates.k8s.io'];
const SYSTEM = ['kube-system', 'kube-public', 'kube-node-lease', 'atrium-system'];

/** What a SubjectAccessReview is about. */
export interface Asked {
  verb: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
}

/** The contract once more, as plain conditions from its text, without the table: the least relation that is enough. */
function leastFor({ verb, group, resource, subresource, namespace }: Asked): string {
  const known = [...READ, ...WRITE].includes(verb);
  const isInside = namespace !== '' && resource !== 'namespaces';
  const isGuarded = /^(rbac\.authorization|admissionregistration|apiextensions|apiregistration|certificates)\.k8s\.io$/;
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  if (!known || [verb, group, resource, subresource].some((text) => text.includes('*'))) return 'can_administer';
  if (['serviceaccounts/token', 'bindings', 'pods/binding'].includes(full)) return 'can_administer';
  const ofEverything = ['status', 'scale'].includes(subresource);
  const ofPods = ['log', 'exec', 'attach', 'portforward', 'proxy', 'eviction', 'ephemeralcontainers', 'resize'];
  const ofCore = group === '' && ((resource === 'pods' && ofPods.includes(subresource)) || full === 'services/proxy');
  if (subresource !== '' && !ofEverything && !ofCore) return 'can_administer';
  if (resource === 'nodes' && subresource !== '' && subresource !== 'status') return 'can_administer';
  if (resource === 'namespaces' && subresource === 'scale') return 'can_administer';
  const isWrite = WRITE.includes(verb);
  if (isWrite && resource.startsWith('selfsubject') && verb === 'create' && !isInside) return 'can_view';
  if ((isGuarded.test(group) || ['nodes', 'namespaces'].includes(resource)) && isWrite) return 'can_administer';
  let least = 'can_edit';
  if (resource === 'secrets') least = 'can_edit';
  else if (subresource === '' && !isWrite) least = 'can_view';
  else if (ofEverything && verb === 'get') least = 'can_view';
  else if (full === 'pods/log' && verb === 'get') least = 'can_connect';
  else if (/^pods\/(exec|attach|portforward)$/.test(full) && ['get', 'create'].includes(verb)) least = 'can_connect';
  else if (full === 'services/proxy' && verb !== 'deletecollection') least = 'can_connect';
  if (!isInside && least === 'can_edit' && !(resource === 'secrets' && !isWrite)) return 'can_administer';
  if (['nodes', 'namespaces'].includes(resource) && least !== 'can_view') return 'can_administer';
  return SYSTEM.includes(namespace) && least !== 'can_view' ? 'can_administer' : least;
}

/** A random question, in which nothing is too strange to be asked. */
export function randomReview(random: ReturnType<typeof createRandom>): Asked {
  const asked: Asked = {
    verb: random.pick([...READ, ...READ, ...WRITE, 'impersonate', 'bind', '*', 'use']),
    group: random.pick(['', '', '', ...CORE_GROUPS]),
    resource: random.pick([
      'pods',
      'pods',
      'secrets',
      'services',
      'nodes',
      'namespaces',
      'serviceaccounts',
      'widgets',
      'bindings',
      '*',
    ]),
    subresource: random.pick([
      '',
      '',
      '',
      '',
      'status',
      'scale',
      'log',
      'exec',
      'proxy',
      'token',
      'binding',
      'eviction',
      'other',
    ]),
    namespace: random.pick(['', 'web', 'shop-eu', 'other', 'kube-system']),
    name: '',
  };
  if (asked.resource === 'namespaces') asked.name = asked.namespace;
  return asked;
}

/** The relations each of which is enough, and the namespace in which they must be held. */
export function leastRelations(asked: Asked): { readonly relations: readonly string[]; readonly namespace: string } {
  const { verb, resource, subresource, namespace, name } = asked;
  const isItself = resource === 'namespaces' && verb === 'get' && subresource === '' && name !== '';
  const least = isItself ? 'can_view' : leastFor(asked);
  const isInside = isItself || (namespace !== '' && resource !== 'namespaces' && verb !== 'impersonate');
  // Without a namespace, can_view may come from a role in one: a name that no role has tells.
  return { relations: LEVELS.slice(LEVELS.indexOf(least)), namespace: isInside ? namespace : 'nowhere-at-all' };
}
