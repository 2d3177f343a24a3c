import { isNamespace } from '../authz/places/namespaces.ts';
import {
  type KubernetesRelation,
  NEVER_IN_NAMESPACES,
  OPEN_PATH_VERBS,
  OPEN_PATHS,
  PROTECTED_NAMESPACES,
  VERB_TABLE,
  type VerbRow,
} from './verb-table.ts';

/** What a request is about, as an API server says it. What it leaves out is empty. */
export interface ResourceRequest {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export interface PathRequest {
  readonly verb: string;
  readonly path: string;
}

export interface Need {
  readonly relation: KubernetesRelation;
  /**
   * Where it must be held. `everywhere`: in the whole cluster, so that roles in namespaces do not count. `somewhere`: in
   * the cluster or in one of its namespaces.
   */
  readonly where: 'everywhere' | 'somewhere' | { readonly namespace: string };
}

/** With names like `__proto__` in requests, nothing but maps will do. */
type Rows = ReadonlyMap<string, readonly VerbRow[]>;

const ROWS: Rows = new Map(
  Map.groupBy(
    VERB_TABLE.flatMap((row) => row.resources.map((resource) => ({ row, resource }))),
    ({ resource }) => resource,
  )
    .entries()
    .map(([resource, found]) => [resource, found.map(({ row }) => row)]),
);
const ORDER = new Map(VERB_TABLE.map((row, place) => [row, place]));
const PROTECTED: ReadonlySet<string> = new Set(PROTECTED_NAMESPACES);
const SELF_REVIEWS: ReadonlySet<string> = new Set([
  'selfsubjectaccessreviews',
  'selfsubjectrulesreviews',
  'selfsubjectreviews',
]);
const STRANGE = /\.\.|\/\/|%/;

export function neededForPath({ verb, path }: PathRequest): Need {
  const isNamed = OPEN_PATHS.some((open) => path === open || path.startsWith(`${open}/`));
  const isOpen = isNamed && (OPEN_PATH_VERBS as readonly string[]).includes(verb) && !STRANGE.test(path);
  return isOpen ? { relation: 'can_view', where: 'somewhere' } : { relation: 'can_administer', where: 'everywhere' };
}

export function neededForResource(request: ResourceRequest): Need {
  const { resource, subresource, verb, namespace } = request;
  // An API server sends the namespace of a namespace that is named, although it is in none.
  const isNamespaceItself = resource === 'namespaces';
  const isInside = namespace !== '' && !isNamespaceItself;
  const row = isWild(request) ? undefined : rowFor(request, isInside);
  if (isNamespaceItself) {
    const isNamed = verb === 'get' && subresource === '' && isNamespace(request.name);
    const isItself = isNamed && (namespace === '' || namespace === request.name);
    if (isItself) return { relation: 'can_view', where: { namespace: request.name } };
    return { relation: row?.relation ?? 'can_administer', where: 'everywhere' };
  }
  if (row?.relation === 'can_view' && verb === 'create' && SELF_REVIEWS.has(resource)) {
    return { relation: 'can_view', where: 'somewhere' };
  }
  const isProtected = row !== undefined && row.relation !== 'can_view' && PROTECTED.has(namespace);
  const relation = row === undefined || isProtected ? 'can_administer' : row.relation;
  const isNever = (NEVER_IN_NAMESPACES.verbs as readonly string[]).includes(verb);
  // What cannot be the name of a namespace is in none that a role could name.
  const isThere = isInside && !isNever && isNamespace(namespace);
  return { relation, where: isThere ? { namespace } : 'everywhere' };
}

/** An asterisk anywhere is more than one thing, and only users who may do everything may do that. */
function isWild({ verb, group, resource, subresource, namespace }: ResourceRequest): boolean {
  return [verb, group, resource, subresource, namespace].some((text) => text.includes('*'));
}

function rowFor({ verb, group, resource, subresource }: ResourceRequest, isInside: boolean): VerbRow | undefined {
  if (resource === '') return undefined;
  const place = isInside ? 'in a namespace' : 'cluster-wide';
  const names =
    subresource === '' ? [resource, '*'] : [`${resource}/${subresource}`, `${resource}/*`, `*/${subresource}`];
  let found: VerbRow | undefined;
  for (const name of names) {
    for (const row of ROWS.get(name) ?? []) {
      const isIt =
        row.verbs.includes(verb) &&
        (row.groups === undefined || row.groups.includes(group)) &&
        (row.where === undefined || row.where === place);
      if (isIt && (found === undefined || (ORDER.get(row) ?? 0) < (ORDER.get(found) ?? 0))) found = row;
    }
  }
  return found;
}
