/** What the operations of each group are about. */
export const TAGS = {
  server: 'The server itself.',
  user: 'The signed-in user: profile, email addresses, sessions, followers, clusters and orders.',
  authorization: 'Roles, permissions, and the answers to who may do what, and why.',
  administration:
    'Organizations with their teams, members, clusters, contracts and robots, and what site administrators do.',
  credentials: 'Cloud credentials, and the buckets that they open.',
  tokens: 'Access tokens.',
  bus: 'Access to the message bus.',
  marketplace: 'Notifications of cloud marketplaces, installers and claims.',
} as const;

export function tagsOf(operations: readonly { readonly tags?: readonly string[] }[]) {
  const used = new Set(operations.flatMap(({ tags = [] }) => tags));
  const known = Object.entries(TAGS).filter(([name]) => used.delete(name));
  if (used.size > 0) throw new Error(`nothing says what these tags mean: ${[...used].join(', ')}`);
  return known.map(([name, description]) => ({ name, description }));
}
