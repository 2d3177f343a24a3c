import { X509Certificate } from 'node:crypto';
import { invalidField } from '../base/errors.ts';
import { readLineField } from '../base/fields.ts';

/** In which way Kubernetes asks who may do what: its API server does, an agent writes its bindings, or neither. */
export const KUBERNETES_AUTHS = ['webhook', 'agent', 'none'] as const;
export type KubernetesAuth = (typeof KUBERNETES_AUTHS)[number];
/** What users are called in bindings, on clusters where another system authenticates them. */
export const KUBERNETES_USERNAMES = ['login', 'email'] as const;
export type KubernetesUsername = (typeof KUBERNETES_USERNAMES)[number];

export interface KubernetesSettings {
  readonly auth: KubernetesAuth;
  /** Undefined means the login. */
  readonly username?: KubernetesUsername | undefined;
  /** Before each name. */
  readonly prefix?: string | undefined;
}

/** How a cluster is reached and governed. Lists do not have it: certificates are long. */
export interface KubernetesAccess {
  /** PEM certificates that the API server is verified with, or empty. */
  readonly caBundle: string;
  readonly kubernetes: KubernetesSettings;
}

export interface KubernetesInput {
  readonly caBundle?: string | undefined;
  readonly kubernetes?:
    | { readonly [Key in keyof KubernetesSettings]?: KubernetesSettings[Key] | undefined }
    | undefined;
}

/** What a cluster has said about itself that differs from what is recorded. */
export interface ReportedAccess {
  readonly endpoint: string;
  readonly caBundle: string;
}

export const NO_ACCESS: KubernetesAccess = { caBundle: '', kubernetes: { auth: 'none' } };

const MAX_BUNDLE = 64 * 1024;
const MAX_PREFIX = 100;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\sA-Za-z0-9+/=]*-----END CERTIFICATE-----/g;
const HTTPS = /^https:\/\/(?:\[[0-9a-f:.]+\]|[0-9a-z._-]+)(?::\d{1,5})?(?:\/[\x21\x23-\x26\x28-\x5b\x5d-\x7e]*)?$/i;

/** What the input asks for: a field that is left out stays. */
export function accessOf(current: KubernetesAccess, { caBundle, kubernetes }: KubernetesInput): KubernetesAccess {
  const { auth, username, prefix } = { ...current.kubernetes, ...stated(kubernetes) };
  const read = prefix === undefined ? '' : readLineField('kubernetes.prefix', prefix, MAX_PREFIX);
  return {
    caBundle: caBundle === undefined ? current.caBundle : readCaBundle(caBundle),
    kubernetes: { auth, ...(username !== undefined && { username }), ...(read !== '' && { prefix: read }) },
  };
}

/** Certificates only. They end up in the kubeconfig of every user, so a private key must not get in by mistake. */
export function readCaBundle(text: string): string {
  if (text.length > MAX_BUNDLE) throw invalidField('caBundle', 'caBundle must have at most 64 KiB');
  if (text.includes('PRIVATE KEY')) {
    throw invalidField('caBundle', 'caBundle has a private key: send certificates only, and replace that key');
  }
  const blocks = text.match(CERTIFICATE) ?? [];
  if (text.replace(CERTIFICATE, '').trim() !== '' || !blocks.every(isCertificate)) {
    throw invalidField('caBundle', 'caBundle must be one or more PEM certificates, and nothing else');
  }
  return blocks.map((block) => `${block.replace(/\r/g, '')}\n`).join('');
}

/** The address of an API server as a cluster reports it. */
export function readHttpsEndpoint(text: string): string {
  const endpoint = readLineField('endpoint', text, 2048);
  if (!HTTPS.test(endpoint)) throw invalidField('endpoint', 'endpoint must be an https URL');
  return endpoint;
}

/** Undefined if kubectl cannot use it: a token must not be sent without TLS. */
export function serverOf(endpoint: string): string | undefined {
  const server = endpoint.includes('://') || endpoint === '' ? endpoint : `https://${endpoint}`;
  return HTTPS.test(server) ? server : undefined;
}

function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).raw.length > 0;
  } catch {
    return false;
  }
}

function stated(settings: KubernetesInput['kubernetes']): Partial<KubernetesSettings> {
  return Object.fromEntries(Object.entries(settings ?? {}).filter(([, value]) => value !== undefined));
}
