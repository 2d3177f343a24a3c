/** Objects of one type can hold these relations of the other type directly. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly relations: readonly string[];
}

/** The types of a model in the OpenFGA language, and what can be stored between them. */
export function edgesOf(text: string): { readonly names: readonly string[]; readonly edges: readonly Edge[] } {
  const names: string[] = [];
  const found = new Map<string, { from: string; to: string; relations: string[] }>();
  for (const line of text.split('\n')) {
    const type = /^type (\w+)/.exec(line)?.[1];
    if (type !== undefined) names.push(type);
    const [, relation = '', direct] = /^\s+define (\w+):.*?\[([^\]]*)\]/.exec(line) ?? [];
    const to = names.at(-1);
    if (direct === undefined || to === undefined) continue;
    for (const from of new Set(direct.split(',').map((one) => one.trim().replace(/[#:].*$/, '')))) {
      const edge = found.get(`${from} ${to}`) ?? { from, to, relations: [] };
      edge.relations.push(relation);
      found.set(`${from} ${to}`, edge);
    }
  }
  return { names, edges: [...found.values()] };
}
