import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseEnv } from 'node:util';
import { databaseUrlsOf } from './database-url.ts';
import { LIMITS, type LimitSetting } from './limits.ts';

/**
 * Every setting of the server is in this table once: its name, how it is read, its default and one line of help.
 * `.env.example` and docs/configuration.md are generated from it, and code uses the same name for a setting as the
 * operator.
 */
interface Setting<T> {
  readonly help: string;
  /** What a value looks like, in words. */
  readonly shape: string;
  /** The default as it would be written in the environment. `undefined` means unset. */
  readonly fallback: string | undefined;
  /** Throws an Error whose message completes the sentence "NAME …". */
  readonly read: (text: string) => T;
}

function setting<T>(shape: string, read: (text: string) => T) {
  function declare(fallback: string, help: string): Setting<T>;
  function declare(fallback: undefined, help: string): Setting<T | undefined>;
  function declare(fallback: string | undefined, help: string): Setting<T | undefined> {
    return { help, shape, fallback, read };
  }
  return declare;
}

const text = setting('text', (value) => value);

function whole(least: number, most: number) {
  return setting(`a whole number from ${least} to ${most}`, (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= least && number <= most)) throw new Error(`must be a whole number from ${least} to ${most}`);
    return number;
  });
}

function oneOf<const Names extends readonly string[]>(...names: Names) {
  return setting(names.join(' | '), (value): Names[number] => {
    if (!names.includes(value)) throw new Error(`must be one of ${names.join(', ')}`);
    return value;
  });
}

function url(...schemes: string[]) {
  return setting(`a URL (${schemes.join(', ')})`, (value) => {
    const parsed = URL.canParse(value) ? new URL(value) : undefined;
    if (!parsed || !schemes.includes(parsed.protocol.slice(0, -1))) {
      throw new Error(`must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`);
    }
    return value.replace(/\/+$/, '');
  });
}

function urls(...schemes: string[]) {
  const one = url(...schemes)('', '').read;
  return setting(`URLs (${schemes.join(', ')}), separated by commas`, (value): readonly string[] => {
    const list = value.split(',').map((item) => one(item.trim()));
    const [first = ''] = list;
    if (list.some((item) => new URL(item).protocol !== new URL(first).protocol)) {
      throw new Error(`must not mix ${schemes.map((scheme) => `${scheme}://`).join(' and ')}`);
    }
    if (new Set(list).size < list.length) throw new Error('must not name an address twice');
    return list;
  });
}

const databaseUrl = setting('a URL (postgres, postgresql)', (value) => {
  databaseUrlsOf(value);
  return value.replace(/\/+$/, '');
});

const flag = setting('true | false', (value) => {
  if (value !== 'true' && value !== 'false') throw new Error('must be true or false');
  return value === 'true';
});

const NETWORKS = 'addresses or CIDR ranges, separated by commas';

function readNetworks(value: string): string[] {
  const list = value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  for (const item of list) {
    const [address = '', bits, ...rest] = item.split('/');
    const version = address.includes('%') ? 0 : isIP(address);
    const most = version === 4 ? 32 : 128;
    if (version === 0 || rest.length > 0 || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most))) {
      throw new Error(`contains an entry that is not an address or CIDR range: ${item}`);
    }
  }
  return list;
}

const networks = setting(NETWORKS, readNetworks);

const proxies = setting(NETWORKS, (value) => {
  const list = readNetworks(value);
  const all = list.find((item) => /\/0+$/.test(item));
  if (all) throw new Error(`must not include every address (${all}): any client could then forge its address`);
  return list;
});

const words = setting('words, separated by commas', (value) =>
  value
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== ''),
);

const SCIM_DOMAIN = /^([0-9A-Za-z][-.\w]{0,39}):([-.\w*]{1,253})$/;
const scimDomains = setting('organization:domain pairs, separated by commas', (value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map((item) => {
      const [, organization = '', domain = ''] = SCIM_DOMAIN.exec(item) ?? [];
      if (domain === '') throw new Error(`contains an entry that is not like acme:acme.example: ${item}`);
      return { organization: organization.toLowerCase(), domain };
    }),
);

const origins = setting('origins, separated by commas, or *', (value) => {
  const list = value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  for (const item of list) {
    if (item === '*' || (/^https?:[^*]+$/.test(item) && URL.canParse(item) && new URL(item).origin === item)) continue;
    throw new Error(
      `contains an entry that is not an origin such as https://app.example.com (no path, no final slash): ${item}`,
    );
  }
  return list;
});

const rootKey = setting('32 bytes as base64 or hex', (value) => {
  const key = /^[0-9a-fA-F]{64}$/.test(value) ? Buffer.from(value, 'hex') : Buffer.from(value, 'base64');
  if (key.length !== 32) throw new Error('must be 32 bytes as base64 or hex (create one: openssl rand -base64 32)');
  return key;
});

const days = setting('whole numbers from 0 to 365, separated by commas', (value): readonly number[] => {
  const list = value.split(',').map((item) => item.trim());
  if (list.some((item) => !/^\d{1,3}$/.test(item) || Number(item) > 365)) {
    throw new Error('must be whole numbers from 0 to 365, separated by commas');
  }
  return [...new Set(list.map(Number))].sort((a, b) => b - a);
});

const port = whole(0, 65535);

const MOST_WORKERS = 64;
const workers = setting(`auto | a whole number from 1 to ${MOST_WORKERS}`, (value): number | 'auto' => {
  const number = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (value === 'auto') return value;
  if (number < 1 || number > MOST_WORKERS) throw new Error(`must be auto or a whole number from 1 to ${MOST_WORKERS}`);
  return number;
});

const ratio = setting('a number from 0 to 1', (value) => {
  const number = /^(?:0|1|[01]?\.\d{1,12})$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= 0 && number <= 1)) throw new Error('must be a number from 0 to 1');
  return number;
});

