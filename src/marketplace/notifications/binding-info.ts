import { type MarketplaceName, profileOf } from '../marketplaces.ts';
import { isObject, type Json, type JsonObject } from './canonical-json.ts';
import { readDomains, readOptions } from './options.ts';
import { invalid } from './rejection.ts';

/**
 * What a customer binds an installer with. The password and the options may be secret, so they are passed separately.
 */
export interface BindingInfo {
  readonly installerId: string;
  readonly clusterId: string | null;
  readonly cloudAccount: string | null;
  readonly adminUsername: string | null;
  readonly domains: readonly string[];
}

export interface BindingReading {
  readonly info: BindingInfo;
  readonly adminPassword: string | undefined;
  readonly options: JsonObject;
}

const CLUSTER_ID = /^[A-Za-z0-9._:-]{1,253}$/;
const INSTALLER_ID = /^[\x21-\x7e]{1,200}$/;
const MAX_TEXT = 256;

export function readBindingInfo(value: Json | undefined, marketplace: MarketplaceName): BindingReading {
  if (!isObject(value)) throw invalid('invalid_binding', 'bindingInfo is required and must be an object');
  const fields = ignoringCase(value);
  const { mustNameCluster } = profileOf(marketplace);
  checkMarketplace(text(fields, 'marketplace'), marketplace);
  const installerId = text(fields, 'installerId');
  if (installerId === undefined || !INSTALLER_ID.test(installerId)) {
    throw invalid('invalid_binding', 'bindingInfo.installerId is required');
  }
  // A script whose variable is empty sends an empty string. If the cluster is optional, that is the same as leaving it
  // out.
  const clusterId = mustNameCluster ? text(fields, 'clusterId') : text(fields, 'clusterId') || undefined;
  if (clusterId === undefined ? mustNameCluster : !CLUSTER_ID.test(clusterId)) {
    throw invalid('invalid_binding', 'bindingInfo.clusterId must have 1 to 253 letters, digits, ".", "_", ":" or "-"');
  }
  const info = {
    installerId,
    clusterId: clusterId ?? null,
    cloudAccount: text(fields, 'cloudAAccountID') ?? null,
    adminUsername: text(fields, 'adminUsername') || null,
    domains: readDomains(fields.get('domainwhitelist')),
  };
  const options = readOptions(fields.get('options'));
  return { info, options, adminPassword: text(fields, 'adminPassword') || undefined };
}

/** Real callers write `installerID`. A key that appears twice is ambiguous, so the whole object is rejected. */
function ignoringCase(value: JsonObject): ReadonlyMap<string, Json> {
  const fields = new Map<string, Json>();
  for (const [key, item] of Object.entries(value)) {
    const name = key.toLowerCase();
    if (fields.has(name)) {
      throw invalid('invalid_binding', `bindingInfo has the key ${JSON.stringify(key.slice(0, 100))} more than once`);
    }
    fields.set(name, item);
  }
  return fields;
}

function checkMarketplace(named: string | undefined, marketplace: MarketplaceName): void {
  if (named === undefined ? profileOf(marketplace).mustNameMarketplace : named !== marketplace) {
    throw invalid('wrong_marketplace', `bindingInfo.marketplace must be ${marketplace}`);
  }
}

function text(fields: ReadonlyMap<string, Json>, name: string): string | undefined {
  const value = fields.get(name.toLowerCase()) ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw invalid('invalid_binding', `bindingInfo.${name} must be a string`);
  if (value.length > MAX_TEXT) throw invalid('invalid_binding', `bindingInfo.${name} is too long`);
  return value;
}
