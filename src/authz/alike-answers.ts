import {
  type Graph,
  isUnlikeOthers,
  nodeOf,
  textOfObject,
  textOfSubject,
  textsByObject,
} from '../../packages/rebac/src/rebac.ts';

/** Answers a question about one object, or about one user, in a graph. */
export type Ask<T> = (graph: Graph, name: string) => T;

/**
 * The same question about many objects, for one user. An organization has tens of thousands of clusters about which the
 * same is stated, so it is asked about one of them. What was found is forgotten when the graph changes.
 */
export function createObjectAnswers<T extends object | boolean>(user: string, ask: Ask<T>): Ask<T> {
  let stated: ReadonlyMap<number, string> = new Map();
  return remembering(
    (graph, object) => {
      const node = nodeOf(graph, object);
      if (node === -1 || stated.has(node) || isUnlikeOthers(graph, node)) return undefined;
      return `${object.slice(0, object.indexOf(':'))} ${textOfObject(graph, node)}`;
    },
    ask,
    (graph) => {
      stated = textsByObject(graph, nodeOf(graph, user));
    },
  );
}

/** The same question about many users, and one object. Most users are in the same few teams as other users. */
export function createUserAnswers<T extends object | boolean>(ask: Ask<T>): Ask<T> {
  return remembering((graph, user) => textOfSubject(graph, nodeOf(graph, user)), ask);
}

/** Whatever has the same key gets the same answer. */
function remembering<T extends object | boolean>(
  keyOf: Ask<string | undefined>,
  ask: Ask<T>,
  begin?: (graph: Graph) => void,
): Ask<T> {
  let known = new Map<string, T>();
  let asked: Graph | undefined;
  let revision = -1;
  return (graph, name) => {
    if (graph !== asked || graph.revision !== revision) {
      known = new Map();
      asked = graph;
      revision = graph.revision;
      begin?.(graph);
    }
    const key = keyOf(graph, name);
    const found = key === undefined ? undefined : known.get(key);
    if (found !== undefined) return found;
    const answer = ask(graph, name);
    if (key !== undefined) known.set(key, answer);
    return answer;
  };
}
