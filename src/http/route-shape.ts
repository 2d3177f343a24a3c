/** The paths that a route answers, by its own path with `:name` for parameters. */
export function routePattern(route: string): RegExp {
  const parts = route.split('/').map((part) => {
    if (isParameter(part)) return '[^/]+';
    return part === '*' ? '.*' : RegExp.escape(part);
  });
  return new RegExp(`^${parts.join('/')}$`);
}

/** Whether one route answers every path of another, and more: `/roles/:id` covers `/roles/export`. Part by part. */
export function covers(wide: readonly string[], narrow: readonly string[]): boolean {
  if (wide.length !== narrow.length) return false;
  let isWider = false;
  for (const [place, part] of wide.entries()) {
    if (isParameter(part)) isWider ||= !isParameter(narrow[place] ?? '');
    else if (part !== narrow[place]) return false;
  }
  return isWider;
}

function isParameter(part: string): boolean {
  return part.startsWith(':');
}
