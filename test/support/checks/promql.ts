/** A file with alert rules of Prometheus. */
export interface Rules {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly query?: string | { readonly query: string } }[] };
}

/** Everything in a dashboard that Grafana asks Prometheus for. */
export function expressionsOf({ panels, templating }: Dashboard): string[] {
  const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const queries = templating.list.flatMap(({ query }) => (typeof query === 'object' ? [query.query] : []));
  return [...shown, ...queries.map((query) => query.replace(/^label_values\(([^,{]+)(\{[^}]*\})?,.*$/, '$1$2{}'))];
}

/** The metrics that an expression selects, with the labels by which it does. In our files, all have braces. */
export function seriesIn(expression: string): { readonly name: string; readonly labels: readonly string[] }[] {
  return [...expression.matchAll(/([a-z_][a-z0-9_]*)\{([^}]*)\}/g)].map(([, name = '', inside = '']) => ({
    name,
    labels: [...inside.matchAll(/([a-z_]+) *(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  }));
}
