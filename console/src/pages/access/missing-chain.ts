import { type Explanation, type Link, type Node, nodeOf, verbOfTuple, withoutRelation } from './proof.ts';

export interface MissingLink extends Link {
  readonly isMissing: boolean;
}

export interface MissingChain {
  readonly start: Node;
  readonly links: readonly MissingLink[];
  /** The object that was asked about, if the chain leads there. */
  readonly end: Node | undefined;
}

/** From the subject of the first missing relationship to the object, through those that exist. */
export function chainOfMissing({ needs, trail, objectType, objectID }: Explanation): MissingChain | undefined {
  const [need] = needs;
  if (need === undefined) return undefined;
  const links: MissingLink[] = [
    { node: nodeOf(need.object, need.object_name), verb: verbOfTuple(need), isMissing: true },
  ];
  const target = `${objectType}:${objectID}`;
  const left = [...trail];
  for (let last = need.object; last !== target; ) {
    const next = left.find(({ user }) => withoutRelation(user) === last);
    if (next === undefined) break;
    left.splice(left.indexOf(next), 1);
    links.push({ node: nodeOf(next.object, next.object_name), verb: verbOfTuple(next), isMissing: false });
    last = next.object;
  }
  const end = links.at(-1)?.node;
  return {
    start: nodeOf(withoutRelation(need.user), need.user_name),
    links,
    end: end?.object === target ? end : undefined,
  };
}
