import type { BookedRoute } from '../../src/http/admission/route-book.ts';

const CHANGING = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * The errors that a route can answer with. Most follow from what it declares about callers, path, query and body; those
 * that only the feature behind it knows are in `errors` of its schema.
 */
export function errorStatuses(route: BookedRoute, isListener: boolean): number[] {
  const { schema, access, creates, costly } = route;
  const own = schema.errors ?? [];
  if (isListener) {
    // A marketplace takes a 429 as final, so its deliveries are never put off.
    const refusals = access.who === 'webhook' ? [403] : [429];
    return inOrder([...refusals, ...(schema.body ? [400, 413] : []), ...own, 500]);
  }
  const isSigned = access.who !== 'anyone' && access.who !== 'webhook';
  const isChange = isSigned && CHANGING.has(route.method) && access.level !== 'read';
  return inOrder([
    ...(isSigned ? [401, 403] : []),
    ...(schema.params || schema.querystring || creates ? [400] : []),
    // An object that the path names, or the user that a site administrator acts for.
    ...(isSigned || schema.params ? [404] : []),
    // Something that the change refers to can be deleted at the same time.
    ...(isChange ? [409] : []),
    ...(schema.ifMatch ? [412] : []),
    ...(schema.body ? [413] : []),
    ...(schema.body || schema.grows || costly !== undefined ? [422] : []),
    ...own,
    ...[429, 500, 503],
  ]);
}

function inOrder(statuses: readonly number[]): number[] {
  return [...new Set(statuses)].sort((a, b) => a - b);
}
