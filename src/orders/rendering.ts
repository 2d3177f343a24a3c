import { type Chart, type Manifest, manifestsOf } from './charts.ts';
import { createOrderBudget, type OrderBudget } from './order-budget.ts';
import { toYaml } from './yaml-text.ts';

/** What one chart of an order installs. */
export interface ChartResources<Data> {
  readonly chart: string;
  readonly releaseName: string;
  readonly namespace: string;
  readonly crds: readonly never[];
  readonly resources: readonly { readonly filename: string; readonly key: string; readonly data: Data }[];
}

/**
 * All manifests of an order as one text. Throws if the order exceeds its budget. The largest order takes about 30 ms of
 * processor time, so it is rendered in one go.
 */
export function renderManifests(charts: readonly Chart[], budget = createOrderBudget()): string {
  return charts
    .flatMap((chart) => manifestsOf(chart, budget))
    .map((manifest) => toYaml(manifest, budget.text))
    .join('---\n');
}

export function renderResources(charts: readonly Chart[]): ChartResources<Manifest>[] {
  const budget = createOrderBudget();
  return resourcesOf(charts, budget, (manifest) => {
    // As JSON, an order is limited just as it is as YAML.
    toYaml(manifest, budget.text);
    return manifest;
  });
}

export function renderResourcesAsYaml(charts: readonly Chart[]): string {
  const budget = createOrderBudget();
  const rendered = resourcesOf(charts, budget, (manifest) => toYaml(manifest, budget.text));
  // The manifests have been counted. The lines around them are few, and indent each line by a few characters.
  return toYaml(rendered, () => undefined);
}

function resourcesOf<Data>(
  charts: readonly Chart[],
  budget: OrderBudget,
  show: (manifest: Manifest) => Data,
): ChartResources<Data>[] {
  return charts.map((chart) => ({
    chart: chart.name,
    releaseName: chart.releaseName,
    namespace: chart.namespace,
    crds: [],
    resources: manifestsOf(chart, budget).map((manifest) => {
      const { kind, metadata } = manifest;
      const filename = `${kind.toLowerCase()}-${metadata.name}.yaml`;
      return { filename, key: `${kind}/${metadata.namespace}/${metadata.name}`, data: show(manifest) };
    }),
  }));
}
