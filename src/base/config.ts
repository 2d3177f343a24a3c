import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseEnv } from 'node:util';

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
      throw new Error(`holds something that is not an address or CIDR range: ${item}`);
    }
  }
  return list;
}

const networks = setting(NETWORKS, readNetworks);

const proxies = setting(NETWORKS, (value) => {
  const list = readNetworks(value);
  const all = list.find((item) => /\/0+$/.test(item));
  if (all) throw new Error(`must not hold every address (${all}): then anybody could say where they come from`);
  return list;
});

const words = setting('words, separated by commas', (value) =>
  value
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== ''),
);

const rootKey = setting('32 bytes as base64 or hex', (value) => {
  const key = /^[0-9a-fA-F]{64}$/.test(value) ? Buffer.from(value, 'hex') : Buffer.from(value, 'base64');
  if (key.length !== 32) throw new Error('must hold 32 bytes as base64 or hex (make one: openssl rand -base64 32)');
  return key;
});

const port = whole(0, 65535);

export const SETTINGS = {
  HOST: text('127.0.0.1', 'Address that the server listens on.'),
  PORT: port('3000', 'Port of the API; 0 takes any free one.'),
  ADMIN_HOST: text('127.0.0.1', 'Address of the admin port. Its pages are not meant for the public.'),
  ADMIN_PORT: port('3001', 'Port of /healthz, /readyz and /metrics; 0 turns it off.'),
  BASE_URL: url('http', 'https')(undefined, 'Address under which clients reach the server; default http://HOST:PORT.'),
  DATA_DIR: text('./data', 'Folder for the built-in database, the key file and demo.json.'),
  DATABASE_URL: url('postgres', 'postgresql')(undefined, 'PostgreSQL to use instead of the built-in database.'),
  DATABASE_POOL: whole(1, 500)('10', 'Connections to PostgreSQL at most, beside one for the revisions.'),
  DATABASE_TIMEOUT_MS: whole(100, 600_000)('10000', 'A query that takes longer has failed.'),
  DEPLOYMENT: oneOf('standard', 'hosted', 'marketplace')('standard', 'Which routes exist.'),
  RUN_MODE: oneOf('dev', 'prod')('prod', 'dev relaxes checks that need a public network; never for production.'),
  ATRIUM_KEY: rootKey(undefined, 'Root key of all secrets; without it a key file is made in DATA_DIR on first start.'),
  ATRIUM_NEXT_KEY: rootKey(undefined, 'For rotate-keys alone: the root key that shall follow the present one.'),
  LOG_LEVEL: oneOf('debug', 'info', 'warn', 'error')('info', 'Least level logged; debug also logs every request.'),
  RATE_LIMIT: whole(0, 1_000_000_000)(
    '600000',
    'Requests a minute for one credential, or one address without; 0: no limit.',
  ),
  AUTH_FAILURES: whole(1, 1_000_000)(
    '20',
    'Wrong passwords for one name from one address before it has to wait; ten times as many for all names.',
  ),
  QUERY_TOKENS: flag('true', 'Accept ?token= where the specification allows it.'),
  EMAIL_CONFIRMATION: flag('false', 'New addresses must be confirmed by a link in a letter.'),
  EMAIL_ALLOWED_DOMAINS: words('', 'Domains that addresses may be of, * for any part; all others are refused.'),
  EMAIL_BLOCKED_DOMAINS: words('', 'Domains that addresses may not be of; counts when no allowed ones are set.'),
  SMTP_URL: url('smtp', 'smtps')(undefined, 'Where letters are handed in, user and password in the URL.'),
  MAIL_FROM: text('atrium@localhost', 'Sender of letters.'),
  TRUSTED_PROXIES: proxies('', 'Proxies whose X-Forwarded-For is believed.'),
  BUCKET_ALLOWED_NETWORKS: networks(
    '',
    'Private networks where storage services of people may stand; else only the public internet is called.',
  ),
  BUS_URL: url('nats', 'tls')('nats://127.0.0.1:4222', 'Message bus, as clients reach it.'),
  BUS_WS_URL: url('ws', 'wss')(undefined, 'Websocket address of the message bus.'),
  BUS_CREDENTIALS_MINUTES: whole(1, 10_080)('60', 'Life of message bus credentials; clients fetch new ones in time.'),
  OPENFGA_URL: url('http', 'https')(undefined, 'OpenFGA server to hand authorization tuples to.'),
  CENTRAL_MARKETPLACE_URL: url('http', 'https')(undefined, 'Central marketplace server that is asked for claim rules.'),
  MARKETPLACE_PORT: port(undefined, 'A port for the marketplace listener alone; without it the listener is on PORT.'),
  CLOUD_A_RANGES: text(undefined, 'Published address ranges of marketplace A: a file, or a URL to download from.'),
  CLOUD_A_ALLOW: networks('', 'Further addresses that marketplace A may call from.'),
  CLOUD_B_SECRETS: words('', 'Live secrets of marketplace B; two while one replaces the other.'),
  CLOUD_C_SECRETS: words('', 'Live secrets of marketplace C; two while one replaces the other.'),
  CLOUD_C_TEST_INSTALLER: text(undefined, 'The one installer that marketplace C may bind without a secret.'),
  MARKETPLACE_EVENTS_URL: url('http', 'https')(undefined, 'Told of bound installers and changed subscriptions.'),
  MARKETPLACE_EVENTS_SECRET: text(undefined, 'Base64 key that MARKETPLACE_EVENTS_URL checks signatures with.'),
} satisfies Record<string, Setting<unknown>>;

type Settings = typeof SETTINGS;
export type Config = { readonly [Name in keyof Settings]: ReturnType<Settings[Name]['read']> };

export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `the configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n  ${faults.join('\n  ')}`,
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
    faults.push('RUN_MODE=dev relaxes checks and is refused with NODE_ENV=production');
  }
  if (config.MARKETPLACE_PORT && [config.PORT, config.ADMIN_PORT].includes(config.MARKETPLACE_PORT)) {
    faults.push(`MARKETPLACE_PORT must differ from PORT and ADMIN_PORT (${config.MARKETPLACE_PORT} is taken)`);
  }
  if (config.MARKETPLACE_EVENTS_URL && !config.MARKETPLACE_EVENTS_SECRET) {
    faults.push('MARKETPLACE_EVENTS_URL needs MARKETPLACE_EVENTS_SECRET to sign with');
  }
  return faults;
}