const headers = setting('name=value pairs, separated by commas', (value) => {
  const pairs = value.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, text] = /^\s*([A-Za-z0-9-]+)=([\x21-\x7e]+)\s*$/.exec(pair) ?? [];
      if (name === undefined || text === undefined) throw new Error('must be name=value pairs, separated by commas');
      return [name, text];
    }),
  ) as Readonly<Record<string, string>>;
});

const list = setting('a JSON array', (value): readonly unknown[] => {
  let read: unknown;
  try {
    read = JSON.parse(value);
  } catch {
    read = undefined;
  }
  if (!Array.isArray(read)) throw new Error('must be a JSON array');
  return read;
});

const limitSettings = Object.fromEntries(
  Object.values(LIMITS).map(({ setting, fallback, of }) => [
    setting,
    whole(1, 1_000_000_000)(String(fallback), `Maximum number of ${of}`),
  ]),
) as Readonly<Record<LimitSetting, Setting<number>>>;

export const SETTINGS = {
  HOST: text('127.0.0.1', 'Address that the server listens on.'),
  PORT: port('3000', 'Port of the API. 0 picks any free port.'),
  ADMIN_HOST: text('127.0.0.1', 'Address that the admin port listens on. Do not make it public.'),
  ADMIN_PORT: port('3001', 'Port of /healthz, /readyz and /metrics. 0 turns it off.'),
  BASE_URL: url('http', 'https')(undefined, 'URL at which clients reach the server. By default, http://HOST:PORT.'),
  DATA_DIR: text('./data', 'Folder for the built-in database, the key file and demo.json.'),
  DATABASE_URL: databaseUrl(
    undefined,
    'PostgreSQL database to use instead of the built-in one. Several hosts are separated by commas.',
  ),
  DATABASE_POOLER: oneOf('none', 'transaction')(
    'none',
    'transaction if DATABASE_URL leads to PgBouncer, or to another pooler, in transaction mode.',
  ),
  DATABASE_POOL: whole(1, 500)(
    '10',
    'Maximum number of PostgreSQL connections of each worker, plus one for revision queries.',
  ),
  DATABASE_TIMEOUT_MS: whole(100, 600_000)(
    '10000',
    'Queries that take longer fail. A database that does not answer at all is noticed after 2 s.',
  ),
  WORKERS: workers('1', 'Processes that serve requests. auto: one for each core. Needs PostgreSQL if more than one.'),
  SHUTDOWN_DELAY_MS: whole(0, 600_000)(
    '3000',
    'How long SIGTERM keeps the server open after /readyz fails, so that load balancers notice first.',
  ),
  DEPLOYMENT: oneOf('standard', 'hosted', 'marketplace')('standard', 'Decides which routes exist.'),
  RUN_MODE: oneOf('dev', 'prod')('prod', 'dev relaxes checks that require a public network. Not for production.'),
  ATRIUM_KEY: rootKey(undefined, 'Root key of all secrets. If unset, the first start creates a key file in DATA_DIR.'),
  ATRIUM_NEXT_KEY: rootKey(undefined, 'Only for rotate-keys: the root key that replaces the current one.'),
  LOG_LEVEL: oneOf('debug', 'info', 'warn', 'error')('info', 'Lowest level to log. debug also logs every request.'),
  RATE_LIMIT: whole(0, 1_000_000_000)(
    '600000',
    'Maximum requests per minute for each credential, or each address (IPv6: /64) if there is none. 0 means no limit.',
  ),
  EVENT_STREAMS: whole(1, 100_000)(
    '5000',
    'Maximum of open event streams (GET /events) in each process. A user can have 20 of them.',
  ),
  AUTH_FAILURES: whole(1, 1_000_000)(
    '20',
    'Wrong passwords per name and address (IPv6: /64) before further attempts must wait. Ten times as many per address.',
  ),
  SECOND_FACTOR: oneOf(
    'optional',
    'administrators',
    'everyone',
  )('optional', 'Who must have a second factor. Organizations can require one of their members in any case.'),
  REAUTHENTICATION_MINUTES: whole(1, 10_080)(
    '15',
    'How long after a sign-in a session may do what is sensitive, before its user has to prove again who they are.',
  ),
  QUERY_TOKENS: flag('true', 'Accept ?token= where the specification allows it.'),
  CORS_ORIGINS: origins('', 'Origins whose pages may call the API from a browser. By default, none; * means any.'),
  CORS_CREDENTIALS: flag('false', 'Pages of CORS_ORIGINS may also send cookies. Not with *.'),
  EMAIL_CONFIRMATION: flag('false', 'New email addresses must be confirmed with a link sent by email.'),
  EMAIL_ALLOWED_DOMAINS: words('', 'If set, only these email domains are allowed. * matches any text.'),
  EMAIL_BLOCKED_DOMAINS: words('', 'Email domains that are rejected. Ignored if EMAIL_ALLOWED_DOMAINS is set.'),
  SCIM_DOMAINS: scimDomains(
    '',
    'Email domains that belong to organizations, such as acme:acme.example. In these, an identity provider may create accounts and own them. * matches any text.',
  ),
  SMTP_URL: url('smtp', 'smtps')(undefined, 'SMTP server for outgoing email, with user and password in the URL.'),
  MAIL_FROM: text('atrium@localhost', 'Sender address of emails.'),
  TOKEN_NOTICE_DAYS: days(
    '14,3,1',
    'How many days before a token expires its owner gets an email. Requests with it have a header from the first of them.',
  ),
  PASSWORDS: oneOf('on', 'off')(
    'on',
    'off: nobody signs in with a password, or sets one. Needs another way to sign in, such as OIDC_PROVIDERS.',
  ),
  OIDC_PROVIDERS: list('[]', 'OpenID Connect providers to sign in with, as docs/sign-in.md describes them.'),
  OIDC_ALLOWED_NETWORKS: networks(
    '',
    'Private networks where OpenID Connect providers may be called. By default, only the public internet is.',
  ),
  TRUSTED_PROXIES: proxies('', 'Proxies whose X-Forwarded-For header is trusted.'),
  BUCKET_ALLOWED_NETWORKS: networks(
    '',
    'Private networks where storage services may be called. By default, only the public internet is.',
  ),
  BUS_URL: urls('nats', 'tls')(
    'nats://127.0.0.1:4222',
    'URL at which clients reach the message bus. If it is a cluster, that of each server.',
  ),
  BUS_WS_URL: urls('ws', 'wss')(undefined, 'WebSocket URL of the message bus, or of each of its servers.'),
  BUS_CREDENTIALS_MINUTES: whole(1, 10_080)('60', 'Lifetime of message bus credentials. Clients must renew them.'),
  OPENFGA_URL: url('http', 'https')(
    undefined,
    'OpenFGA server that decides who may do what. By default, the engine in this process does.',
  ),
  OPENFGA_API_TOKEN: text(undefined, 'Key that the OpenFGA server expects, if it was started with preshared keys.'),
  CENTRAL_MARKETPLACE_URL: url('http', 'https')(undefined, 'Central marketplace server that provides the claim rules.'),
  MARKETPLACE_PORT: port(undefined, 'Separate port for the marketplace listener. By default, it is on PORT.'),
  CLOUD_A_RANGES: text(undefined, 'Published address ranges of marketplace A: a file or a download URL.'),
  CLOUD_A_ALLOW: networks('', 'Additional addresses that marketplace A may call from.'),
  CLOUD_B_SECRETS: words('', 'Valid secrets of marketplace B. List two while one replaces the other.'),
  CLOUD_C_SECRETS: words('', 'Valid secrets of marketplace C. List two while one replaces the other.'),
  CLOUD_C_TEST_INSTALLER: text(undefined, 'ID of a test installer, which marketplace C may bind without a secret.'),
  MARKETPLACE_EVENTS_URL: url('http', 'https')(undefined, 'Webhook for bound installers and changed subscriptions.'),
  MARKETPLACE_EVENTS_SECRET: text(undefined, 'Base64 key that signs requests to MARKETPLACE_EVENTS_URL.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('http', 'https')(
    undefined,
    'OpenTelemetry collector that gets traces (OTLP over HTTP, usually port 4318). By default, none does.',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: headers('', 'Headers for the collector, such as a key.'),
  OTEL_SERVICE_NAME: text('atrium', 'Name of this service in traces.'),
  OTEL_TRACES_SAMPLER_ARG: ratio('1', 'Share of the requests to trace, unless the caller has decided.'),
  ...limitSettings,
} satisfies Record<string, Setting<unknown>>;

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

/** Reads every setting from the environment, or throws one ConfigError that names all faults at once. */
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
  return faults;
}
