import { AppError } from '../base/errors.ts';
import { readGoogleKey, UnusableKey } from './google-key.ts';

/** What it takes to list the buckets of one storage service. */
export type StorageAccount = S3Account | AzureAccount | GoogleAccount;

export interface S3Account {
  readonly kind: 's3';
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
}

export interface AzureAccount {
  readonly kind: 'azure';
  readonly endpoint: string;
  readonly account: string;
  readonly key: string;
}

export interface GoogleAccount {
  readonly kind: 'google';
  readonly endpoint: string | undefined;
  readonly project: string;
  readonly email: string;
  readonly privateKey: string;
  readonly tokenUri: string | undefined;
}

type Block = Readonly<Record<string, unknown>>;
type Kind = StorageAccount['kind'];

const KINDS: Readonly<Record<string, Kind>> = {
  aws: 's3',
  s3: 's3',
  cloudflarestorage: 's3',
  hetznerstorage: 's3',
  azure: 'azure',
  azurestorage: 'azure',
  gcp: 'google',
  gcs: 'google',
  gce: 'google',
  googlecloud: 'google',
};
/** Every name of a cloud, in lower case. */
export const CLOUD_NAMES = Object.keys(KINDS);
/** Nothing in a credential is longer, except the key file of a service account. */
const MAX_TEXT = 8192;
const MAX_KEY_FILE = 32 * 1024;
const HOST_PART = /^[0-9A-Za-z][0-9A-Za-z-]{0,62}$/;

/** The protocol that a cloud uses; undefined if there is no such cloud. */
export function kindOfCloud(cloud: string): Kind | undefined {
  const name = cloud.toLowerCase();
  return Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
}

/** The account that a credential's spec describes. If something is missing, throws an error that names it. */
export function accountOf(kind: Kind, spec: Block, project: string | undefined): StorageAccount {
  switch (kind) {
    case 's3':
      return s3Account(spec);
    case 'azure':
      return azureAccount(spec);
    case 'google':
      return googleAccount(spec, project);
  }
}

/** The values of an account that must never be revealed. */
export function secretsOf(account: StorageAccount): string[] {
  switch (account.kind) {
    case 's3':
      return [account.secretAccessKey, account.sessionToken ?? ''];
    case 'azure':
      return [account.key];
    case 'google':
      return [account.privateKey];
  }
}

function s3Account(spec: Block): S3Account {
  const type = textOf(spec, 'type')?.toLowerCase();
  const name = ['cloudflareStorage', 'hetznerStorage', 'aws', 's3'].find((one) => blockOf(spec, one)) ?? 'aws';
  // Keys may also be at the top level, as is common for S3-compatible services.
  const block = blockOf(spec, name) ?? spec;
  const account = textOf(block, 'accountID');
  const region = textOf(block, 'region') ?? textOf(spec, 'region');
  const own =
    name === 'cloudflareStorage' || type === 'cloudflarestorage'
      ? { endpoint: hostOf(account, `${name}.accountID`, 'r2.cloudflarestorage.com'), region: 'auto' }
      : name === 'hetznerStorage' || type === 'hetznerstorage'
        ? { endpoint: hostOf(region ?? 'fsn1', 'region', 'your-objectstorage.com'), region: 'fsn1' }
        : { endpoint: undefined, region: 'us-east-1' };
  return {
    kind: 's3',
    endpoint: endpointOf(block, spec) ?? own.endpoint ?? awsEndpoint(region ?? own.region),
    region: region ?? own.region,
    accessKeyId: need(block, 'accessKeyID', name),
    secretAccessKey: need(block, 'secretAccessKey', name),
    sessionToken: textOf(block, 'sessionToken'),
  };
}

function azureAccount(spec: Block): AzureAccount {
  const block = blockOf(spec, 'azureStorage') ?? blockOf(spec, 'azure') ?? {};
  const account = need(block, 'account', 'azureStorage');
  return {
    kind: 'azure',
    endpoint: endpointOf(block, spec) ?? hostOf(account, 'azureStorage.account', 'blob.core.windows.net'),
    account,
    key: need(block, 'key', 'azureStorage'),
  };
}

/** Takes only these fields: other kinds of key files name programs to run, files to read and addresses to call. */
function googleAccount(spec: Block, wanted: string | undefined): GoogleAccount {
  const block = blockOf(spec, 'googleCloud') ?? {};
  const key = readKeyFile(need(block, 'serviceAccount', 'googleCloud', MAX_KEY_FILE));
  const project = wanted ?? textOf(block, 'projectID') ?? textOf(key, 'project_id');
  if (!project) throw lacking('googleCloud.projectID');
  return {
    kind: 'google',
    endpoint: endpointOf(block, spec),
    project,
    email: need(key, 'client_email', 'googleCloud.serviceAccount'),
    privateKey: privateKeyOf(need(key, 'private_key', 'googleCloud.serviceAccount', MAX_KEY_FILE)),
    tokenUri: textOf(key, 'token_uri') && address(textOf(key, 'token_uri') ?? ''),
  };
}

function privateKeyOf(pem: string): string {
  try {
    return readGoogleKey(pem);
  } catch (error) {
    throw error instanceof UnusableKey ? unusable(error.message) : error;
  }
}

function readKeyFile(text: string): Block {
  try {
    const key: unknown = JSON.parse(text);
    if (typeof key === 'object' && key !== null) return key as Block;
  } catch {
    // The parser's error is dropped, because it repeats the key.
  }
  throw unusable('googleCloud.serviceAccount is not the JSON key of a service account');
}

function blockOf(spec: Block, name: string): Block | undefined {
  const block = Object.hasOwn(spec, name) ? spec[name] : undefined;
  return typeof block === 'object' && block !== null ? (block as Block) : undefined;
}

/** Keys are used for synchronous cryptography, and everything else is sent, so nothing may be of any length. */
function textOf(block: Block, name: string, max = MAX_TEXT): string | undefined {
  const value = Object.hasOwn(block, name) ? block[name] : undefined;
  if (typeof value !== 'string' || value === '') return undefined;
  if (value.length > max) throw unusable(`${name} is longer than ${max} characters`);
  return value;
}

function need(block: Block, name: string, where: string, max = MAX_TEXT): string {
  const value = textOf(block, name, max);
  if (value === undefined) throw lacking(`${where}.${name}`);
  return value;
}

function endpointOf(block: Block, spec: Block): string | undefined {
  const text = textOf(block, 'endpoint') ?? textOf(spec, 'endpoint');
  return text === undefined ? undefined : address(text);
}

function address(text: string): string {
  const url = URL.parse(/^\w+:\/\//.test(text) ? text : `https://${text}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw unusable('the endpoint must be an http or https URL without a user name or password');
  }
  return url.href.replace(/\/+$/, '');
}

/** A name from the caller that becomes part of a host name must not lead to another host. */
function hostOf(name: string | undefined, where: string, domain: string): string {
  if (name === undefined) throw lacking(where);
  if (!HOST_PART.test(name)) throw unusable(`${where} cannot be part of a host name`);
  return `https://${name}.${domain}`;
}

function awsEndpoint(region: string): string {
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return hostOf(region, 'region', domain).replace('https://', 'https://s3.');
}

function lacking(what: string): AppError {
  return unusable(`${what} is missing`);
}

function unusable(why: string): AppError {
  const message = `the credential cannot be used to list buckets: ${why}`;
  return new AppError('malformed', message, { errors: [{ field: 'credential', message }] });
}
