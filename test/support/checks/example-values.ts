const MAX_ITEMS = 2;
const MAX_TEXT = 600;
const DAY_MS = 86_400_000;
const NOW = '2026-01-15T09:30:00Z';

const MOMENT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const HASH = /\b[0-9a-f]{64}\b/g;

/** Values that are secret, or look as if they were, by the name of their field. */
const FAKES: Readonly<Record<string, string>> = {
  sha1: 'atr_EXAMPLE',
  token_last_eight: '0EXAMPLE',
  hostedToken: 'EXAMPLE.EXAMPLE.EXAMPLE',
  jwt: 'EXAMPLE.EXAMPLE.EXAMPLE',
  seed: 'EXAMPLE',
  credentials: 'RVhBTVBMRQ==',
  secret: 'EXAMPLE',
  challenge: 'EXAMPLE',
  enrollment: 'EXAMPLE',
  uri: 'otpauth://totp/Atrium:ann?secret=EXAMPLE',
  code: '123456',
  recovery_code: 'abcd-efgh-2345-wxyz',
  recovery_codes: 'abcd-efgh-2345-wxyz',
  clientDataJSON: 'EXAMPLE',
  attestationObject: 'EXAMPLE',
  authenticatorData: 'EXAMPLE',
  signature: 'EXAMPLE',
  userHandle: 'EXAMPLE',
  sig: 'EXAMPLE',
  key: 'EXAMPLE',
  fingerprint: '0123456789ab',
  next_cursor: 'EXAMPLE',
  age: '12d',
  day: '2026-01-15',
  n: 'EXAMPLE',
  x: 'EXAMPLE',
  y: 'EXAMPLE',
  kid: 'EXAMPLE',
};
/** Tokens for clusters. */
const JWT = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;
/** Public keys of accounts and users of the message bus. */
const BUS_KEY = /\b[AU][A-Z2-7]{55}\b/g;
/** The code in the link of an invitation. */
const INVITATION = /\/invitations\/[\w-]{32}/g;
const INSTALLER = /\b[a-z0-9]{20}-[a-z0-9]{10}\b/g;
/** What a bind names by itself: the organization and its administrator. */
const BOUND_NAME = /\b(standalone|admin)-([a-z0-9]{12})\b/g;
/** The key of a rendered resource opens nothing. */
const HARMLESS = /^Helm\w+\//;

/** Random names, which get a number in the order in which they appear. `first` are those that are not random. */
const NUMBERED = {
  uuid: { first: /^0{8}-0{4}-4000/, write: (n: string) => `00000000-0000-4000-8000-${n.padStart(12, '0')}` },
  hash: { first: /^0+\d{0,4}$/, write: (n: string) => n.padStart(64, '0') },
  installer: { first: /^example/, write: (n: string) => `exampleinstaller${n.padStart(4, '0')}-0123456789` },
  name: { first: /^example/, write: (n: string) => `example${n.padStart(5, '0')}` },
} as const;

/** Replaces what differs between two runs, always by the same. Example values are shortened too. */
export function createExampleValues(baseUrl: string, now = Date.now()) {
  const known = new Map<string, Map<string, string>>();
  return { stable };

  function stable(value: unknown, field = ''): unknown {
    if (Array.isArray(value)) return value.map((one) => stable(one, field));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([name, part]) => [stableText(name), stable(part, name)]));
    }
    if (field === 'exp') return 1768555800;
    if (field === 'createdAt' && typeof value === 'number') return Date.parse(NOW) / 1000;
    if (typeof value !== 'string') return value;
    const fake = FAKES[field];
    return fake !== undefined && value !== '' && !HARMLESS.test(value) ? fake : stableText(value);
  }

  function stableText(text: string): string {
    return text
      .replaceAll(baseUrl, 'https://atrium.example.com')
      .replaceAll('nats://127.0.0.1', 'nats://bus.example.com')
      .replaceAll('127.0.0.1', '203.0.113.7')
      .replace(JWT, 'EXAMPLE.EXAMPLE.EXAMPLE')
      .replace(BUS_KEY, 'EXAMPLE')
      .replace(INVITATION, '/invitations/EXAMPLE')
      .replace(INSTALLER, (id) => numbered('installer', id))
      .replace(BOUND_NAME, (_all, kind, name) => `${kind}-${numbered('name', name)}`)
      .replace(/sig=[\w-]+/g, 'sig=EXAMPLE')
      .replace(/exp=\d+/g, 'exp=1768555800')
      .replace(/-----BEGIN PUBLIC KEY-----[^-]+/g, '-----BEGIN PUBLIC KEY-----\nEXAMPLE\n')
      .replace(MOMENT, stableMoment)
      .replace(UUID, (uuid) => numbered('uuid', uuid))
      .replace(HASH, (hash) => numbered('hash', hash));
  }

  /** Keeps the distance from now in days. A whole day was written by hand. */
  function stableMoment(text: string): string {
    const moment = Date.parse(text);
    const days = Math.round((moment - now) / DAY_MS);
    if (moment === 0 || (text.endsWith('T00:00:00Z') && days !== 0)) return text;
    return `${new Date(Date.parse(NOW) + days * DAY_MS).toISOString().slice(0, 19)}Z`;
  }

  function numbered(kind: keyof typeof NUMBERED, text: string): string {
    const { first, write } = NUMBERED[kind];
    if (first.test(text)) return text;
    const names = known.get(kind) ?? new Map<string, string>();
    known.set(kind, names);
    const made = names.get(text) ?? write(String(names.size + 1));
    names.set(text, made);
    return made;
  }
}

/** Long lists and texts are cut: an example shows the form, not the data. */
export function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map(shorten);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shorten(part)]));
  }
  if (typeof value !== 'string' || value.length <= MAX_TEXT) return value;
  return `${value.slice(0, value.lastIndexOf('\n', MAX_TEXT) + 1 || MAX_TEXT)}…`;
}

/** Whether two values have the same fields and the same types. A null fits everything: it depends on the moment. */
export function isAlike(one: unknown, other: unknown): boolean {
  if (one === null || other === null) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((part, place) => isAlike(part, other[place]));
  }
  if (typeof one !== 'object' || typeof other !== 'object') return typeof one === typeof other;
  const [parts, others] = [one, other] as [Record<string, unknown>, Record<string, unknown>];
  const names = Object.keys(parts);
  return (
    names.length === Object.keys(others).length &&
    names.every((name) => name in others && isAlike(parts[name], others[name]))
  );
}
