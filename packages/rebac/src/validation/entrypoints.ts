import type { RewriteJson, TypeJson } from '../syntax.ts';
import { type Fault, operandsOf, restrictionsOf, type TypeTable } from './model-faults.ts';

interface Verdict {
  readonly enters: boolean;
  readonly loops: boolean;
}

/** By type and relation: visited, and whether an object can be assigned to it directly. */
type Visited = Map<string, Map<string, boolean>>;

const ENTERS: Verdict = { enters: true, loops: false };
const ENDS: Verdict = { enters: false, loops: false };

/**
 * A relation that no tuple can ever give to a user is a mistake, and one that is computed from itself has no meaning.
 * The search is that of OpenFGA's server, including what it regards as visited: a model that the server rejects is
 * rejected here.
 */
export function* entrypointFaults(table: TypeTable): IterableIterator<Fault> {
  const search = new Search(table);
  for (const [type, json] of table.types.entries()) {
    for (const [relation, rewrite] of Object.entries(json.relations ?? {})) {
      const { enters, loops } = search.from(json.type, relation, rewrite, new Map());
      const circular = enters && isCircular(table, json.type, rewrite, new Set([relation]));
      if (enters && !circular) continue;
      const why = loops || circular ? 'potential loop' : 'no entrypoint';
      yield { type, relation, message: `\`${relation}\` is an impossible relation for \`${json.type}\` (${why}).` };
    }
  }
}

class Search {
  readonly #table: TypeTable;
  readonly #types: ReadonlyMap<string, TypeJson>;

  constructor(table: TypeTable) {
    this.#table = table;
    this.#types = new Map(table.types.map((type) => [type.type, type]));
  }

  /** Whether some tuple can lead to the relation. The copy of `before` is shallow, as in the server. */
  from(type: string, relation: string, rewrite: RewriteJson, before: Visited): Verdict {
    const visited: Visited = new Map(before);
    const ofType = visited.get(type);
    if (ofType === undefined) visited.set(type, new Map([[relation, false]]));
    else ofType.set(relation, false);
    if (rewrite.this) return this.#direct(type, relation, visited);
    if (rewrite.computedUserset) {
      const name = rewrite.computedUserset.relation ?? '';
      const known = visited.get(type)?.get(name);
      if (known !== undefined) return { enters: known, loops: true };
      return this.from(type, name, this.#table.relation(type, name) ?? {}, visited);
    }
    if (rewrite.tupleToUserset) return this.#parents(type, rewrite, visited);
    const operand = (each: RewriteJson): Verdict => this.from(type, relation, each, before);
    return rewrite.union ? any(operandsOf(rewrite), operand) : every(operandsOf(rewrite), operand);
  }

  #direct(type: string, relation: string, visited: Visited): Verdict {
    for (const subject of restrictionsOf(this.#types.get(type) as TypeJson, relation)) {
      if (!subject.relation || subject.wildcard) {
        visited.get(type)?.set(relation, true);
        return ENTERS;
      }
      if (visited.get(subject.type)?.has(subject.relation)) continue;
      const rewrite = this.#table.relation(subject.type, subject.relation) ?? {};
      if (this.from(subject.type, subject.relation, rewrite, visited).enters) return ENTERS;
    }
    return ENDS;
  }

  #parents(type: string, { tupleToUserset }: RewriteJson, visited: Visited): Verdict {
    const name = tupleToUserset?.computedUserset?.relation ?? '';
    const tupleset = tupleToUserset?.tupleset?.relation ?? '';
    for (const parent of restrictionsOf(this.#types.get(type) as TypeJson, tupleset)) {
      const rewrite = this.#table.relation(parent.type, name);
      if (rewrite === undefined) continue;
      const known = visited.get(parent.type)?.get(name);
      if (known ?? this.from(parent.type, name, rewrite, visited).enters) return ENTERS;
    }
    return ENDS;
  }
}

function any(operands: readonly RewriteJson[], verdict: (operand: RewriteJson) => Verdict): Verdict {
  let loops = false;
  for (const operand of operands) {
    const found = verdict(operand);
    if (found.enters) return ENTERS;
    loops ||= found.loops;
  }
  return { enters: false, loops };
}

function every(operands: readonly RewriteJson[], verdict: (operand: RewriteJson) => Verdict): Verdict {
  for (const operand of operands) {
    const found = verdict(operand);
    if (!found.enters) return found;
  }
  return ENTERS;
}

/** A relation is computed from itself, by way of other relations of the same object. */
function isCircular(table: TypeTable, type: string, rewrite: RewriteJson, above: ReadonlySet<string>): boolean {
  if (!rewrite.computedUserset) {
    return operandsOf(rewrite).some((operand) => isCircular(table, type, operand, above));
  }
  const name = rewrite.computedUserset.relation ?? '';
  if (above.has(name)) return true;
  return isCircular(table, type, table.relation(type, name) ?? {}, new Set([...above, name]));
}
