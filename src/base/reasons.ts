/**
 * Why a request failed, for programs: sent as `reason` next to the message. This set is part of the contract. Messages
 * are for people, and no code may depend on their wording.
 */
export const REASONS = {
  invalid_request: 'The path, the query or the body cannot be used.',
  validation_failed: 'Fields of the body are not acceptable; `errors` names them.',
  unauthenticated: 'No credential was sent, or it is not valid.',
  forbidden: 'The caller may not do this.',
  missing_relation: 'The caller does not hold the relation that the route requires; `relation` names it.',
  escalation: 'The caller tried to grant more than they hold.',
  not_found: 'There is no such object, or the caller may not know of it.',
  route_not_found: 'The server has no such route.',
  user_not_found: 'There is no such user.',
  organization_not_found: 'There is no such organization, or the caller may not know of it.',
  team_not_found: 'There is no such team, or the caller may not know of it.',
  role_not_found: 'There is no such role.',
  cluster_not_found: 'There is no such cluster, or the caller may not know of it.',
  contract_not_found: 'There is no such contract, or the caller may not know of it.',
  robot_not_found: 'There is no such robot, or the caller may not know of it.',
  token_not_found: 'There is no such token.',
  credential_not_found: 'There is no such credential.',
  order_not_found: 'There is no such order.',
  delivery_not_found: 'There is no such delivery.',
  unknown_relation: 'Objects of this type have no such relation.',
  method_not_allowed: 'The route does not support this method.',
  conflict: 'The request contradicts the state of the object.',
  name_taken: 'Another object has this name.',
  email_taken: 'Another user has this email address.',
  last_owner: 'An organization must keep an owner.',
  last_administrator: 'The deployment must keep an active site administrator.',
  database_in_use: 'Another process has the built-in database open.',
  database_incomplete: 'The built-in database is missing, or parts of it are.',
  gone: 'The object existed and does not exist any more.',
  precondition_failed: 'The object was changed since the caller read it.',
  body_too_large: 'The body exceeds the maximum size.',
  rate_limited: 'The caller sent too many requests; `Retry-After` says when to continue.',
  internal_error: 'The server failed; its log has more under the request ID.',
  upstream_failed: 'A service that the server depends on failed.',
  unavailable: 'The server cannot answer right now.',
  outcome_unknown: 'The database did not confirm the change: it may or may not have been made.',
} as const;

export type Reason = keyof typeof REASONS;
