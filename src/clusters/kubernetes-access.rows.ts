import { hash } from 'node:crypto';
import type { KubernetesAccess, KubernetesAuth, KubernetesUsername, ReportedAccess } from './kubernetes-access.ts';

/** Only where one cluster is read: a certificate is longer than everything else about a cluster. */
export const ACCESS_COLUMNS = ['ca_bundle', 'kube_auth', 'kube_username', 'kube_prefix'] as const;

export interface AccessRow {
  readonly ca_bundle: string;
  readonly kube_auth: KubernetesAuth;
  readonly kube_username: KubernetesUsername | null;
  readonly kube_prefix: string | null;
  readonly reported_endpoint: string;
  readonly reported_ca_bundle: string;
}

export function toAccess(row: AccessRow): KubernetesAccess & { readonly reported: ReportedAccess } {
  const { kube_auth: auth, kube_username: username, kube_prefix: prefix } = row;
  return {
    caBundle: row.ca_bundle,
    kubernetes: { auth, ...(username !== null && { username }), ...(prefix !== null && { prefix }) },
    reported: { endpoint: row.reported_endpoint, caBundle: row.reported_ca_bundle },
  };
}

/** In the order of the columns. */
export function accessValues({ caBundle, kubernetes }: KubernetesAccess): unknown[] {
  return [caBundle, kubernetes.auth, kubernetes.username ?? null, kubernetes.prefix ?? null];
}

/** As the audit log shows it: the fields that are set. Certificates are long, so their hash stands for them. */
export function accessState({ caBundle, kubernetes }: KubernetesAccess): object {
  const isSet = Object.keys(kubernetes).length > 1 || kubernetes.auth !== 'none';
  return { ...(caBundle !== '' && { caBundle: bundleHash(caBundle) }), ...(isSet && { kubernetes }) };
}

export function bundleHash(caBundle: string): string {
  return `sha256:${hash('sha256', caBundle)}`;
}
