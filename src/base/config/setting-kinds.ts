import { isIP } from 'node:net';
import { bucketAddress, isAddress } from '../bucket-address.ts';
import { periodBefore, readPeriod } from '../period.ts';
import { databaseUrlsOf } from './database-url.ts';

/** One row of the table of settings. */
export interface Setting<T> {
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

export const text = setting('text', (value) => value);

/** Where archives are: a folder, or a bucket. */
export const folderOrBucket = setting('folder, or s3://BUCKET/PATH', (value) => {
  if (isAddress(value)) return bucketText(value);
  return value;
});

export const bucket = setting('s3://BUCKET/PATH', bucketText);

function bucketText(value: string): string {
  if (!bucketAddress(value)) throw new Error('must be such as s3://backups/atrium');
  return value.replace(/\/$/, '');
}

/** A credential that a user keeps in Atrium. */
export const storedCredential = setting('USER/CREDENTIAL', (value) => {
  const [, user, name] = /^([^/]{1,40})\/(.{1,100})$/.exec(value) ?? [];
  if (user === undefined || name === undefined)
    throw new Error('must be a user and a credential, such as root/archive');
  return { user, name };
});

export function whole(min: number, max: number) {
  return setting(`a whole number from ${min} to ${max}`, (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) throw new Error(`must be a whole number from ${min} to ${max}`);
    return number;
  });
}

export function oneOf<const Names extends readonly string[]>(...names: Names) {
  return setting(names.join(' | '), (value): Names[number] => {
    if (!names.includes(value)) throw new Error(`must be one of ${names.join(', ')}`);
    return value;
  });
}

export function url(...schemes: string[]) {
  return setting(`a URL (${schemes.join(', ')})`, (value) => {
    const parsed = URL.canParse(value) ? new URL(value) : undefined;
    if (!parsed || !schemes.includes(parsed.protocol.slice(0, -1))) {
      throw new Error(`must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`);
    }
    return value.replace(/\/+$/, '');
  });
}

export function urls(...schemes: string[]) {
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

export const databaseUrl = setting('a URL (postgres, postgresql)', (value) => {
  databaseUrlsOf(value);
  return value.replace(/\/+$/, '');
});

export const flag = setting('true | false', (value) => {
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
    const maxBits = version === 4 ? 32 : 128;
    if (
      version === 0 ||
      rest.length > 0 ||
      (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits))
    ) {
      throw new Error(`contains an entry that is not an address or CIDR range: ${item}`);
    }
  }
  return list;
}

export const networks = setting(NETWORKS, readNetworks);

export const proxies = setting(NETWORKS, (value) => {
  const list = readNetworks(value);
  const all = list.find((item) => /\/0+$/.test(item));
  if (all) throw new Error(`must not include every address (${all}): any client could then forge its address`);
  return list;
});

export const words = setting('words, separated by commas', (value) =>
  value
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== ''),
);

const SCIM_DOMAIN = /^([0-9A-Za-z][-.\w]{0,39})(?:#([1-9]\d{0,17}))?:([-.\w*]{1,253})$/;
export const scimDomains = setting('organization:domain pairs, separated by commas', (value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map((item) => {
      const [, organization = '', id, domain = ''] = SCIM_DOMAIN.exec(item) ?? [];
      if (domain === '') throw new Error(`contains an entry that is not like acme:acme.example: ${item}`);
      const confirmed = id === undefined ? {} : { organizationId: BigInt(id) };
      return { organization: organization.toLowerCase(), ...confirmed, domain };
    }),
);

export const origins = setting('origins, separated by commas, or *', (value) => {
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

export const rootKey = setting('32 bytes as base64 or hex', (value) => {
  const key = /^[0-9a-fA-F]{64}$/.test(value) ? Buffer.from(value, 'hex') : Buffer.from(value, 'base64');
  if (key.length !== 32) throw new Error('must be 32 bytes as base64 or hex (create one: openssl rand -base64 32)');
  return key;
});

export const days = setting('whole numbers from 0 to 365, separated by commas', (value): readonly number[] => {
  const list = value.split(',').map((item) => item.trim());
  if (list.some((item) => !/^\d{1,3}$/.test(item) || Number(item) > 365)) {
    throw new Error('must be whole numbers from 0 to 365, separated by commas');
  }
  return [...new Set(list.map(Number))].sort((a, b) => b - a);
});

/** No month has fewer days. */
const SHORTEST_PERIOD_DAYS = 30;
const DAY_MS = 86_400_000;

export const period = setting('an ISO 8601 period of at least P30D, such as P1Y or P400D', (value) => {
  const found = readPeriod(value);
  if (!found) throw new Error('must be an ISO 8601 period, such as P1Y or P400D');
  // After the shortest month.
  const march = new Date(Date.UTC(2026, 2, 1));
  if (march.getTime() - periodBefore(found, march).getTime() < SHORTEST_PERIOD_DAYS * DAY_MS) {
    throw new Error(`must be at least P${SHORTEST_PERIOD_DAYS}D`);
  }
  return found;
});

export const port = whole(0, 65535);

const MOST_WORKERS = 64;
export const workers = setting(`auto | a whole number from 1 to ${MOST_WORKERS}`, (value): number | 'auto' => {
  const number = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (value === 'auto') return value;
  if (number < 1 || number > MOST_WORKERS) throw new Error(`must be auto or a whole number from 1 to ${MOST_WORKERS}`);
  return number;
});

export const ratio = setting('a number from 0 to 1', (value) => {
  const number = /^(?:0|1|[01]?\.\d{1,12})$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= 0 && number <= 1)) throw new Error('must be a number from 0 to 1');
  return number;
});

export const headers = setting('name=value pairs, separated by commas', (value) => {
  const pairs = value.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, text] = /^\s*([A-Za-z0-9-]+)=([\x21-\x7e]+)\s*$/.exec(pair) ?? [];
      if (name === undefined || text === undefined) throw new Error('must be name=value pairs, separated by commas');
      return [name, text];
    }),
  ) as Readonly<Record<string, string>>;
});

export const list = setting('a JSON array', (value): readonly unknown[] => {
  let read: unknown;
  try {
    read = JSON.parse(value);
  } catch {
    read = undefined;
  }
  if (!Array.isArray(read)) throw new Error('must be a JSON array');
  return read;
});
