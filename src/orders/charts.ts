import { AppError } from '../base/errors.ts';
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
export function manifestsOf(chart: Chart): Manifest[] {
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
      values: patchedValues(chart),
    },
  };
  return sourceRef.url && sourceKind === 'HelmRepository' ? [repository, release] : [release];
}

/** The chart's values with the patch applied. */
export function patchedValues(chart: Chart): object {
  const values = structuredClone(chart.values ?? {});
  try {
    patchValues(values, chart.valuesPatch ?? []);
  } catch (error) {
    throw error instanceof PatchFault ? rejection(chart, error) : error;
  }
  return values;
}

function rejection(chart: Chart, cause: PatchFault): AppError {
  const message = `valuesPatch of ${chart.releaseName}: ${cause.message}`;
  return new AppError('malformed', message, { cause, errors: [{ field: 'spec.items.chart.valuesPatch', message }] });
}
