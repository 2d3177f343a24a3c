import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { isOverlap } from '../domain-pattern.ts';
import type { Setting } from './setting-kinds.ts';
import { SETTINGS } from './settings.ts';

type Settings = typeof SETTINGS;
export type Config = { readonly [Name in keyof Settings]: ReturnType<Settings[Name]['read']> };

export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `the configuration has ${faults.length === 1 ? '1 error' : `${faults.length} errors`}:\n  ${faults.join('\n  ')}`,
    );
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The content of the file `.env` in the working directory. */
export function dotEnv(): Environment {
  return existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {};
}

/** Reads every setting from the environment, or throws one ConfigError that names all faults. */
export function readConfig(env: Environment): Config {
  const faults: string[] = [];
  const values = Object.entries(SETTINGS).map(([name, one]) => [name, readSetting(name, one, env, faults)]);
  const config = Object.fromEntries(values) as Config;
  if (faults.length === 0) faults.push(...contradictions(config, env));
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

function readSetting(name: string, one: Setting<unknown>, env: Environment, faults: string[]): unknown {
  try {
    const value = fromFile(name, env) ?? (env[name] || undefined) ?? one.fallback;
    return value === undefined ? undefined : one.read(value);
  } catch (error) {
    faults.push(`${name} ${(error as Error).message}`);
    return undefined;
  }
}

/** NAME_FILE is the path of a file that contains the value, which is how container secrets are mounted. */
function fromFile(name: string, env: Environment): string | undefined {
  const path = env[`${name}_FILE`];
  if (!path) return undefined;
  if (env[name]) throw new Error(`is set together with ${name}_FILE; keep one of the two`);
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new Error(`cannot be read from ${name}_FILE: ${(error as NodeJS.ErrnoException).code ?? error}`);
  }
}

function contradictions(config: Config, env: Environment): string[] {
  const faults: string[] = [];
  if (config.PORT !== 0 && config.PORT === config.ADMIN_PORT && config.HOST === config.ADMIN_HOST) {
    faults.push(`ADMIN_PORT must differ from PORT (both are ${config.PORT})`);
  }
  if (config.RUN_MODE === 'dev' && env.NODE_ENV === 'production') {
    faults.push('RUN_MODE=dev relaxes checks and is not allowed with NODE_ENV=production');
  }
  if (config.MARKETPLACE_PORT && [config.PORT, config.ADMIN_PORT].includes(config.MARKETPLACE_PORT)) {
    faults.push(`MARKETPLACE_PORT must differ from PORT and ADMIN_PORT (${config.MARKETPLACE_PORT} is taken)`);
  }
  if (config.OPENFGA_URL && (URL.parse(config.OPENFGA_URL)?.username || URL.parse(config.OPENFGA_URL)?.password)) {
    faults.push('OPENFGA_URL must not contain a user or a password; the key of the server is OPENFGA_API_TOKEN');
  }
  if (config.OPENFGA_URL && config.DATABASE_URL && config.DATABASE_POOL < 2) {
    faults.push('OPENFGA_URL needs a DATABASE_POOL of at least 2, because publishing takes one for itself');
  }
  if (config.AUDIT_RETENTION && !config.AUDIT_ARCHIVE) {
    faults.push('AUDIT_RETENTION needs AUDIT_ARCHIVE: entries are removed only after they were archived');
  }
  if (config.AUDIT_ARCHIVE?.startsWith('s3://') && !config.AUDIT_CREDENTIAL) {
    faults.push('AUDIT_ARCHIVE in a bucket needs AUDIT_CREDENTIAL, such as root/archive');
  }
  if (config.AUDIT_PUSH && !config.AUDIT_CREDENTIAL) {
    faults.push('AUDIT_PUSH needs AUDIT_CREDENTIAL, such as root/archive');
  }
  if (config.MARKETPLACE_EVENTS_URL && !config.MARKETPLACE_EVENTS_SECRET) {
    faults.push('MARKETPLACE_EVENTS_URL needs MARKETPLACE_EVENTS_SECRET to sign with');
  }
  if (config.CORS_ORIGINS.includes('*') && config.CORS_ORIGINS.length > 1) {
    faults.push('CORS_ORIGINS must be either * or a list of origins, not both');
  }
  if (config.CORS_CREDENTIALS && config.CORS_ORIGINS.includes('*')) {
    faults.push('CORS_CREDENTIALS=true is not allowed with CORS_ORIGINS=*: any page could act as its visitors');
  }
  if (config.CORS_CREDENTIALS && config.CORS_ORIGINS.length === 0) {
    faults.push('CORS_CREDENTIALS=true needs CORS_ORIGINS to name the origins that may send cookies');
  }
  faults.push(...registrationFaults(config));
  return faults;
}

/** People create their own accounts only with an address that they have confirmed, and that no organization manages. */
function registrationFaults({ REGISTRATION, REGISTRATION_DOMAINS, SMTP_URL, SCIM_DOMAINS }: Config): string[] {
  const faults: string[] = [];
  if (REGISTRATION === 'domains' && REGISTRATION_DOMAINS.length === 0) {
    faults.push('REGISTRATION=domains needs REGISTRATION_DOMAINS to name the domains');
  }
  if (REGISTRATION === 'domains' && SMTP_URL === undefined) {
    faults.push('REGISTRATION=domains needs SMTP_URL, because addresses are confirmed by email');
  }
  for (const domain of REGISTRATION_DOMAINS) {
    const assigned = SCIM_DOMAINS.find((one) => isOverlap(one.domain, domain));
    if (assigned === undefined) continue;
    const owner = `${assigned.organization}:${assigned.domain}`;
    faults.push(`REGISTRATION_DOMAINS must not contain ${domain}, because SCIM_DOMAINS has ${owner}`);
  }
  return faults;
}
