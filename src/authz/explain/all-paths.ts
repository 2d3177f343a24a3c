import { explainAll, type Step } from '../../../packages/rebac/src/rebac.ts';
import type { Viewpoint } from '../viewpoint.ts';
import { isNamed, objectsIn, withoutNumbers } from './hidden-objects.ts';
import { withoutRoleParts } from './role-parts.ts';

const MAX_PATHS = 10;
/** What a role contains often allows the same in several ways, which are one path. */
const MAX_WAYS = 30;
/** A user who holds something through more teams and roles than this is listed with these. */
const MAX_REASONS = 30;

export interface Asked {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

/** Every way in which a user holds a relation, as the caller may know it. */
export interface Paths {
  readonly paths: readonly (readonly Step[])[];
  readonly hasMore: boolean;
  /** The objects in them. */
  readonly objects: readonly string[];
}

/** What users hold relations through. `owner` is that they own the object themselves. */
export const REASON_KINDS = ['team', 'role', 'owner', 'platform'] as const;

/** What a user holds a relation through. Without an object if the caller may not know it. */
export interface Reason {
  readonly kind: (typeof REASON_KINDS)[number];
  readonly object: string | undefined;
}

/**
 * In answers about other users, paths that differ only in what the caller may not see are one path, so their number
 * says nothing about it.
 */
export function* allPaths(
  { graph, query, sees }: Viewpoint,
  asked: Asked,
  isOwnQuestion: boolean,
): Generator<void, Paths, void> {
  const found = explainAll(graph, query(asked.user, asked.relation, true), MAX_WAYS);
  const distinct = [...new Map(found.ways.map((way) => keyed(withoutRoleParts(way, graph)))).values()];
  const hasMore = found.hasMore || distinct.length > MAX_PATHS;
  const ways = distinct.slice(0, MAX_PATHS);
  const objects = [...new Set(ways.flatMap((steps) => steps.flatMap(objectsIn)))];
  yield;
  if (isOwnQuestion) return { paths: ways, hasMore, objects };
  const hidden = new Set(objects.filter((one) => one !== asked.user && isNamed(one) && !sees(one)));
  if (hidden.size === 0) return { paths: ways, hasMore, objects };
  const shown = new Map<string, readonly Step[]>();
  for (const way of ways) {
    const { steps } = withoutNumbers(way, undefined, (one) => !hidden.has(one));
    const [key] = keyed(steps);
    if (!shown.has(key)) shown.set(key, steps);
  }
  return { paths: [...shown.values()], hasMore: false, objects };
}

function keyed(steps: readonly Step[]): [key: string, steps: readonly Step[]] {
  return [JSON.stringify(steps), steps];
}

/** The teams and roles through which a user holds a relation, or that they own the object or run the deployment. */
export function reasonsFor({ graph, query, sees }: Viewpoint, asked: Asked): Reason[] {
  const { ways } = explainAll(graph, query(asked.user, asked.relation, true), MAX_REASONS);
  const reasons = new Map<string, Reason>();
  for (const { tuple } of ways.flat()) {
    // The role of an assignment.
    if (tuple?.relation === 'role') {
      const object = sees(tuple.user) ? tuple.user : undefined;
      reasons.set(`role ${object}`, { kind: 'role', object });
      continue;
    }
    const kind = tuple && kindOf(tuple.object, tuple.relation);
    if (kind === undefined) continue;
    const isKnown = kind === 'platform' || kind === 'owner' || sees(tuple?.object ?? '');
    const reason = { kind, object: isKnown ? tuple?.object : undefined };
    reasons.set(`${kind} ${reason.object}`, reason);
  }
  return [...reasons.values()];
}

function kindOf(object: string, relation: string): Reason['kind'] | undefined {
  if (object.startsWith('team:') && relation === 'member') return 'team';
  if (object.startsWith('role:') && relation === 'assignee') return 'role';
  if (object.startsWith('platform:') && relation === 'admin') return 'platform';
  if (relation === 'identity') return 'owner';
  return relation === 'owner' && !object.startsWith('organization:') ? 'owner' : undefined;
}
