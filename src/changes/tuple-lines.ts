import { usersIn } from '../../packages/rebac/src/rebac.ts';
import type { GraphTuple } from './graph-tuple.ts';

/**
 * Tuples as a text with lines such as `team:3 member user:7 team:3`: object, relation, user and source. A line may list
 * several users, as `user:7,8`. No name can contain a space, a comma or a line break. Code that builds a graph reads
 * the text itself, which is faster.
 */
export class TupleLines implements Iterable<GraphTuple> {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  *[Symbol.iterator](): IterableIterator<GraphTuple> {
    const { text } = this;
    for (let at = 0; at < text.length; ) {
      const object = text.indexOf(' ', at);
      const relation = text.indexOf(' ', object + 1);
      const user = text.indexOf(' ', relation + 1);
      const found = text.indexOf('\n', user + 1);
      const source = found === -1 ? text.length : found;
      const tuple = {
        object: text.slice(at, object),
        relation: text.slice(object + 1, relation),
        source: text.slice(user + 1, source),
      };
      for (const one of usersIn(text.slice(relation + 1, user))) yield { ...tuple, user: one };
      at = source + 1;
    }
  }
}
