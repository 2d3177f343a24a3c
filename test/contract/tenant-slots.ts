import { ROUTES } from './routes/table.ts';

/**
 * Every place in which a request of a signed-in user can name something, by method and path below /api/v1: parameters of
 * the path, of the query (`?name`) and fields of the body (`.name`, `.list[]`). A word behind the colon says what the
 * place names; without one, it is the meaning that the name has in MEANINGS, or any text.
 */
export const TENANT_SLOTS: Readonly<Record<string, string>> = withFields(
  Object.fromEntries(
    Object.entries(ROUTES).flatMap(([route, { names = '' }]) =>
      names === '' ? [] : [[route.replace(' /api/v1/', ' /'), names]],
    ),
  ),
);

/** What a place names, by the last word of its name. Everything else is any text. */
const MEANINGS: Readonly<Record<string, string>> = {
  org: 'organization',
  objectType: 'objectType',
  objID: 'cluster',
  objectID: 'cluster',
  relation: 'relation',
  user: 'person',
  username: 'person',
  actor: 'person',
  user_name: 'person',
  hubClusterOwnerName: 'person',
  role: 'role',
  team: 'team',
  teamIDs: 'team',
  token: 'token',
  email: 'email',
  emails: 'email',
  credName: 'credential',
  credential: 'credential',
  cluster: 'uid',
  clusters: 'uid',
  cluster_uid: 'uid',
  uid: 'uid',
  hubClusterUID: 'uid',
  hubClusterName: 'clusterName',
  managerID: 'cluster',
  object: 'object',
  cursor: 'cursor',
};

export function meaningOf(slot: string): { readonly slot: string; readonly meaning: string } {
  const [place = '', said] = slot.split(':');
  return { slot: place, meaning: said ?? MEANINGS[place.replace(/^.*[.?]/, '').replace('[]', '')] ?? 'text' };
}

/** The same fields in several routes. */
function withFields(table: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const fields: Readonly<Record<string, string>> = {
    PAGE: '?page ?limit',
    ROLE: '.name .description .permissions[].namespace .permissions[].action .teamIDs[]',
    ASSIGNMENT: [
      '.role.id:role .role.name .to.type:text .to.id:team .to.name:teamName .on.type:objectType .on.id:cluster',
      '.on.name:clusterName .namespaces[]:text .reason .expires_at',
    ].join(' '),
    RULE: [
      '[].name [].match.relations[]:relation [].match.objects[].type:objectType [].match.objects[].id:cluster',
      '[].match.objects[].name:clusterName [].match.cluster_sets[]:text [].match.roles[]:text [].match.requesters:text',
      '[].longest [].approvals [].approvers [].allow [].break_glass',
    ].join(' '),
    REQUESTED: [
      '.relation .object.type:objectType .object.id:cluster .object.name:clusterName .namespaces[]:text .for .until',
      '.reason .remedy .break_glass',
    ].join(' '),
    GUARDRAIL: [
      '.name .description .enforce',
      ...['never', 'always'].map(
        (kind) => `.${kind}.users[]:person .${kind}.robots[]:text .${kind}.team ${guarded(kind)}`,
      ),
      ...['at_least', 'at_most'].map((kind) => `.${kind}.count ${guarded(kind)}`),
    ].join(' '),
    ORGANIZATION: '.full_name .description .website .location .visibility',
    TOKEN: [
      '.name .scopes[] .expires_at .can_rotate .delegated .limits.organizations[]:organization .limits.objects[].type:objectType',
      '.limits.objects[].id:cluster',
    ].join(' '),
    TRUST: [
      '.name .issuer .audience .jwks.keys[] .claims .scopes[] .lifetime .single_use .limits.organizations[]:organization',
      '.limits.objects[].type:objectType .limits.objects[].id:cluster',
    ].join(' '),
    WEBHOOK: '.name .url .types[] .format .active .secret:secret',
    TEAM: '.name .description .permission .units[]',
    CLUSTERS: '?name:clusterName ?q:clusterName ?phase ?attention ?provider ?sort ?order',
    CLUSTER: [
      '.name .uid .displayName .managerID .externalID .provider .vendor .orchestratorVersion .nodeCount .endpoint',
      '.location .project .infraNamespace .hubClusterName .hubClusterUID .hubClusterOwnerName .clusterSetName',
      '.clusterManagers[] .isMonitoringCluster .caBundle .kubernetes.auth .kubernetes.username .kubernetes.prefix',
    ].join(' '),
    CONTRACT: '.name .product .features[] .clusters[] .start .end .quota',
    BUCKET_QUERY: '?credential ?cloudC_project ?cluster_uid ?secret_namespace ?secret_name ?provider',
    BUCKET: '.credential .cloudC_project .cluster_uid .secret_namespace .secret_name .provider',
    CHART: [
      'name namespace releaseName version values sourceRef.apiGroup sourceRef.kind sourceRef.name sourceRef.namespace',
      'sourceRef.url valuesPatch[].from valuesPatch[].op valuesPatch[].path valuesPatch[].value',
    ]
      .join(' ')
      .replace(/\S+/g, '.spec.items[].chart.$&'),
    AUDIT: '?actor ?action ?object ?since ?until',
  };
  const expand = (line: string) => line.replace(/\b[A-Z_]+\b/g, (word) => fields[word] ?? word);
  return Object.fromEntries(Object.entries(table).map(([route, line]) => [route, expand(line)]));
}

function guarded(kind: string): string {
  const object = `.${kind}.object`;
  return `.${kind}.relation ${object}.type:objectType ${object}.id:cluster ${object}.name:clusterName`;
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** All places of a route, from what it declares. */
export function placesOf(route: {
  readonly path: string;
  readonly schema: { readonly querystring?: object; readonly body?: object };
}): string[] {
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
  const query = Object.keys((route.schema.querystring as Schema | undefined)?.properties ?? {}).map(
    (name) => `?${name}`,
  );
  return [...inPath, ...query, ...(route.schema.body ? leavesOf(route.schema.body as Schema, '') : [])];
}

function leavesOf(schema: Schema, at: string): string[] {
  const { properties = {}, items } = schema;
  const names = Object.keys(properties);
  if (names.length > 0) return names.flatMap((name) => leavesOf(properties[name] ?? {}, `${at}.${name}`));
  return items ? leavesOf(items, `${at}[]`) : [at];
}
