import { AppError } from '../../base/errors.ts';
import type { Actor } from '../../changes/audit-entry.ts';
import { type Once, onceFor } from '../../changes/write.ts';
import { SCOPES } from '../scopes.ts';
import type { MaybeLimits } from './token-limits.ts';
import type { TokenDetails } from './token-request.ts';
import { hashSecret, mintToken } from './token-text.ts';

/** What a delegated token was created with, if it was no password. It ends with that. */
export interface TokenOrigin {
  readonly sessionId: bigint | null;
  readonly tokenId: bigint | null;
}

export interface NewToken {
  readonly accountId: bigint;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt?: Date | null;
  readonly robotId?: bigint | null;
  readonly canRotate?: boolean;
  readonly limits?: MaybeLimits;
  /** Set for a token that a user gives to an agent. */
  readonly origin?: TokenOrigin | undefined;
  /** It is issued even if there are as many tokens as allowed. */
  readonly isBeyondLimit?: boolean;
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
  readonly canRotate: boolean;
  readonly limits: MaybeLimits;
  readonly origin: TokenOrigin | undefined;
  readonly isBeyondLimit: boolean;
  readonly actor: Actor | undefined;
}

/** A token that is to be replaced by another one. */
export interface Rotation {
  readonly id: bigint;
  readonly accountId: bigint;
  readonly robotId: bigint | null;
  /** How long the old one goes on working. */
  readonly overlapMs: number;
  readonly actor: Actor;
  /** Whether the token was used to rotate itself. For the audit log. */
  readonly isOwn: boolean;
  /** When the new one expires. Throws if the old one cannot be replaced. `now` is by the clock of the database. */
  readonly decide: (current: TokenDetails, now: Date) => Date | null;
}

export type RotationDraft = Rotation & Pick<TokenDraft, 'hash' | 'lastEight'>;

export interface TokenIssuerStore {
  create(draft: TokenDraft, once?: Once<TokenDetails>): Promise<TokenDetails | 'name taken' | 'robot gone'>;
  remove(id: bigint, actor: Actor | undefined): Promise<boolean>;
  /** Undefined if there is no such token of the account. */
  rotate(draft: RotationDraft, once?: Once<TokenDetails>): Promise<TokenDetails | undefined>;
}

/** A new token with its text. */
export type IssuedToken = TokenDetails & { readonly text: string };

export type TokenIssuer = ReturnType<typeof createTokenIssuer>;

export function createTokenIssuer(store: TokenIssuerStore, key: Buffer) {
  return { issue, revoke, rotate, mint };

  /** The text of a new token, and what is stored of it. */
  function mint(): { readonly text: string; readonly hash: Buffer; readonly lastEight: string } {
    const text = mintToken();
    return { text, hash: hashSecret(key, text), lastEight: text.slice(-8) };
  }

  /** The clear text is in this result and nowhere else. */
  async function issue(token: NewToken, once?: Once<IssuedToken>): Promise<IssuedToken> {
    const unknown = token.scopes.filter((scope) => !SCOPES.includes(scope));
    if (unknown.length > 0) throw new AppError('invalid', `unknown token scope: ${unknown.join(', ')}`);
    const { text, hash, lastEight } = mint();
    const draft = {
      accountId: token.accountId,
      robotId: token.robotId ?? null,
      name: token.name,
      hash,
      lastEight,
      scopes: token.scopes,
      expiresAt: token.expiresAt ?? null,
      canRotate: token.canRotate ?? false,
      limits: token.limits,
      origin: token.origin,
      isBeyondLimit: token.isBeyondLimit ?? false,
      actor: token.actor,
    };
    const withText = (details: TokenDetails): IssuedToken => ({ ...details, text });
    const made = await store.create(draft, onceFor(once, withText));
    if (made === 'name taken') throw nameUsed();
    if (made === 'robot gone') throw new AppError('notFound', 'robot_ac does not exist', { reason: 'robot_not_found' });
    return withText(made);
  }

  /** A successor with the same name, owner, scopes and limits. The clear text is in this result and nowhere else. */
  async function rotate(rotation: Rotation, once?: Once<IssuedToken>): Promise<IssuedToken> {
    const { text, ...stored } = mint();
    const withText = (details: TokenDetails): IssuedToken => ({ ...details, text });
    const draft = { ...rotation, ...stored };
    const made = await store.rotate(draft, onceFor(once, withText));
    if (!made) throw new AppError('notFound', 'access token does not exist', { reason: 'token_not_found' });
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
