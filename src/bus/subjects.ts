/** The first words of the subjects of the application account. */
export const ROOTS = ['user', 'cluster', 'history'] as const;

/** A word that a subject can contain as it is; anything else could be read as a wildcard or as several words. */
const WORD = /^[A-Za-z0-9_-]{1,128}$/;
/** The API group of resources that belong to none. */
const CORE = 'core';

export interface ClusterRights {
  readonly uid: string;
  /** The relations that the user holds on the cluster. */
  readonly relations: readonly string[];
}

export interface Allowed {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/**
 * What a user may publish and subscribe to: everything of their own, and of a cluster what authorization allows (see
 * grants.ts).
 */
export function allowedSubjects(personId: bigint, clusters: readonly ClusterRights[]): Allowed {
  const holding = (relation: string) =>
    clusters.filter(({ uid, relations }) => isWord(uid) && relations.includes(relation)).map(({ uid }) => uid);
  return {
    publish: [
      `user.${personId}.>`,
      ...holding('can_connect').map((uid) => `cluster.${uid}.>`),
      ...holding('can_edit').map((uid) => `history.${uid}.>`),
    ],
    subscribe: [
      `user.${personId}.>`,
      `${inboxOf(personId)}.>`,
      ...holding('can_view').map((uid) => `cluster.${uid}.>`),
    ],
  };
}

/**
 * Where answers to this user's requests go. If all users could listen to one inbox, the answers would not be secret.
 */
export function inboxOf(personId: bigint): string {
  return `_INBOX.${personId}`;
}

export function isWord(text: string): boolean {
  return WORD.test(text);
}

/** A resource of a cluster, as the history identifies it. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
  readonly rid: string;
}

/** `history.<cluster>.<group>.<resource>.<id>`; missing parts become wildcards. An empty group is the core group. */
export function historySubject(cluster: string, name: Partial<ResourceName>): string {
  const words = [name.group === '' ? CORE : name.group, name.resource, name.rid];
  return ['history', cluster, ...words.map((word) => (word ? encodeWord(word) : '*'))].join('.');
}

export function readHistorySubject(subject: string): ResourceName | undefined {
  const [root, , group, resource, rid, ...rest] = subject.split('.');
  if (root !== 'history' || group === undefined || resource === undefined || rid === undefined || rest.length > 0) {
    return undefined;
  }
  try {
    return {
      group: group === CORE ? '' : decodeURIComponent(group),
      resource: decodeURIComponent(resource),
      rid: decodeURIComponent(rid),
    };
  } catch {
    return undefined;
  }
}

/** Percent-encoded, including the dot and the wildcards: `apps.example` becomes one word, `apps%2Eexample`. */
function encodeWord(text: string): string {
  return encodeURIComponent(text).replace(/[.*!'()~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
