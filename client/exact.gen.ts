// Made by `npm run generate` from openapi/atrium.json.

/** Where an answer holds int64, as paths in which * stands for every entry; `open` answers also hold what has no type. */
export interface Exactness {
  readonly int64: readonly string[];
  readonly open?: boolean;
}

export const EXACT: Readonly<Record<string, Exactness>> = {
  'GET /.well-known/jwks.json': { int64: [], open: true },
  'POST /authz/objects/allowed-permissions': { int64: ['*.objectID'] },
  'GET /authz/objects/{objectType}/{objID}/allowed-permissions': { int64: ['objectID'] },
  'GET /authz/objects/{objectType}/{objID}/explain': { int64: ['objectID', 'userID'] },
  'GET /authz/objects/{objectType}/{objID}/principals': { int64: ['*.id'] },
  'GET /authz/roles': { int64: ['*.id', '*.owner_id', '*.team_ids.*'] },
  'POST /authz/roles': { int64: ['id', 'owner_id', 'team_ids.*'] },
  'POST /authz/roles/preview': { int64: ['changes.*.user.id'] },
  'GET /authz/roles/{id}': { int64: ['id', 'owner_id', 'team_ids.*'] },
  'PUT /authz/roles/{id}': { int64: ['id', 'owner_id', 'team_ids.*'] },
  'GET /authz/roles/{id}/principals': { int64: ['*.id'] },
  'GET /user': { int64: ['id'] },
  'GET /user/clusters': { int64: ['*.id', '*.ownerID'] },
  'GET /user/credentials': { int64: [], open: true },
  'GET /user/credentials/{credName}': { int64: [], open: true },
  'POST /user/deploy/orders': { int64: [], open: true },
  'GET /user/followers': { int64: ['*.id'] },
  'GET /user/following': { int64: ['*.id'] },
  'GET /user/settings/organizations': { int64: ['*.id'] },
  'POST /user/signin': { int64: ['id'] },
  'GET /user/teams': { int64: ['*.id', '*.organization.id', '*.role_ids.*'] },
  'GET /users/{username}/tokens': { int64: ['*.id'] },
  'POST /users/{username}/tokens': { int64: ['id'] },
};
