import type { GuardedFetch } from '../base/outbound/guarded-fetch.ts';
import type { IssuerKeys } from './outside-token.ts';
import { isUsable, type PublicKey, readPublicKeys } from './public-keys.ts';
import type { TrustRule } from './trust-rule.ts';

interface KnownKeys {
  readonly keys: readonly PublicKey[];
  readonly until: number;
  /** When the issuer was asked last. */
  readonly askedAt: number;
}

const KEYS_FOR_MS = 300_000;
/** Every caller can send a token with an unknown key, so the issuer is not asked each time. */
const COOLDOWN_MS = 10_000;
const MAX_RULES = 1000;
const DISCOVERY = '/.well-known/openid-configuration';

/** Thrown for an issuer whose keys cannot be read. The message is for those who may change the rule. */
class UnreadableKeys extends Error {}

/**
 * The keys of issuers, as each publishes them.
 *
 * 1. Keys belong to a rule and not to an issuer: the issuer of many Kubernetes clusters is the same text.
 * 2. Requests that need the keys of one rule at the same moment share one read.
 * 3. Nothing is believed that names another issuer than the rule.
 */
export function createIssuerKeys(fetch: GuardedFetch, clock: () => number = () => performance.now()): IssuerKeys {
  const known = new Map<string, KnownKeys>();
  const reading = new Map<string, Promise<KnownKeys>>();
  return { find };

  async function find(rule: Pick<TrustRule, 'id' | 'issuer' | 'jwks'>, kid: string | undefined) {
    if (rule.jwks !== undefined) return { keys: readPublicKeys(rule.jwks.keys).filter(isUsable) };
    const name = `${rule.id} ${rule.issuer}`;
    try {
      const present = known.get(name);
      const now = clock();
      if (present === undefined || present.until <= now) return await read(name, rule.issuer);
      const isKnown = kid === undefined || present.keys.some((key) => key.kid === kid);
      if (isKnown || present.askedAt + COOLDOWN_MS > now) return present;
      // Also if it fails, the issuer is not asked again before that time is over.
      known.set(name, { ...present, askedAt: now });
      return await read(name, rule.issuer);
    } catch (error) {
      const why = error instanceof UnreadableKeys ? error.message : 'it cannot be reached, or may not be called';
      return { fault: `the keys of the issuer cannot be read: ${why}` };
    }
  }

  function read(name: string, issuer: string): Promise<KnownKeys> {
    const present = reading.get(name);
    if (present) return present;
    const work = readKeys(issuer)
      .then((keys) => keep(name, keys))
      .finally(() => reading.delete(name));
    reading.set(name, work);
    return work;
  }

  function keep(name: string, keys: readonly PublicKey[]): KnownKeys {
    const now = clock();
    const found = { keys, until: now + KEYS_FOR_MS, askedAt: now };
    known.delete(name);
    const [oldest] = known.size >= MAX_RULES ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    known.set(name, found);
    return found;
  }

  async function readKeys(issuer: string): Promise<readonly PublicKey[]> {
    const metadata = await readJson(`${issuer.replace(/\/$/, '')}${DISCOVERY}`, 'discovery document');
    if (metadata.issuer !== issuer) throw new UnreadableKeys('its discovery document names another issuer');
    const { jwks_uri: address } = metadata;
    if (typeof address !== 'string' || !URL.canParse(address)) {
      throw new UnreadableKeys('its discovery document names no jwks_uri');
    }
    const { keys } = await readJson(address, 'key set');
    if (!Array.isArray(keys)) throw new UnreadableKeys('its key set has no keys');
    return readPublicKeys(keys).filter(isUsable);
  }

  async function readJson(url: string, what: string): Promise<Readonly<Record<string, unknown>>> {
    const answer = await fetch(url, { headers: { Accept: 'application/json' } });
    if (answer.status !== 200) throw new UnreadableKeys(`its ${what} is answered with ${answer.status}`);
    const value: unknown = await answer.json().catch(() => undefined);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    throw new UnreadableKeys(`its ${what} is not a JSON object`);
  }
}
