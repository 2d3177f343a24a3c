import type { BookedRoute } from '../route-book.ts';

/**
 * What a generated client calls the operation: a verb, then the words of the path, in the singular where a parameter
 * picks one. `GET /orgs/:org/teams` is listOrgTeams, `PATCH /teams/:id` is updateTeam.
 */
export function operationName(route: Pick<BookedRoute, 'method' | 'path' | 'creates' | 'schema'>): string {
  const parts = route.path
    .replace(/^\/marketplace\/api\/v1(\/marketplaces)?/, '/marketplace')
    .replace(/^\/api\/v1/, '')
    // Not one of the users below /users.
    .replace(/^\/user(?=\/|$)/, '/current-user')
    .split('/')
    .slice(1);
  const words = parts.flatMap((part, index) => {
    if (part.startsWith(':')) return [];
    const isOne = parts[index + 1]?.startsWith(':') || (index === parts.length - 1 && route.creates);
    return (isOne ? singular(part) : part).split(/[^0-9A-Za-z]+/).filter((word) => word !== '');
  });
  return [verbOf(route), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
}

function verbOf({ method, creates, schema }: Pick<BookedRoute, 'method' | 'creates' | 'schema'>): string {
  if (method === 'GET') return isList(schema.response?.['200']) ? 'list' : 'get';
  if (method === 'POST') return creates ? 'create' : 'post';
  return { PUT: 'set', PATCH: 'update', DELETE: 'delete' }[method] ?? method.toLowerCase();
}

function isList(schema: { readonly type?: string; readonly properties?: object } = {}): boolean {
  return schema.type === 'array' || 'next_cursor' in (schema.properties ?? {});
}

function singular(word: string): string {
  return word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/([^s])s$/, '$1');
}
