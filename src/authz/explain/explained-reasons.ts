import { explain as explainRelation, type MissingLink, type Step } from '../../../packages/rebac/src/rebac.ts';
import { subjectOfPrincipal } from '../../changes/principal.ts';
import { nameOf as nameOfObject } from '../object-ref.ts';
import type { Viewpoint, ViewpointQuery } from '../viewpoint.ts';
import { allPaths, type Paths } from './all-paths.ts';
import { isNamed, missingObjects, objectsIn, withoutNumbers } from './hidden-objects.ts';
import { withoutRoleParts } from './role-parts.ts';

/** Whether the caller may see the object. What only its owner can hold is the caller's own. */
export type Standing = 'seen' | 'own' | 'hidden';

/** What was found, as the caller may know it. */
export interface Reasons {
  readonly allowed: boolean;
  readonly allowedNow: boolean | undefined;
  /** The caller may know of the object, but it did not exist at the moment of the question. */
  readonly isMissed?: boolean;
  readonly steps: readonly Step[];
  readonly missing: MissingLink | undefined;
  /** The objects in it whose names the caller may know. */
  readonly visible: readonly string[];
  /** Every way to a yes, if they were asked for. */
  readonly paths: Omit<Paths, 'objects'>;
  readonly standing: Standing;
}

const NO_PATHS = { paths: [], hasMore: false };

/**
 * About an object that the caller may not see, the answer is the same as about one that does not exist, unless the
 * caller asks about themselves: what they hold is theirs to know. In answers about other users, objects that the caller
 * may not see have no number either.
 */
export function* explainedReasons(
  viewpoint: Viewpoint,
  { object, relation, callerId }: ViewpointQuery & { readonly relation: string },
  personId: bigint,
  wantsAllPaths: boolean,
): Generator<void, Reasons, void> {
  const user = subjectOfPrincipal(personId);
  const name = nameOfObject(object);
  const isOwnQuestion = personId === callerId;
  const isSeen = viewpoint.sees(name);
  const { now } = viewpoint;
  const allowedNow = now && (isOwnQuestion || now.sees(name)) && now.holds(user, relation);
  if (!isSeen && !isOwnQuestion) {
    const nothing = { allowed: false, allowedNow, steps: [], missing: undefined, visible: [user] };
    return { ...nothing, paths: NO_PATHS, standing: 'hidden' };
  }
  yield;
  const proof = explainRelation(viewpoint.graph, viewpoint.query(user, relation));
  const found = { ...proof, steps: withoutRoleParts(proof.steps, viewpoint.graph) };
  yield;
  const isMissed = isSeen && !viewpoint.existed;
  const missing = isSeen && viewpoint.existed ? found.missing : undefined;
  const { objects: inPaths, ...paths } = wantsAllPaths
    ? yield* allPaths(viewpoint, { user, relation, object: name }, isOwnQuestion)
    : { ...NO_PATHS, objects: [] };
  const objects = new Set([...found.steps.flatMap(objectsIn), ...missingObjects(missing), ...inPaths, name]);
  objects.delete(user);
  yield;
  const visible = [...objects].filter((one) => isNamed(one) && viewpoint.sees(one));
  const hidden = withoutNumbers(found.steps, missing, (one) => {
    return one === user || !isNamed(one) || visible.includes(one);
  });
  // What is missing for oneself may name a team, but how teams and roles are connected is not one's own affair.
  const own = missing && { ...missing, trail: hidden.missing?.trail ?? [] };
  const shown = isOwnQuestion ? { steps: found.steps, missing: own } : hidden;
  const standing = !isSeen ? 'hidden' : viewpoint.isOwn ? 'own' : 'seen';
  const answer = { allowed: found.allowed, allowedNow, isMissed, ...shown };
  return { ...answer, visible: [user, ...visible], paths, standing };
}

/** Does the work without serving other requests in between. */
export function finished<T>(work: Generator<void, T, void>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
