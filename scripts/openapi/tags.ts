/** What the operations of each group are about, in the order of the alphabet. */
export const TAGS = {
  administration:
    'Organizations with their teams, members, clusters, contracts and robots, and what site administrators do.',
  authorization: 'Roles, permissions, and the answers to who may do what, and why.',
  bus: 'Access to the message bus.',
  credentials: 'Cloud credentials, and the buckets that they open.',
  events: 'What changes, as it changes.',
  marketplace: 'Notifications of cloud marketplaces, installers and claims.',
  search: 'Finding anything by its name.',
  server: 'The server itself.',
  tokens: 'Access tokens.',
  user: 'The signed-in user: profile, email addresses, sessions, followers, clusters and orders.',
} as const;

export function tagsOf(operations: readonly { readonly tags?: readonly string[] }[]) {
  const used = new Set(operations.flatMap(({ tags = [] }) => tags));
  const known = Object.entries(TAGS).filter(([name]) => used.delete(name));
  if (used.size > 0) throw new Error(`nothing says what these tags mean: ${[...used].join(', ')}`);
  return known.map(([name, description]) => ({ name, description }));
}
