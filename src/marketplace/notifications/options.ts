import { isIP } from 'node:net';
import { canonicalJson, depthOf, isObject, type Json, type JsonObject, without } from './canonical-json.ts';
import { invalid } from './rejection.ts';

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 32;
const MAX_HOSTS = 1000;
const LABEL = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/** The administrator's password belongs in `adminPassword` only, never in the options or in an archive. */
export const ADMIN_PASSWORD = /^admin[-_ ]?password$/i;

/** Options belong to the customer: any object is accepted, but the values that our installer uses must be valid. */
export function readOptions(value: Json | undefined): JsonObject {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw invalid('invalid_options', 'options must be an object');
  if (Buffer.byteLength(canonicalJson(value)) > MAX_BYTES) {
    throw invalid('invalid_options', 'options are larger than 64 KiB');
  }
  if (depthOf(value) > MAX_DEPTH) {
    throw invalid('invalid_options', `options are nested more than ${MAX_DEPTH} levels deep`);
  }
  const options = without(value, ADMIN_PASSWORD) as JsonObject;
  checkDns(options);
  return options;
}

function checkDns(options: JsonObject): void {
  const infra = section(options, 'infra', 'infra');
  const dns = section(infra, 'dns', 'infra.dns');
  const provider = dns?.provider;
  if (provider !== undefined && provider !== null && typeof provider !== 'string') {
    throw invalid('invalid_options', 'options.infra.dns.provider must be a string');
  }
  const targets = dns?.targetIPs ?? undefined;
  if (targets !== undefined && !(Array.isArray(targets) && targets.every(isAddress))) {
    throw invalid('invalid_options', 'options.infra.dns.targetIPs must be a list of IP addresses');
  }
  if (provider === 'none' && !(Array.isArray(targets) && targets.length > 0)) {
    throw invalid('invalid_options', 'options.infra.dns.targetIPs must not be empty when the provider is none');
  }
}

function section(parent: JsonObject | undefined, name: string, path: string): JsonObject | undefined {
  const value = parent?.[name];
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw invalid('invalid_options', `options.${path} must be an object`);
  return value;
}

function isAddress(value: Json): boolean {
  return typeof value === 'string' && !value.includes('%') && isIP(value) !== 0;
}

/** Host names whose users may sign in. */
export function readDomains(value: Json | undefined): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > MAX_HOSTS || !value.every(isHostName)) {
    throw invalid('invalid_binding', 'domainWhiteList must be a list of host names');
  }
  return value as string[];
}

function isHostName(value: Json): boolean {
  if (typeof value !== 'string' || value.length > 253) return false;
  return value.split('.').every((label) => LABEL.test(label));
}
