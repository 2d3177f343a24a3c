import { capital } from '../../cli/help.ts';
import { BELONGING_TYPES, OBJECT_KINDS } from '../../src/changes/object-kinds.ts';

/** What the operations of each group are about, in the order of the alphabet. */
export const TAGS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    BELONGING_TYPES.map(({ type }) => [
      OBJECT_KINDS[type].plural,
      `${capital(OBJECT_KINDS[type].plural)} of organizations.`,
    ]),
  ),
  audit: 'Who changed what, and whether that record is intact.',
  authorization: 'Roles, permissions, and the answers to who may do what, and why.',
  bus: 'Access to the message bus.',
  clusters: 'Clusters of organizations and users, and the heartbeats of their agents.',
  credentials: 'Cloud credentials, and the buckets that they open.',
  events: 'What changes, as it changes.',
  invitations: 'Invitations to organizations, by email or by link.',
  kubernetes: 'What API servers and agents of clusters ask, and how kubectl gets in.',
  marketplace: 'Notifications of cloud marketplaces, installers and claims, and what became of them.',
  members: 'Members of organizations, and how they came to be.',
  'organization-file': 'A whole organization as one file: exporting it, what it would change, and applying it.',
  organizations: 'Organizations, their names, and what they have, in numbers.',
  providers: 'OpenID Connect providers that users sign in with.',
  requests: 'Access requests, and the rules for them.',
  reviews: 'Access reviews, and access that is not used.',
  robots: 'Robot accounts of organizations, and their tokens.',
  search: 'Finding anything by its name.',
  'second-factors': 'Passkeys, authenticator apps and recovery codes, and who needs them.',
  server: 'The server itself.',
  'sign-in': 'Signing in and out, and accounts at providers that are linked to users.',
  teams: 'Teams of organizations, their members and their roles.',
  tokens: 'Access tokens.',
  user: 'The signed-in user: profile, email addresses, sessions, followers, clusters and orders.',
  users: 'Users of the deployment, as others and site administrators see them.',
  webhooks: 'Webhooks, which send other systems what changes, and what became of each message.',
};

export function tagsOf(operations: readonly { readonly tags?: readonly string[] }[]) {
  const used = new Set(operations.flatMap(({ tags = [] }) => tags));
  const known = Object.entries(TAGS)
    .filter(([name]) => used.delete(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  if (used.size > 0) throw new Error(`nothing says what these tags mean: ${[...used].join(', ')}`);
  return known.map(([name, description]) => ({ name, description }));
}
