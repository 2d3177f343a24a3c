import type { MaybeLimits } from '../identity/tokens/token-limits.ts';

/** The public keys of an issuer, as the caller wrote them. */
export interface JsonWebKeySet {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** What a token of an issuer must say to be accepted in place of a stored token of a robot. */
export interface TrustRuleDraft {
  readonly name: string;
  readonly issuer: string;
  readonly audience: string;
  /** Undefined: the keys are fetched from the issuer. */
  readonly jwks: JsonWebKeySet | undefined;
  /** By the name of a claim, or by a JSON pointer to one. A value ends in `*` if it is a prefix. */
  readonly claims: Readonly<Record<string, string>>;
  /** What the issued token may be used for. */
  readonly scopes: readonly string[];
  readonly limits: MaybeLimits;
  readonly lifetimeSeconds: number;
  /** Each outside token is accepted once. */
  readonly singleUse: boolean;
}

export interface TrustRule extends TrustRuleDraft {
  readonly id: bigint;
  readonly robotId: bigint;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  /** How many of its issued tokens have not expired. */
  readonly liveTokens: number;
  readonly version: number;
}

/** Whether a change ends the tokens of the rule: a new name says nothing about what they may do. */
export function changesTrust(current: TrustRuleDraft, next: TrustRuleDraft): boolean {
  const said = ({ name: _, ...rest }: TrustRuleDraft) => canonical(rest);
  return said(trustRuleDraft(current)) !== said(trustRuleDraft(next));
}

export function trustRuleDraft(rule: TrustRuleDraft): TrustRuleDraft {
  const { name, issuer, audience, jwks, claims, scopes, limits, lifetimeSeconds, singleUse } = rule;
  return { name, issuer, audience, jwks, claims, scopes, limits, lifetimeSeconds, singleUse };
}

/** The same text for the same content, whatever the order of keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === 'bigint') return String(part);
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
