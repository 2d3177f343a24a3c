/**
 * May a user or robot do this in a cluster? What an API server asks before every request (SubjectAccessReview).
 *
 * 1. Only a relation that is held at this moment allows anything. It costs no query of the database unless the answer is
 *    no: then the reason has names in it.
 * 2. A no is never final, so that RBAC of the cluster may still allow the request: `denied` is sent only about a
 *    credential that has ended.
 * 3. About users that Atrium does not know there, and about those of Kubernetes itself, there is no opinion: a no without
 *    a reason.
 * 4. The name decides, not the groups: they are as old as the token. A UID that is not ours means that another
 *    authenticator has a user of that name.
 */

import { check, type Graph, statedTo } from '../../packages/rebac/src/rebac.ts';
import type { Explain } from '../authz/explain/explain.ts';
import type { Graphs } from '../authz/graphs.ts';
import type { Judge } from '../authz/judge.ts';
import type { AskedObject } from '../authz/object-ref.ts';
import { assignmentsIn, everywhere, IN_NAMESPACES } from '../authz/places/namespaces.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import { type Need, neededForPath, neededForResource } from './needed-relation.ts';
import type { AccessQuestion } from './review-body.ts';
import { type ReviewSubject, type ReviewSubjects, worksIn } from './review-subjects.ts';
import type { ReviewedCluster } from './reviewed-cluster.ts';
import { KUBERNETES_RELATIONS, type KubernetesRelation } from './verb-table.ts';

export interface AccessAnswer {
  readonly allowed: boolean;
  readonly denied?: true;
  readonly reason?: string;
}

/** Whether a user could ask for what was not allowed. It is asked for every no, so it must cost little. */
export type IsRequestable = (about: {
  readonly personId: bigint;
  readonly organizationId: bigint;
  readonly clusterId: bigint;
  readonly relation: KubernetesRelation;
  readonly namespace: string | undefined;
}) => boolean | Promise<boolean>;

interface Parts {
  readonly judge: Pick<Judge, 'holds' | 'atHand'>;
  readonly graphs: Pick<Graphs, 'of'>;
  readonly subjects: Pick<ReviewSubjects, 'named' | 'namedNow' | 'credentialOf'>;
  readonly explain: Pick<Explain, 'explain'>;
  readonly isRequestable: IsRequestable;
  /** Changes with every write. */
  readonly revision: () => bigint;
  readonly note: (cluster: ReviewedCluster, personId: bigint, allowed: boolean) => void;
}

export type AccessReviews = ReturnType<typeof createAccessReviews>;

const YES: AccessAnswer = { allowed: true };
const NO_OPINION: AccessAnswer = { allowed: false };
const MAX_REASON = 1000;
const MAX_SENTENCES = 10_000;
/** No user has this ID: what a site administrator has without being one. */
const SHADOW = 'user:0';

