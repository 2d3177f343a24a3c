import { ROBOT_SLOTS } from './robot-slots.ts';
import { WEBHOOK_SLOTS } from './webhook-slots.ts';

/**
 * Every place in which a request of a signed-in user can name something: parameters of the path, of the query (`?name`)
 * and fields of the body (`.name`, `.list[]`). A word behind the colon says what the place names; without one, it is
 * the meaning that the name has in MEANINGS, or any text.
 */
export const TENANT_SLOTS: Readonly<Record<string, string>> = withFields({
  'POST /authz/check':
    '?org .checks[].user .checks[].relation .checks[].object.type:objectType .checks[].object.id:cluster .checks[].object.name:clusterName .checks[].namespace:text',
  'GET /authz/forward': '?org ?relation ?object:text ?namespace:text',
  'GET /authz/assignments': '?org PAGE ?role ?to:text ?on:text ?expires_before:text',
  'POST /authz/assignments': '?org ASSIGNMENT',
  'GET /authz/assignments/:id': 'id:assignment ?org',
  'PATCH /authz/assignments/:id': 'id:assignment ?org ASSIGNMENT',
  'DELETE /authz/assignments/:id': 'id:assignment ?org',
  'GET /authz/requests': '?org PAGE ?state:text ?by:text ?for_me',
  'POST /authz/requests': '?org REQUESTED',
  'GET /authz/requests/:id': 'id:text ?org',
  'POST /authz/requests/:id/approve': 'id:text ?org .digest .comment',
  'POST /authz/requests/:id/deny': 'id:text ?org .comment',
  'POST /authz/requests/:id/cancel': 'id:text ?org',
  'POST /authz/requests/:id/end': 'id:text ?org',
  'POST /authz/requests/:id/acknowledge': 'id:text ?org',
  'GET /orgs/:org/request_rules': 'org',
  'PUT /orgs/:org/request_rules': 'org RULE',
  'GET /user/requests': 'PAGE ?state:text ?for_me',
  'GET /authz/guardrails': '?org',
  'POST /authz/guardrails': '?org ?dry_run GUARDRAIL',
  'GET /authz/guardrails/:id': 'id:guardrail ?org',
  'PUT /authz/guardrails/:id': 'id:guardrail ?org ?dry_run GUARDRAIL',
  'DELETE /authz/guardrails/:id': 'id:guardrail ?org',
  'GET /authz/reviews': '?org ?state PAGE',
  'POST /authz/reviews': [
    '?org .name .question.kind .question.relation .question.object.type:objectType .question.object.id:cluster',
    '.question.object.name:clusterName .question.team.id:team .question.team.name:teamName .question.days',
    '.question.namespace .reviewers[]:person',
    '.due_at .undecided',
  ].join(' '),
  'GET /authz/reviews/:id': 'id:review ?org ?state PAGE',
  'GET /authz/reviews/:id/items/:item': 'id:review item:reviewItem ?org',
  'POST /authz/reviews/:id/items/:item/keep': 'id:review item:reviewItem ?org .comment',
  'POST /authz/reviews/:id/items/:item/end': 'id:review item:reviewItem ?org .comment',
  'POST /authz/reviews/:id/close': 'id:review ?org PAGE',
  'GET /authz/reviews/:id/record': 'id:review ?org',
  'GET /authz/reviews/:id/csv': 'id:review ?org',
  'GET /authz/unused': '?org ?days ?kind PAGE',
  'GET /authz/objects/:objectType/:objID/allowed-permissions': 'objectType objID ?org ?namespace:text',
  'POST /authz/objects/allowed-permissions': '?org [].objectType [].objectID [].namespace:text',
  'GET /authz/objects/:objectType/:objID/explain':
    'objectType objID ?org ?relation ?user ?paths ?remedies ?namespace:text ?at',
  'GET /authz/objects/:objectType/:objID/principals':
    'objectType objID ?org PAGE ?relation ?also:relation ?reason ?namespace:text ?at',
  'GET /authz/objects/:objectType': 'objectType ?org PAGE ?relation ?user',
  'GET /authz/users/:username/access': 'username ?org ?type:objectType PAGE ?at',
  'POST /authz/matrix':
    '?org ?format ?at .type:objectType .ids[]:cluster .all .users[]:person .robots .team:team .relations[]:relation .differences',
  'GET /authz/roles/available_permissions': '?org',
  'GET /authz/changes': '?org ?since ?limit',
  'GET /authz/roles': '?org ?at',
  'POST /authz/roles': '?org ROLE',
  'GET /authz/roles/:id': 'id:role ?org ?at',
  'PUT /authz/roles/:id': 'id:role ?org ROLE',
  'DELETE /authz/roles/:id': 'id:role ?org',
  'GET /authz/roles/:id/principals': 'id:role ?org',
  'POST /authz/preview': [
    '?org .changes[].action .changes[].id:team .changes[].team:team .changes[].username .changes[].orphan',
    '.changes[].document .changes[].prune .changes[].role.name .changes[].role.description',
    '.changes[].role.permissions[].namespace .changes[].role.permissions[].action .changes[].role.teamIDs[]',
    '.changes[].role.teams[]:team .changes[].role.id:role .changes[].to.type:text .changes[].to.id:team',
    '.changes[].to.name:teamName .changes[].on.type:objectType .changes[].on.id:cluster .changes[].on.name:clusterName',
    '.changes[].cluster.clusterSetName .changes[].cluster.kubernetes.auth .changes[].namespaces[]:text',
    '.changes[].expires_at .at .objects',
  ].join(' '),
  'POST /authz/roles/preview': '?org ROLE .id:role .delete',
  'GET /orgs/:org/file': 'org ?sections ?at ?ids ?format',
  'POST /orgs/:org/plan': 'org :document',
  'PUT /orgs/:org/file': 'org ?dry_run :document',
  'GET /authz/roles/export': '?org ?format ?at',
  'PUT /authz/roles/import': '?org ?dry_run ?prune :document',
  'GET /teams/:id/roles': 'id:team',
  'PUT /teams/:id/roles/:role': 'id:team role .expires_at',
  'DELETE /teams/:id/roles/:role': 'id:team role',
  'GET /user': '?check_client_org',
  'GET /user/context': '?org ?object',
  'GET /events': '?org ?last_event_id:text ?follow',
  'GET /search': '?q:clusterName ?org ?types:text',
  'PATCH /user': '.full_name .language .location .website .description',
  'PUT /user/password': '.current:secret .new:secret',
  'POST /user/signin': '.username .password:secret .token:secret .remember',
  'POST /user/signin/factor':
    '.code:secret .recovery_code:secret .passkey.id:secret .passkey.response.clientDataJSON:secret .passkey.response.authenticatorData:secret .passkey.response.signature:secret .passkey.response.userHandle:secret',
  'POST /user/signin/passkey/options': '.second_step',
  'POST /user/signin/passkey':
    '.passkey.id:secret .passkey.response.clientDataJSON:secret .passkey.response.authenticatorData:secret .passkey.response.signature:secret .passkey.response.userHandle:secret .remember',
  'POST /user/reauthenticate':
    '.password:secret .code:secret .passkey.id:secret .passkey.response.clientDataJSON:secret .passkey.response.authenticatorData:secret .passkey.response.signature:secret .passkey.response.userHandle:secret',
  'POST /user/factors/passkeys':
    '.name .response.clientDataJSON:secret .response.attestationObject:secret .response.transports[]',
  'PATCH /user/factors/passkeys/:id': 'id:passkey .name',
  'DELETE /user/factors/passkeys/:id': 'id:passkey',
  'PUT /user/factors/totp': '.enrollment:secret .code:secret',
  'GET /orgs/:org/second_factor': 'org',
  'PUT /orgs/:org/second_factor': 'org .required',
  'GET /orgs/:org/second_factor/members': 'org ?missing PAGE',
  'GET /admin/factors': '?missing PAGE',
  'GET /admin/users/:username/factors': 'username',
  'DELETE /admin/users/:username/factors': 'username',
  'POST /user/emails': '.emails[]',
  'DELETE /user/emails': '.emails[]',
  'GET /user/emails/confirm': '?key:secret',
  'GET /user/followers': 'PAGE',
  'GET /user/following': 'PAGE',
  'GET /user/following/:username': 'username',
  'PUT /user/following/:username': 'username',
  'DELETE /user/following/:username': 'username',
  'POST /user/validate/username': '?user_name',
  'POST /user/validate/orgname': '?user_name ?org',
  'POST /user/validate/email': '?email',
  'GET /users/search': '?q:person ?uid:text PAGE',
  'GET /users/:username/followers': 'username PAGE',
  'GET /users/:username/following': 'username PAGE',
  'GET /users/:username/following/:target': 'username target:person',
  'GET /users/:username/orgs': 'username PAGE',
  'GET /users/:username': 'username',
  'POST /admin/providers':
    '.name .display_name .issuer .client_id .client_secret:secret .scopes[] .allowed_domains[] .create_accounts .linking .trust_email .trust_second_factor .group_claim .group_mappings[].group .group_mappings[].organization:organization .group_mappings[].team:text .enabled .session_hours .session_idle_minutes .recheck_minutes .allow_remember',
  'GET /admin/providers/:provider': 'provider:text',
  'PATCH /admin/providers/:provider':
    'provider:text .display_name .issuer .client_id .client_secret:secret .scopes[] .allowed_domains[] .create_accounts .linking .trust_email .trust_second_factor .group_claim .group_mappings[].group .group_mappings[].organization:organization .group_mappings[].team:text .enabled .session_hours .session_idle_minutes .recheck_minutes .allow_remember',
  'DELETE /admin/providers/:provider': 'provider:text',
  'POST /admin/providers/:provider/preview': 'provider:text .groups[] .username',
  'POST /admin/providers/:provider/test': 'provider:text',
  'GET /admin/users/:username/linked_accounts': 'username',
  'DELETE /admin/users/:username/linked_accounts/:id': 'username id:text',
  'PUT /admin/users/:username/link_permission': 'username',
  'POST /admin/users/:username/password_link': 'username',
  'POST /user/password/forgot': '.email',
  'POST /user/password/reset': '.code:secret .password:secret',
  'POST /user/signup': '.email',
  'POST /user/signup/confirm': '.code:secret .username .password:secret .full_name',
  'POST /user/device': '.name .scopes[]',
  'POST /user/device/token': '.device_code:secret',
  'GET /user/device/:code': 'code:text',
  'POST /user/device/:code': 'code:text .approve',
  'POST /user/linked_accounts': '.provider:text',
  'DELETE /user/linked_accounts/:id': 'id:text',
  'GET /admin/users': '?q:person ?state PAGE',
  'GET /admin/users/:username/teams': 'username',
  'POST /admin/users': '.username .email .full_name .password:secret .admin .active .prohibit_login',
  'PATCH /admin/users/:username':
    'username .email .password:secret .full_name .language .location .website .description .admin .active .prohibit_login',
  'DELETE /admin/users/:username': 'username ?orphan ?erase',
  'GET /admin/holds': 'PAGE',
  'PUT /admin/users/:username/hold': 'username .reason',
  'DELETE /admin/users/:username/hold': 'username',
  'POST /admin/users/:username/view-as': 'username',
  'GET /user/sessions': 'PAGE',
  'DELETE /user/sessions/:id': 'id:session',
  'GET /admin/users/:username/sessions': 'username PAGE',
  'DELETE /admin/users/:username/sessions': 'username',
  'GET /users/:username/tokens': 'username PAGE',
  'POST /users/:username/tokens': 'username TOKEN',
  'POST /users/:username/tokens/:token/rotate': 'username token .overlap_hours .expires_at',
  'POST /user/token/rotate': '.overlap_hours',
  'PUT /admin/token_policy': '.max_days .expiry_required .personal_tokens',
  'GET /orgs/:org/token_policy': 'org',
  'PUT /orgs/:org/token_policy': 'org .max_days .expiry_required',
  'DELETE /users/:username/tokens/:token': 'username token',
  'GET /user/credentials': '?credential_type ?summary ?mgmt_endpoint',
  'GET /user/credentials/:credName': 'credName',
  'POST /user/credentials': '.name:credential',
  'PUT /user/credentials': '.name:credential',
  'DELETE /user/credentials/:credName': 'credName',
  'GET /user/clouds/:cloud/buckets': 'cloud BUCKET_QUERY BUCKET',
  'POST /user/clouds/:cloud/buckets': 'cloud BUCKET_QUERY BUCKET',
  'GET /user/bus/user_credentials': '?user',
  'GET /user/bus/cluster-resource-history': '?cluster ?group ?resource ?rid ?since ?limit ?cursor',
  'GET /user/deploy/orders': 'PAGE',
  'POST /user/deploy/orders': 'CHART',
  'DELETE /user/deploy/orders/:id': 'id:order',
  'GET /user/deploy/orders/:id/render/manifest': 'id:order',
  'GET /user/deploy/orders/:id/render/resources': 'id:order ?format ?skipCRDs',
  'GET /user/teams': 'PAGE',
  'GET /orgs': 'PAGE',
  'GET /user/orgs': 'PAGE',
  'GET /admin/orgs': 'PAGE ?q:organization ?ownerless',
  'POST /orgs': '.username:newName ORGANIZATION',
  'POST /admin/users/:username/orgs': 'username .username:newName ORGANIZATION',
  'GET /orgs/:org': 'org',
  'PATCH /orgs/:org': 'org .username:newName ORGANIZATION',
  'DELETE /orgs/:org': 'org',
  'GET /admin/reserved-names': 'PAGE',
  'DELETE /admin/reserved-names/:name': 'name:organization',
  'GET /orgs/:org/members': 'org ?q:person ?team:teamName ?sort ?order PAGE',
  'GET /orgs/:org/members/:username': 'org username',
  'PUT /orgs/:org/members/:username': 'org username .team:teamName .expires_at',
  'DELETE /orgs/:org/members/:username': 'org username ?orphan',
  'GET /orgs/:org/public_members': 'org PAGE',
  'GET /orgs/:org/public_members/:username': 'org username',
  'GET /orgs/:org/teams': 'org PAGE',
  'GET /orgs/:org/teams/search': 'org ?q:teamName PAGE',
  'POST /orgs/:org/teams': 'org TEAM',
  'GET /teams/:id': 'id:team',
  'PATCH /teams/:id': 'id:team TEAM',
  'DELETE /teams/:id': 'id:team',
  'GET /teams/:id/members': 'id:team PAGE',
  'GET /teams/:id/members/:username': 'id:team username',
  'PUT /teams/:id/members/:username': 'id:team username .expires_at',
  'DELETE /teams/:id/members/:username': 'id:team username',
  'GET /user/clusters': '?all CLUSTERS PAGE',
  'GET /orgs/:org/clusters': 'org CLUSTERS PAGE',
  'POST /orgs/:org/clusters': 'org CLUSTER',
  'POST /user/clusters': 'CLUSTER',
  'GET /clustersv2/:owner': 'owner:organization PAGE ?provider',
  'GET /clustersv2/:owner/:cluster': 'owner:organization cluster:clusterName',
  'GET /clustersv2/:owner/:cluster/status': 'owner:organization cluster:clusterName',
  'GET /clustersv2/:owner/:cluster/exist': 'owner:organization cluster:clusterName',
  'POST /clustersv2/:owner/check': 'owner:organization .basicInfo.name:clusterName .basicInfo.clusterUID:uid',
  'GET /clusters/:id': 'id:cluster',
  'PATCH /clusters/:id': 'id:cluster CLUSTER',
  'DELETE /clusters/:id': 'id:cluster',
  'POST /clusters/:id/heartbeat':
    'id:cluster .phase .reason .message .nodeCount .orchestratorVersion .endpoint .caBundle',
  'POST /clusters/:id/token-review': 'id:cluster .apiVersion .kind .spec.token .spec.audiences[]',
  'POST /clusters/:id/access-review':
    'id:cluster .apiVersion .kind .spec.user .spec.uid .spec.extra .spec.resourceAttributes .spec.nonResourceAttributes',
  'POST /clusters/:id/kube-token': 'id:cluster',
  'GET /clusters/:id/kubeconfig': 'id:cluster',
  'GET /clusters/:id/reviews': 'id:cluster',
  'GET /clusters/:id/bindings': 'id:cluster',
  'GET /orgs/:org/contracts': 'org PAGE ?name:contractName',
  'POST /orgs/:org/contracts': 'org CONTRACT',
  'GET /contracts/:id': 'id:contract',
  'PATCH /contracts/:id': 'id:contract CONTRACT .revoked',
  'DELETE /contracts/:id': 'id:contract',
  'GET /invitations/:code': 'code:text',
  'GET /orgs/:org/invitations': 'org PAGE ?state:text',
  'POST /orgs/:org/invitations': 'org ?show_link:text .email .team_ids[]:team .message .expires_at',
  'DELETE /orgs/:org/invitations/:id': 'org id:invitation',
  'POST /orgs/:org/invitations/:id/resend': 'org id:invitation ?show_link:text',
  'POST /invitations/:code/accept': 'code:text .other_address .username:text .password:secret .full_name',
  ...WEBHOOK_SLOTS,
  ...ROBOT_SLOTS,
  'GET /orgs/:org/audit': 'org AUDIT ?cursor ?limit',
  'GET /orgs/:org/audit/export': 'org AUDIT ?format:text',
  'GET /orgs/:org/audit/verify': 'org ?cursor ?from',
  'GET /admin/audit/verify': '?cursor ?from ?org',
  'GET /orgs/:org/audit/actions': 'org',
  'GET /admin/audit/actions': '?org',
  'GET /orgs/:org/audit/histogram': 'org AUDIT',
  'GET /admin/audit/histogram': 'AUDIT ?org',
  'GET /user/export': '',
  'GET /user/audit': 'AUDIT ?cursor ?limit',
  'GET /user/audit/export': 'AUDIT ?format:text',
  'GET /admin/audit': 'AUDIT ?cursor ?limit ?org',
  'GET /admin/audit/export': 'AUDIT ?org ?format:text',
  'GET /orgs/:org/overview': 'org',
  'GET /admin/marketplace/deliveries': '?marketplace ?outcome ?search ?subject ?since ?until ?cursor ?limit',
  'GET /admin/marketplace/deliveries/:id': 'id',
  'POST /admin/marketplace/deliveries/:id/redeliver': 'id',
  'POST /admin/marketplace/deliveries/redeliver': '.marketplace .outcome .search .subject .since .until .after .most',
  'GET /admin/marketplace/installers': '?marketplace ?state ?q ?cursor ?limit',
  'POST /admin/marketplace/installers': '.marketplace .days .is_test',
  'GET /admin/marketplace/installers/:id': 'id',
  'POST /admin/marketplace/installers/:id/link': 'id',
  'POST /admin/marketplace/installers/:id/revoke': 'id',
  'GET /admin/marketplace/subscriptions': '?marketplace ?state ?q ?cursor ?limit',
  'GET /admin/marketplace/subscriptions/:id': 'id',
  'POST /admin/marketplace/secrets': '.marketplace .secret:secret',
  'DELETE /admin/marketplace/secrets/:fingerprint': 'fingerprint',
  'GET /admin/marketplace/strangers': '?marketplace ?cursor ?limit',
  'GET /admin/marketplace/events': '?state ?type ?cursor ?limit',
});

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
