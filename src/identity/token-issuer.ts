import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { type Once, onceFor } from '../changes/write.ts';
import { SCOPES } from './scopes.ts';
import type { TokenDetails } from './token-request.ts';
import { hashSecret, mintToken } from './token-text.ts';

export interface NewToken {
  readonly accountId: bigint;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt?: Date | null;
  readonly robotId?: bigint | null;
  /** For the audit log, if the action is recorded. */
  readonly actor?: Actor | undefined;
}

export interface TokenDraft {
  readonly accountId: bigint;
  readonly robotId: bigint | null;
  readonly name: string;
  readonly hash: Buffer;
  readonly lastEight: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
  readonly actor: Actor | undefined;
}

export interface TokenIssuerStore {
  create(draft: TokenDraft, once?: Once<TokenDetails>): Promise<TokenDetails | 'name taken' | 'robot gone'>;
  remove(id: bigint, actor: Actor | undefined): Promise<boolean>;
}

/** A new token with its text. */
export type IssuedToken = TokenDetails & { readonly text: string };

export type TokenIssuer = ReturnType<typeof createTokenIssuer>;

export function createTokenIssuer(store: TokenIssuerStore, key: Buffer) {
  return { issue, revoke };

  /** The clear text is in this result and nowhere else. */
  async function issue(token: NewToken, once?: Once<IssuedToken>): Promise<IssuedToken> {
    const unknown = token.scopes.filter((scope) => !SCOPES.includes(scope));
    if (unknown.length > 0) throw new AppError('invalid', `unknown token scope: ${unknown.join(', ')}`);
    const text = mintToken();
    const draft = {
      accountId: token.accountId,
      robotId: token.robotId ?? null,
      name: token.name,
      hash: hashSecret(key, text),
      lastEight: text.slice(-8),
      scopes: token.scopes,
      expiresAt: token.expiresAt ?? null,
      actor: token.actor,
    };
    const withText = (details: TokenDetails): IssuedToken => ({ ...details, text });
    const made = await store.create(draft, onceFor(once, withText));
    if (made === 'name taken') throw nameUsed();
    if (made === 'robot gone') throw new AppError('notFound', 'robot_ac does not exist', { reason: 'robot_not_found' });
    return withText(made);
  }

  async function revoke(id: bigint, actor?: Actor): Promise<void> {
    if (!(await store.remove(id, actor)))
      throw new AppError('notFound', 'token does not exist', { reason: 'token_not_found' });
  }
}

function nameUsed(): AppError {
  const message = 'access token name has been used already';
  return new AppError('malformed', message, { errors: [{ field: 'name', message }] });
}