export function createAccessReviews(parts: Parts) {
  const { judge, graphs, subjects, explain, isRequestable, note } = parts;
  const sentences = new Map<string, string>();
  let sentencesOf = -1n;
  return { review, atHand };

  /**
   * A yes for a name without a credential, about which everything is in memory; undefined for all else. Nearly every
   * request of a cluster is one of these, and an API server waits for the answer before each.
   */
  function atHand(cluster: ReviewedCluster, asked: AccessQuestion): AccessAnswer | undefined {
    const { user, uid, credential } = asked;
    if (credential !== undefined || user.startsWith('system:')) return undefined;
    const subject = subjects.namedNow(user, cluster);
    if (subject === undefined || !subject.isUsable || subject.isAdmin) return undefined;
    if (uid !== '' && uid !== subjectOfPrincipal(subject.id)) return undefined;
    const need = needOf(asked);
    if (need === undefined) return undefined;
    const object = objectOf(cluster, need);
    for (const relation of relationsFor(need)) {
      const isHeld = judge.atHand?.holds(subject.id, cluster.ownerId, askedRelation(need, relation), object);
      if (isHeld === undefined) return undefined;
      if (!isHeld) continue;
      note(cluster, subject.id, true);
      return YES;
    }
    return undefined;
  }

  async function review(cluster: ReviewedCluster, asked: AccessQuestion, now: Date): Promise<AccessAnswer> {
    const { user, uid, credential } = asked;
    if (user.startsWith('system:')) return NO_OPINION;
    const subject = await subjects.named(user, cluster);
    if (subject === undefined) return NO_OPINION;
    const name = subjectOfPrincipal(subject.id);
    if (uid !== '' && uid !== name) return NO_OPINION;
    const rejection =
      credential === undefined ? unusable(subject, user) : await rejectionOf(cluster, subject, credential, user, now);
    const need = needOf(asked);
    if (need === undefined) return NO_OPINION;
    const isAllowed = rejection === undefined && (await holds(cluster, subject, need));
    note(cluster, subject.id, isAllowed);
    if (isAllowed) return YES;
    return rejection ?? { allowed: false, reason: await reasonFor(cluster, subject, user, need) };
  }

  /** Why the credential itself does not let anything be done in the cluster. */
  async function rejectionOf(
    cluster: ReviewedCluster,
    subject: ReviewSubject,
    reference: string,
    user: string,
    now: Date,
  ): Promise<AccessAnswer | undefined> {
    const credential = await subjects.credentialOf(reference, subjectOfPrincipal(subject.id), now);
    if (credential === undefined) {
      return { allowed: false, denied: true, reason: `the credential of ${user} has ended: get a new token` };
    }
    const reason = `the token of ${user} is not for this cluster: its scopes or limits do not include it`;
    return worksIn(cluster, credential) ? undefined : { allowed: false, reason };
  }

  async function holds(cluster: ReviewedCluster, subject: ReviewSubject, need: Need): Promise<boolean> {
    if (subject.isAdmin)
      return subject.isMember && holdsAsMember(await graphs.of(cluster.ownerId), cluster, subject, need);
    const object = objectOf(cluster, need);
    for (const relation of relationsFor(need)) {
      if (await judge.holds(subject.id, cluster.ownerId, askedRelation(need, relation), object)) return true;
    }
    return false;
  }

  async function reasonFor(
    cluster: ReviewedCluster,
    subject: ReviewSubject,
    user: string,
    { relation, where }: Need,
  ): Promise<string> {
    const namespace = typeof where === 'object' ? where.namespace : undefined;
    const about = { personId: subject.id, organizationId: cluster.ownerId, clusterId: cluster.id, relation, namespace };
    const sentence = await sentenceFor(cluster, subject, user, relation, namespace);
    if (!(await isRequestable(about))) return [...sentence].slice(0, MAX_REASON).join('');
    const place = namespace === undefined ? '' : ` --namespace ${namespace}`;
    const verb = relation.slice('can_'.length);
    const command = `atrium request ${verb} cluster:${cluster.name}${place} --for 4h --because …`;
    return `${[...sentence].slice(0, MAX_REASON - command.length - 1).join('')}\n${command}`;
  }

  /**
   * As explain says it to the user. Tools repeat what is not allowed, so sentences are remembered until the next write.
   */
  async function sentenceFor(
    cluster: ReviewedCluster,
    subject: ReviewSubject,
    user: string,
    relation: KubernetesRelation,
    namespace: string | undefined,
  ): Promise<string> {
    const latest = parts.revision();
    if (latest !== sentencesOf || sentences.size >= MAX_SENTENCES) sentences.clear();
    sentencesOf = latest;
    const key = `${cluster.id} ${subject.id} ${relation} ${namespace ?? ''}`;
    const known = sentences.get(key);
    if (known !== undefined) return known;
    const object = { type: 'cluster', id: cluster.id, namespace } as const;
    const question = { organizationId: cluster.ownerId, callerId: subject.id, object, relation };
    const found = await explain.explain(question, undefined);
    const text = found.allowed ? exceptionFor(cluster, subject, user) : oneLine(found.sentence);
    if (parts.revision() === sentencesOf) sentences.set(key, text);
    return text;
  }
}

/** What is said of a name without a credential. */
function unusable({ isUsable }: ReviewSubject, user: string): AccessAnswer | undefined {
  return isUsable ? undefined : { allowed: false, reason: `${user} cannot use anything: the account is not active` };
}

/** What explain allows, and a review does not. */
function exceptionFor({ name }: ReviewedCluster, { isAdmin }: ReviewSubject, user: string): string {
  if (isAdmin) return `${user} can do this as a site administrator only, which does not count inside ${name}`;
  return `${user} can view only some namespaces of ${name}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

function needOf({ path, resource }: AccessQuestion): Need | undefined {
  return path ? neededForPath(path) : resource && neededForResource(resource);
}

function objectOf({ id }: ReviewedCluster, { where }: Need): AskedObject {
  return { type: 'cluster', id, namespace: typeof where === 'object' ? where.namespace : undefined };
}

function askedRelation({ where }: Need, relation: KubernetesRelation): string {
  return where === 'everywhere' ? everywhere(relation) : relation;
}

/** Each of them is enough. In the model, all of them imply a view. */
function relationsFor({ relation }: Need): readonly KubernetesRelation[] {
  return relation === 'can_view' ? [relation] : KUBERNETES_RELATIONS.slice(KUBERNETES_RELATIONS.indexOf(relation));
}

/** What a site administrator holds by memberships and assignments, as a user would who has the same. */
export function holdsAsMember(
  graph: Graph,
  cluster: ReviewedCluster,
  subject: Pick<ReviewSubject, 'id'>,
  need: Need,
): boolean {
  const contextualTuples = statedTo(graph, subjectOfPrincipal(subject.id))
    .filter(({ object }) => !object.startsWith('platform:'))
    .map((stated) => ({ ...stated, user: SHADOW }));
  const holds = (relation: string, object: string) =>
    check(graph, { user: SHADOW, relation, object, contextualTuples });
  const object = `cluster:${cluster.id}`;
  return relationsFor(need).some((relation) => {
    if (holds(need.where === 'somewhere' ? relation : everywhere(relation), object)) return true;
    if (typeof need.where !== 'object') return false;
    const given = IN_NAMESPACES.get(relation)?.given ?? '';
    return assignmentsIn(graph, object, need.where.namespace).some((assignment) => holds(given, assignment));
  });
}
