/** The paths that a route answers, by its own path with `:name` for parameters. */
export function patternOf(route: string): RegExp {
  const parts = route.split('/').map((part) => {
    if (isParameter(part)) return '[^/]+';
    return part === '*' ? '.*' : RegExp.escape(part);
  });
  return new RegExp(`^${parts.join('/')}$`);
}

/** Whether one route answers every path of another, and more: `/roles/:id` covers `/roles/export`. */
export function covers(wide: string, narrow: string): boolean {
  const wideParts = wide.split('/');
  const parts = narrow.split('/');
  if (wideParts.length !== parts.length) return false;
  const isWider = wideParts.some((part, place) => isParameter(part) && !isParameter(parts[place] ?? ''));
  return isWider && wideParts.every((part, place) => isParameter(part) || part === parts[place]);
}

function isParameter(part: string): boolean {
  return part.startsWith(':');
}
