import type { Answer } from '../../../../client/client.ts';
import { titleOf } from '../../../../client/object-kinds.ts';

export type Explanation = Answer<'GET /authz/objects/{objectType}/{objID}/explain'>;
export type Remedy = NonNullable<Explanation['remedies']>[number];
export type Step = Explanation['steps'][number];
/** One way from the object to the user. */
export type Path = readonly Step[];

/** One box of the picture. */
export interface Node {
  readonly object: string;
  readonly name: string;
  readonly kind: string;
}

/** The boxes from the person to the object, and what stands on the arrow before each. */
export interface Link {
  readonly node: Node;
  /** How the box before leads to this one. */
  readonly verb: string;
}

const KINDS: Readonly<Record<string, string>> = {
  user: 'person',
  platform: 'this deployment',
};

/** Only the steps that rest on a row of the database are arrows. Rules in between are in the list below the picture. */
export function chainOf(steps: Path): { start: Node | undefined; links: readonly Link[] } {
  const rows = steps.filter(({ tuple }) => tuple !== null).reverse();
  const first = rows[0];
  if (first?.tuple == null) return { start: undefined, links: [] };
  const links: Link[] = [];
  let before = withoutRelation(first.tuple.user);
  const start = nodeOf(before, first.subject_name);
  for (const step of rows) {
    if (step.tuple === null || withoutRelation(step.tuple.user) !== before) continue;
    before = step.tuple.object;
    links.push({ node: nodeOf(before, step.name), verb: verbOf(step) });
  }
  return { start, links };
}

/** A proof that branches, or excludes a user, is more than one path; the list shows all of it. */
export function isOnePath(steps: Path): boolean {
  return !steps.some(({ rule }) => rule === 'and' || rule === 'but not');
}

/** Paths that look the same, because they differ in a rule on the way only. */
export interface Way {
  readonly path: Path;
  /** What the other paths rest on besides. */
  readonly also: readonly string[];
}

export function waysOf(paths: readonly Path[]): readonly Way[] {
  const ways = new Map<string, { path: Path; also: Set<string> }>();
  for (const path of paths) {
    const { start, links } = chainOf(path);
    const isDrawn = isOnePath(path) && start !== undefined;
    const key = isDrawn ? JSON.stringify([start, links]) : String(ways.size);
    const known = ways.get(key);
    if (known === undefined) ways.set(key, { path, also: new Set() });
    else {
      const texts = new Set(known.path.map(({ text }) => text));
      for (const { text } of path) if (!texts.has(text)) known.also.add(text);
    }
  }
  return [...ways.values()].map(({ path, also }) => ({ path, also: [...also] }));
}

/** A team that the person is in, and whether the answer would still be yes without it. */
export interface TeamOnPaths {
  readonly object: string;
  readonly name: string;
  readonly isNeeded: boolean;
}

export function teamsOn(paths: readonly Path[]): readonly TeamOnPaths[] {
  const found = paths.map(
    (path) =>
      new Map(
        path.flatMap(({ tuple, name }) =>
          tuple?.relation === 'member' && tuple.object.startsWith('team:') ? [[tuple.object, name] as const] : [],
        ),
      ),
  );
  const names = new Map(found.flatMap((teams) => [...teams]));
  return [...names].map(([object, name]) => ({ object, name, isNeeded: found.every((teams) => teams.has(object)) }));
}

export function nodeOf(object: string, name: string): Node {
  const type = object.slice(0, object.indexOf(':'));
  return { object, name: name || object, kind: KINDS[type] ?? titleOf(type) };
}

export function withoutRelation(subject: string): string {
  return subject.split('#')[0] ?? subject;
}

function verbOf({ tuple, relation }: Step): string {
  return verbOfTuple({ user: tuple?.user ?? '', relation, object: tuple?.object ?? '' });
}

/** What one relationship says, between the boxes of its two sides. */
export function verbOfTuple({ user, relation, object }: NonNullable<Step['tuple']>): string {
  const [subject = '', through] = user.split('#');
  if (relation === 'member' && object.startsWith('team:')) return 'is in';
  if (relation === 'assignee') return 'has the role';
  if (object.startsWith('platform:')) return 'administers';
  if (subject.startsWith('platform:')) return 'rules over';
  if (through === 'assignee') return 'grants in';
  if (through === 'member') return `makes ${relation}s of`;
  if (relation === 'owner') return 'owns';
  if (subject.startsWith('organization:')) return 'owns';
  return relation.replaceAll('_', ' ');
}
