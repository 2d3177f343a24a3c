import type { ModelJson, RewriteJson } from '../src/syntax.ts';
import type { Tuple } from '../src/tuple.ts';

/** Whether the answer to the question can depend on itself: `object#relation` leads back to something on the way. */
export function hasCircle(
  model: ModelJson,
  tuples: readonly Tuple[],
  { object, relation }: { readonly object: string; readonly relation: string },
): boolean {
  const types = new Map(model.type_definitions.map((type) => [type.type, type]));
  const byNode = Map.groupBy(tuples, (tuple) => `${tuple.object}#${tuple.relation}`);
  const open = new Set<string>();
  const closed = new Set<string>();

  function isCircular(node: string): boolean {
    if (open.has(node)) return true;
    if (closed.has(node)) return false;
    open.add(node);
    const [place = '', name = ''] = node.split('#');
    const rewrite = types.get(place.slice(0, place.indexOf(':')))?.relations?.[name];
    const found = rewrite !== undefined && next(place, name, rewrite).some(isCircular);
    open.delete(node);
    closed.add(node);
    return found;
  }

  function next(place: string, name: string, rewrite: RewriteJson): string[] {
    const parts = [
      ...(rewrite.union?.child ?? []),
      ...(rewrite.intersection?.child ?? []),
      ...(rewrite.difference ? [rewrite.difference.base ?? {}, rewrite.difference.subtract ?? {}] : []),
    ];
    if (parts.length > 0) return parts.flatMap((part) => next(place, name, part));
    if (rewrite.computedUserset) return [`${place}#${rewrite.computedUserset.relation}`];
    if (rewrite.tupleToUserset) {
      const parents = byNode.get(`${place}#${rewrite.tupleToUserset.tupleset?.relation}`) ?? [];
      return parents.map(({ user }) => `${user}#${rewrite.tupleToUserset?.computedUserset?.relation}`);
    }
    return (byNode.get(`${place}#${name}`) ?? []).map(({ user }) => user).filter((user) => user.includes('#'));
  }

  return isCircular(`${object}#${relation}`);
}
