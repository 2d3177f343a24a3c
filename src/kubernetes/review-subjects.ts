import { createExactCache, type Loaded } from '../changes/exact-cache.ts';
import { isRobotPrincipal, principalOfRobot, subjectOfPrincipal } from '../changes/principal.ts';
import type { Revisions } from '../changes/revision.ts';
import type { Callers, Person, RobotIdentity } from '../identity/callers.ts';
import { KUBE, scopesAllow } from '../identity/scopes.ts';
import { type MaybeLimits, reachesObject } from '../identity/tokens/token-limits.ts';
import type { ReviewedCluster } from './reviewed-cluster.ts';

export interface KnownRobot {
  readonly id: bigint;
  readonly ownerId: bigint;
  /** Not while the account of its organization cannot be used. */
  readonly isUsable: boolean;
}

export interface ReviewSubjectStore {
  /** By the names of its organization and its own, exactly as they are stored. */
  robot(organization: string, name: string): Promise<Loaded<KnownRobot>>;
  /** The names of the user's teams in an organization. */
  teamsOf(personId: bigint, organizationId: bigint): Promise<string[]>;
}

/** The user or robot that a request in Kubernetes comes from. */
export interface ReviewSubject {
  /** The number of changes/principal.ts. */
  readonly id: bigint;
  readonly isUsable: boolean;
  /** A site administrator, whose rights by that do not count in Kubernetes. */
  readonly isAdmin: boolean;
  readonly isMember: boolean;
}

/** The credential that a token for a cluster was made with, while it lives. */
export interface LiveCredential {
  readonly person: Person;
  readonly robot: RobotIdentity | null;
  readonly scopes: readonly string[];
  readonly limits: MaybeLimits;
  /** As `extra["atrium/token-id"]` has it. */
  readonly reference: string;
}

export type ReviewSubjects = ReturnType<typeof createReviewSubjects>;

const MAX_ROBOTS = 10_000;
const MAX_NAME = 300;
const TOKEN = /^[1-9]\d{0,17}$/;
const SESSION = /^session:([1-9]\d{0,17})$/;
const PASSWORD = 'password';

/** Users and robots by the names that Kubernetes has for them, and the credentials behind their requests. */
export function createReviewSubjects(
  store: ReviewSubjectStore,
  callers: Pick<Callers, 'personNamed' | 'rememberedPerson' | 'personWithId' | 'tokenWithId' | 'sessionWithId'>,
  revisions: Revisions,
) {
  const robots = createExactCache<KnownRobot>({
    revisions,
    load: (text) => store.robot(...split(text)),
    dependsOn: ({ ownerId }) => [ownerId],
    max: MAX_ROBOTS,
  });
  return { named, namedNow, credentialOf, isKnownTo, teamsOf: store.teamsOf };

  /** The same as `named` for a user or robot that is in memory; undefined for all other accounts. */
  function namedNow(name: string, cluster: ReviewedCluster): ReviewSubject | undefined {
    if (name.length > MAX_NAME) return undefined;
    if (name.includes('/')) return subjectOfRobot(robots.remembered(name), name, cluster);
    return subjectOfPerson(callers.rememberedPerson(name), name, cluster);
  }

  /** By the login exactly as it is stored: Kubernetes compares names, so another case is another user. */
  async function named(name: string, cluster: ReviewedCluster): Promise<ReviewSubject | undefined> {
    if (name.length > MAX_NAME) return undefined;
    if (name.includes('/')) return await robotNamed(name, cluster);
    const person = callers.rememberedPerson(name) ?? (await callers.personNamed(name));
    return subjectOfPerson(person, name, cluster);
  }

  function subjectOfPerson(person: Person | undefined, name: string, cluster: ReviewedCluster) {
    if (person?.login !== name || !isKnownTo(cluster, person, null)) return undefined;
    const { id, isAdmin } = person;
    return { id, isUsable: isUsable(person), isAdmin, isMember: person.organizations.has(cluster.ownerId) };
  }

  async function robotNamed(name: string, cluster: ReviewedCluster): Promise<ReviewSubject | undefined> {
    if (!name.startsWith(`${cluster.ownerName}/`)) return undefined;
    return subjectOfRobot(robots.remembered(name) ?? (await robots.get(name)), name, cluster);
  }

  function subjectOfRobot(robot: KnownRobot | undefined, name: string, { ownerId, ownerName }: ReviewedCluster) {
    if (robot?.ownerId !== ownerId || !name.startsWith(`${ownerName}/`)) return undefined;
    return { id: principalOfRobot(robot.id), isUsable: robot.isUsable, isAdmin: false, isMember: true };
  }

  /** Undefined if it is gone, has expired, or its owner may not use anything. */
  async function credentialOf(reference: string, subject: string, now: Date): Promise<LiveCredential | undefined> {
    const found = await lookUp(reference, subject, now);
    return found && subjectOfPrincipal(found.person.id) === subject && isUsable(found.person) ? found : undefined;
  }

  async function lookUp(reference: string, subject: string, now: Date): Promise<LiveCredential | undefined> {
    if (TOKEN.test(reference)) {
      const grant = await callers.tokenWithId(BigInt(reference), now);
      return grant && { ...grant, reference };
    }
    const whole = { robot: null, scopes: ['all'], limits: undefined, reference };
    const [, session] = SESSION.exec(reference) ?? [];
    if (session !== undefined) {
      const grant = await callers.sessionWithId(BigInt(session), now);
      return grant && { person: grant.person, ...whole };
    }
    const [, user] = /^user:([1-9]\d{0,17})$/.exec(subject) ?? [];
    if (reference !== PASSWORD || user === undefined) return undefined;
    const person = await callers.personWithId(BigInt(user));
    return person && { person, ...whole };
  }
}

/** What the token for a cluster says about the credential that it was made with. */
export function referenceTo(credential: {
  readonly tokenId?: bigint;
  readonly session?: { readonly id: bigint };
}): string {
  if (credential.session !== undefined) return `session:${credential.session.id}`;
  return credential.tokenId === undefined ? PASSWORD : String(credential.tokenId);
}

/**
 * Members and robots of the organization of the cluster, its owner if that is a user, and site administrators. About
 * all other accounts, the operator of the cluster learns nothing.
 */
export function isKnownTo(
  { ownerId }: Pick<ReviewedCluster, 'ownerId'>,
  person: Pick<Person, 'id' | 'isAdmin' | 'organizations'>,
  robot: RobotIdentity | null,
): boolean {
  if (robot !== null || isRobotPrincipal(person.id)) return robot?.organization.id === ownerId;
  return person.id === ownerId || person.isAdmin || person.organizations.has(ownerId);
}

/** Whether a credential with these scopes and limits may be used in a cluster. */
export function worksIn(
  { id, ownerId }: Pick<ReviewedCluster, 'id' | 'ownerId'>,
  { scopes, limits }: Pick<LiveCredential, 'scopes' | 'limits'>,
): boolean {
  return scopesAllow(scopes, KUBE) && reachesObject(limits, { type: 'cluster', id, ownerId });
}

export function isUsable({ active, prohibitLogin }: Pick<Person, 'active' | 'prohibitLogin'>): boolean {
  return active && !prohibitLogin;
}

function split(text: string): [string, string] {
  const at = text.indexOf('/');
  return [text.slice(0, at), text.slice(at + 1)];
}
