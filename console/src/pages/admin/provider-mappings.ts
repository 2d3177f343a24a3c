/** Mappings of groups, one on each line: `ops = acme/Operators`. Groups may contain anything but a line break. */
export interface Mapping {
  readonly group: string;
  readonly organization: string;
  readonly team: string;
}

export function textOf(mappings: readonly Mapping[]): string {
  return mappings.map(({ group, organization, team }) => `${group} = ${organization}/${team}`).join('\n');
}

/** The mappings, or the first line that is none. */
export function readMappings(text: string): readonly Mapping[] | { readonly wrong: string } {
  const found: Mapping[] = [];
  for (const line of linesOf(text)) {
    const [, group = '', organization = '', team = ''] = /^(.+?)\s*=\s*([^/=]+?)\s*\/\s*([^=]+)$/.exec(line) ?? [];
    if (team === '') return { wrong: line };
    found.push({ group, organization, team });
  }
  return found;
}

export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
