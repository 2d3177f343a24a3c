import { AppError } from '../base/errors.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import type { Callers } from '../identity/callers.ts';
import type { ClusterTokens } from './cluster-token.ts';
import { ROBOT, TOKEN_ID, type TokenQuestion } from './review-body.ts';
import { isKnownTo, isUsable, type LiveCredential, type ReviewSubjects, worksIn } from './review-subjects.ts';
import type { ReviewedCluster } from './reviewed-cluster.ts';

/** The status of a TokenReview. */
export type TokenAnswer =
  | { readonly authenticated: false; readonly error: string }
  | {
      readonly authenticated: true;
      readonly user: {
        readonly username: string;
        readonly uid: string;
        readonly groups: string[];
        readonly extra: Readonly<Record<string, string[]>>;
      };
      readonly audiences?: string[];
    };

interface Parts {
  readonly callers: Pick<Callers, 'byToken'>;
  readonly subjects: Pick<ReviewSubjects, 'credentialOf' | 'teamsOf'>;
  readonly tokens: Pick<ClusterTokens, 'verify' | 'audienceOf'>;
}

/** The same for every token: the operator of a cluster must not find out what a token is good for elsewhere. */
const NOT_FOR_THIS: TokenAnswer = {
  authenticated: false,
  error: 'not a token for this cluster; use atrium kube token',
};
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const MAX_TOKEN = 8192;

export type TokenReviews = ReturnType<typeof createTokenReviews>;

/**
 * Whose token is this? A cluster sees the tokens that are sent to it, so only those count that it may see: those of
 * `atrium kube token` for this cluster, and tokens that are limited to it or to its organization.
 */
export function createTokenReviews({ callers, subjects, tokens }: Parts) {
  return { review };

  async function review(cluster: ReviewedCluster, asked: TokenQuestion, now: Date): Promise<TokenAnswer> {
    const { token, audiences } = asked;
    const audience = tokens.audienceOf(cluster.uid);
    if (audiences !== undefined && !audiences.includes(audience)) return NOT_FOR_THIS;
    const credential = token.length > MAX_TOKEN ? undefined : await credentialBehind(cluster, token, now);
    if (credential === undefined || !isKnownTo(cluster, credential.person, credential.robot)) return NOT_FOR_THIS;
    const { person, robot, reference } = credential;
    const isMember = robot === null && person.organizations.has(cluster.ownerId);
    const user = {
      username: person.login,
      uid: subjectOfPrincipal(person.id),
      groups: isMember ? await groupsOf(cluster, person.id) : [],
      extra: { [TOKEN_ID]: [reference], ...(robot !== null && { [ROBOT]: [person.login] }) },
    };
    return { authenticated: true, user, ...(audiences !== undefined && { audiences: [audience] }) };
  }

  async function credentialBehind(cluster: ReviewedCluster, text: string, now: Date) {
    const found = JWT.test(text) ? await signedFor(cluster, text, now) : await limitedTo(text, now);
    return found && isUsable(found.person) && worksIn(cluster, found) ? found : undefined;
  }

  async function signedFor(cluster: ReviewedCluster, text: string, now: Date): Promise<LiveCredential | undefined> {
    const claims = await tokens.verify(text, cluster.uid, now);
    return claims && (await subjects.credentialOf(claims.reference, claims.subject, now));
  }

  async function limitedTo(text: string, now: Date): Promise<LiveCredential | undefined> {
    try {
      const grant = await callers.byToken(text, now);
      return grant.limits && { ...grant, reference: String(grant.tokenId) };
    } catch (error) {
      if (error instanceof AppError && error.kind === 'unauthenticated') return undefined;
      throw error;
    }
  }

  /** As they are written: RBAC compares exactly. */
  async function groupsOf({ ownerId, ownerName }: ReviewedCluster, personId: bigint): Promise<string[]> {
    const teams = await subjects.teamsOf(personId, ownerId);
    return [`atrium:${ownerName}`, ...teams.map((team) => `atrium:${ownerName}:${team}`)];
  }
}
