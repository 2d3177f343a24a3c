import { AppError } from '../base/errors.ts';
import {
  checkClaims,
  findSigner,
  type IssuerKeys,
  outsideTokenOf,
  type SignatureVerifier,
  type TokenCheck,
} from './outside-token.ts';
import { type OutsideTokenText, readOutsideToken, type UnreadableToken } from './outside-token-text.ts';
import { spentBy } from './token-exchange.ts';
import type { TrustRule } from './trust-rule.ts';

export interface RuleVerdict {
  readonly id: bigint;
  readonly name: string;
  readonly accepted: boolean;
  readonly checks: readonly TokenCheck[];
}

interface Parts {
  readonly rulesOf: (robotId: bigint) => Promise<TrustRule[]>;
  readonly isSpent: (hashes: readonly Buffer[]) => Promise<boolean>;
  readonly keys: IssuerKeys;
  readonly verify: SignatureVerifier;
}

export type TrustCheck = ReturnType<typeof createTrustCheck>;

/** Which rule of a robot would accept a token, and what each asks of it. The token is neither stored nor spent. */
export function createTrustCheck({ rulesOf, isSpent, keys, verify }: Parts) {
  return { explain };

  async function explain(robotId: bigint, text: string, now: Date): Promise<RuleVerdict[]> {
    const token = readOutsideToken(text);
    return await Promise.all((await rulesOf(robotId)).map((rule) => judge(rule, token, now)));
  }

  async function judge(rule: TrustRule, token: OutsideTokenText | UnreadableToken, now: Date): Promise<RuleVerdict> {
    const said = checkClaims(rule, token, now);
    const { signature, used } = await checkSignature(rule, token, said);
    const [issuer, audience, expiry, ...claims] = said;
    if (!issuer || !audience || !expiry) throw new AppError('internal', 'a check is missing');
    const checks = [signature, issuer, audience, expiry, used, ...claims];
    return { id: rule.id, name: rule.name, accepted: checks.every(({ holds }) => holds), checks };
  }

  async function checkSignature(rule: TrustRule, token: OutsideTokenText | UnreadableToken, said: TokenCheck[]) {
    const wanted = rule.singleUse ? 'not used before' : 'any number of times';
    const unknown: TokenCheck = { what: 'used', wanted, got: null, holds: false };
    const rejected = (got: string) => ({ signature: signatureCheck(got, false), used: unknown });
    if ('fault' in token) return rejected(token.fault);
    // The keys of another issuer would say nothing, and it does not have to be asked for them.
    if (!said.some(({ what, holds }) => what === 'issuer' && holds)) return rejected('the token is of another issuer');
    if (outsideTokenOf(rule, token) === undefined) return rejected('its sub or its jti is not text');
    const signer = await findSigner(token, await keys.find(rule, token.kid), verify);
    if ('fault' in signer) return rejected(signer.fault);
    const signature = signatureCheck(`${token.algorithm}${token.kid === undefined ? '' : ` with ${token.kid}`}`, true);
    const isUsed = await isSpent(spentBy(token, signer.fingerprint));
    const holds = !rule.singleUse || !isUsed;
    return { signature, used: { ...unknown, got: isUsed ? 'used' : 'not used', holds } };
  }
}

function signatureCheck(got: string, holds: boolean): TokenCheck {
  return { what: 'signature', wanted: 'a signature with a key of the issuer', got: got.slice(0, 300), holds };
}
