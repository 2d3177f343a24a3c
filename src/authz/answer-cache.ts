import { allowed, check, type Graph } from '../../packages/rebac/src/rebac.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import { type AskedObject, nameOf, type ObjectRef } from './object-ref.ts';
import { holdsIn } from './places/namespaces.ts';

/** What each user may do on the objects they asked about, in one graph that has not changed since. */
interface Remembered {
  revision: number;
  readonly people: Map<bigint, Map<string, Map<bigint, readonly string[]>>>;
  /** Of questions about a single relation, by its name, the type and the namespace. */
  readonly verdicts: Map<bigint, Map<string, Map<bigint, boolean>>>;
}

const SHOWN = { prefix: 'can_' };
const MAX_ANSWERS = 100_000;

/** Queries the engine, and remembers its answers for as long as the graph does not change. */
export function createAnswerCache() {
  let graphs = new WeakMap<Graph, Remembered>();
  let count = 0;
  return { ask, holds };

  function ask(graph: Graph, personId: bigint, object: ObjectRef): readonly string[] {
    const answers = answersOf(graph, personId, object.type);
    const known = answers.get(object.id);
    if (known !== undefined) return known;
    const found =
      object.type === 'user'
        ? onThemselves(graph, personId)
        : allowed(graph, subjectOfPrincipal(personId), nameOf(object), SHOWN);
    // A query about the user's own account adds a temporary tuple. The graph stays as it was, but that counts as a
    // change.
    recall(graph).revision = graph.revision;
    // The count includes answers that were forgotten meanwhile, so too few are kept then, never too many.
    if (++count > MAX_ANSWERS) forget();
    else answers.set(object.id, found);
    return found;
  }

  /** Whether one relation is held. An API server asks the same few questions all the time. */
  function holds(graph: Graph, personId: bigint, relation: string, asked: AskedObject): boolean {
    const { type, id, namespace } = asked;
    const kinds = at(current(graph).verdicts, personId, () => new Map<string, Map<bigint, boolean>>());
    const key = namespace === undefined ? `${relation} ${type}` : `${relation} ${type} ${namespace}`;
    const verdicts = at(kinds, key, () => new Map<bigint, boolean>());
    const known = verdicts.get(id);
    if (known !== undefined) return known;
    const question = { user: subjectOfPrincipal(personId), relation, object: nameOf(asked) };
    const isHeld = namespace === undefined ? check(graph, question) : holdsIn(graph, question, namespace);
    if (++count > MAX_ANSWERS) forget();
    else verdicts.set(id, isHeld);
    return isHeld;
  }

  function forget(): void {
    graphs = new WeakMap();
    count = 0;
  }

  function answersOf(graph: Graph, personId: bigint, type: string): Map<bigint, readonly string[]> {
    const remembered = current(graph);
    const types = at(remembered.people, personId, () => new Map());
    return at(types, type, () => new Map());
  }

  /** Without what was found before the graph changed. */
  function current(graph: Graph): Remembered {
    const remembered = recall(graph);
    if (remembered.revision !== graph.revision) {
      remembered.people.clear();
      remembered.verdicts.clear();
      remembered.revision = graph.revision;
    }
    return remembered;
  }

  function recall(graph: Graph): Remembered {
    let remembered = graphs.get(graph);
    if (remembered === undefined) {
      remembered = { revision: graph.revision, people: new Map(), verdicts: new Map() };
      graphs.set(graph, remembered);
    }
    return remembered;
  }
}

function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

function onThemselves(graph: Graph, personId: bigint): readonly string[] {
  const user = subjectOfPrincipal(personId);
  return allowed(graph, user, user, { ...SHOWN, contextualTuples: [{ user, relation: 'identity', object: user }] });
}
