import type { Kind } from './arguments.ts';
import { PLACE_WORDS, PRINCIPAL_WORDS } from './assignment-text.ts';
import { all, listResources, OBJECT_WORDS, RESOURCE_KINDS } from './names.ts';
import { ownOrganizations } from './own-organizations.ts';
import { RELATIONS } from './relations.gen.ts';
import type { Session } from './session.ts';

/** The names of a kind that can complete the word. */
export async function namesOf(session: Session, kind: Kind, typed: string): Promise<string[]> {
  if (kind === 'context') return Object.keys(session.config().contexts);
  if (kind === 'relation')
    return [...new Set(Object.values(RELATIONS).flat())].map((one) => one.replace(/^can_/, '')).sort();
  if (kind === 'object') return await objects(session, typed, OBJECT_WORDS);
  if (kind === 'principal') return await objects(session, typed, PRINCIPAL_WORDS);
  if (kind === 'place') return await objects(session, typed, PLACE_WORDS);
  const client = session.client();
  if (kind === 'org') return await ownOrganizations(client);
  if (kind === 'credential') return (await client.call('GET /user/credentials')).map(({ name }) => name);
  // Wherever a user is asked about, a robot can be.
  if (kind === 'user' && typed.startsWith('robot:')) return await objects(session, typed, PRINCIPAL_WORDS);
  if (kind === 'user') {
    const path = { org: session.org() };
    return (await all(client.each('GET /orgs/{org}/members', { path }))).map(({ login }) => login);
  }
  const resource = RESOURCE_KINDS.find((one) => one === kind);
  return resource === undefined ? [] : (await listResources(session, resource)).map(({ name }) => name);
}

async function objects(session: Session, typed: string, words: readonly string[]): Promise<string[]> {
  const [type = '', rest] = typed.split(':');
  if (rest === undefined) return words.map((one) => `${one}:`);
  if (type === 'cluster_set') return await clusterSets(session);
  const kind = type === 'organization' ? 'org' : (type as Kind);
  const names = await namesOf(session, kind, rest);
  return names.map((name) => `${type}:${name}`);
}

/** The sets of the clusters that the caller may see. */
async function clusterSets(session: Session): Promise<string[]> {
  const clusters = await all(session.client().each('GET /orgs/{org}/clusters', { path: { org: session.org() } }));
  const names = new Set(clusters.map(({ clusterSetName }) => clusterSetName ?? ''));
  return [...names].filter((name) => name !== '').map((name) => `cluster_set:${name}`);
}
