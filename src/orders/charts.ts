import { AppError } from '../base/errors.ts';
import { copyValue } from './json-value.ts';
import { type OrderBudget, tooLarge, WorkExceeded } from './order-budget.ts';
import { PatchFault, type PatchStep, patchValues } from './values-patch.ts';

export interface SourceRef {
  readonly apiGroup?: string | null;
  readonly kind?: string | null;
  readonly namespace?: string | null;
  readonly name: string;
  /** The address of the charts. Without it, the source is assumed to exist in the cluster already. */
  readonly url?: string | null;
}

export interface Chart {
  readonly name: string;
  readonly sourceRef: SourceRef;
  readonly version: string;
  readonly releaseName: string;
  readonly namespace: string;
  readonly values?: object | null;
  readonly valuesPatch?: readonly PatchStep[] | null;
}

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: object;
}

const SOURCE_NAMESPACE = 'flux-system';

/** The Flux resources that install a chart: its repository, if its address is known, and its release. */
export function manifestsOf(chart: Chart, budget: OrderBudget): Manifest[] {
  const { sourceRef, releaseName, namespace } = chart;
  const sourceNamespace = sourceRef.namespace || SOURCE_NAMESPACE;
  const sourceKind = sourceRef.kind || 'HelmRepository';
  const repository: Manifest = {
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind: 'HelmRepository',
    metadata: { name: sourceRef.name, namespace: sourceNamespace },
    spec: { interval: '1h', url: sourceRef.url, ...(sourceRef.url?.startsWith('oci:') && { type: 'oci' }) },
  };
  const release: Manifest = {
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: { name: releaseName, namespace },
    spec: {
      interval: '30m',
      releaseName,
      targetNamespace: namespace,
      install: { createNamespace: true },
      chart: {
        spec: {
          chart: chart.name,
          version: chart.version,
          sourceRef: { kind: sourceKind, name: sourceRef.name, namespace: sourceNamespace },
        },
      },
      values: patchedValues(chart, budget),
    },
  };
  return sourceRef.url && sourceKind === 'HelmRepository' ? [repository, release] : [release];
}

/** The chart's values with the patch applied. The chart keeps its own: a patch changes a copy. */
function patchedValues(chart: Chart, budget: OrderBudget): object {
  const steps = chart.valuesPatch ?? [];
  if (steps.length === 0) return chart.values ?? {};
  try {
    const values = copyValue(chart.values ?? {}, 0, budget) as Record<string, unknown>;
    patchValues(values, steps, budget);
    return values;
  } catch (error) {
    if (error instanceof WorkExceeded)
      throw tooLarge('the compared, moved and copied values of the order are too large');
    throw error instanceof PatchFault ? rejection(chart, error) : error;
  }
}

function rejection(chart: Chart, cause: PatchFault): AppError {
  const { reason } = cause;
  const message = `valuesPatch of ${chart.releaseName}: ${cause.message}`;
  const errors = [{ field: 'spec.items.chart.valuesPatch', message }];
  return new AppError('malformed', message, { cause, reason, errors });
}
