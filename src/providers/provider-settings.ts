import { AppError } from '../base/errors.ts';
import {
  type GroupMapping,
  LINKING,
  newFields,
  type Provider,
  readClientSecret,
  readProviderName,
} from './provider.ts';

/** A provider of the settings, whose secret is in the settings, too. */
export interface SettingsProvider {
  readonly provider: Provider;
  readonly clientSecret: string | undefined;
}

type Read = (value: unknown) => boolean;

const isText: Read = (value) => typeof value === 'string';
const isFlag: Read = (value) => typeof value === 'boolean';
const isCount: Read = (value) => value === null || typeof value === 'number';
const isTexts: Read = (value) => Array.isArray(value) && value.every(isText);
const isMappings: Read = (value) =>
  Array.isArray(value) &&
  value.every((one) => ['group', 'organization', 'team'].every((field) => isText(one?.[field])));

/** The fields of a provider in the settings: the same as over HTTP. */
const FIELDS: Readonly<Record<string, { readonly is: Read; readonly shape: string }>> = {
  name: { is: isText, shape: 'text' },
  display_name: { is: isText, shape: 'text' },
  issuer: { is: isText, shape: 'text' },
  client_id: { is: isText, shape: 'text' },
  client_secret: { is: isText, shape: 'text' },
  scopes: { is: isTexts, shape: 'a list of texts' },
  allowed_domains: { is: isTexts, shape: 'a list of texts' },
  create_accounts: { is: isFlag, shape: 'true or false' },
  linking: { is: (value) => LINKING.some((word) => word === value), shape: `one of ${LINKING.join(', ')}` },
  trust_email: { is: isFlag, shape: 'true or false' },
  trust_second_factor: { is: isFlag, shape: 'true or false' },
  group_claim: { is: isText, shape: 'text' },
  group_mappings: { is: isMappings, shape: 'a list of {group, organization, team}' },
  enabled: { is: isFlag, shape: 'true or false' },
  session_hours: { is: isCount, shape: 'a number or null' },
  session_idle_minutes: { is: isCount, shape: 'a number or null' },
  recheck_minutes: { is: isCount, shape: 'a number or null' },
  allow_remember: { is: isFlag, shape: 'true or false' },
};

/** The value of OIDC_PROVIDERS. A mistake in it stops the start. */
export function readSettings(list: readonly unknown[]): SettingsProvider[] {
  const read = list.map((item, place) => inWords(place, () => readOne(item)));
  const names = read.map(({ provider }) => provider.name);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) throw new AppError('invalid', `OIDC_PROVIDERS names ${twice} twice`);
  return read;
}

function readOne(item: unknown): SettingsProvider {
  if (typeof item !== 'object' || item === null) throw new AppError('invalid', 'it must be an object');
  const given = item as Readonly<Record<string, unknown>>;
  for (const [field, value] of Object.entries(given)) {
    const known = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
    if (!known) throw new AppError('invalid', `unknown field ${field}`);
    if (!known.is(value)) throw new AppError('invalid', `${field} must be ${known.shape}`);
  }
  for (const field of ['name', 'issuer', 'client_id']) {
    if (given[field] === undefined) throw new AppError('invalid', `${field} is required`);
  }
  const text = (field: string) => given[field] as string | undefined;
  const flag = (field: string) => given[field] as boolean | undefined;
  const count = (field: string) => given[field] as number | null | undefined;
  const name = readProviderName(text('name') ?? '');
  const fields = newFields({
    name,
    issuer: text('issuer') ?? '',
    clientId: text('client_id') ?? '',
    displayName: text('display_name'),
    scopes: given.scopes as string[] | undefined,
    allowedDomains: given.allowed_domains as string[] | undefined,
    createAccounts: flag('create_accounts'),
    linking: given.linking as Provider['linking'] | undefined,
    trustEmail: flag('trust_email'),
    trustSecondFactor: flag('trust_second_factor'),
    groupClaim: text('group_claim'),
    groupMappings: given.group_mappings as GroupMapping[] | undefined,
    enabled: flag('enabled'),
    sessionHours: count('session_hours'),
    sessionIdleMinutes: count('session_idle_minutes'),
    recheckMinutes: count('recheck_minutes'),
    allowRemember: flag('allow_remember'),
  });
  const secret = text('client_secret');
  const clientSecret = secret === undefined ? undefined : readClientSecret(secret);
  const rest = { id: 0n, origin: 'settings', version: 0, createdAt: null, updatedAt: null } as const;
  return { provider: { ...fields, ...rest, name, hasSecret: clientSecret !== undefined }, clientSecret };
}

function inWords<T>(place: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError('invalid', `OIDC_PROVIDERS[${place}] cannot be used: ${error.message}`);
  }
}
