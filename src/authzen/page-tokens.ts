import { createHash } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { SignedTexts } from '../base/signed-text.ts';

/** Where a search continues. */
export interface Place {
  readonly offset: number;
  readonly limit: number;
}

export interface PageInput {
  readonly token: string | undefined;
  readonly limit: number | undefined;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
const LIFETIME_MS = 3_600_000;

export type PageTokens = ReturnType<typeof createPageTokens>;

/** Tokens for the next page of a search. They are good only for the same caller and the same request. */
export function createPageTokens(texts: SignedTexts) {
  return { read, next };

  function read({ token, limit }: PageInput, search: readonly unknown[], now: Date): Place {
    if (limit !== undefined && (limit < 1 || limit > MAX_LIMIT)) {
      throw new AppError('invalid', `page.limit must be a number from 1 to ${MAX_LIMIT}`);
    }
    if (token === undefined || token === '') return { offset: 0, limit: limit ?? DEFAULT_LIMIT };
    const content = texts.read(token, now);
    const [of, offset, before] = content === undefined ? [] : (JSON.parse(content) as [string, number, number]);
    if (of !== nameOf(search) || offset === undefined || before === undefined) {
      const message = 'page.token is not of this request: repeat the request without a token';
      throw new AppError('invalid', message);
    }
    return { offset, limit: limit ?? before };
  }

  /** Empty if there is nothing more. */
  function next({ offset, limit }: Place, total: number, search: readonly unknown[], now: Date): string {
    if (offset + limit >= total) return '';
    const content = JSON.stringify([nameOf(search), offset + limit, limit]);
    return texts.make(content, new Date(now.getTime() + LIFETIME_MS));
  }
}

function nameOf(search: readonly unknown[]): string {
  const text = JSON.stringify(search, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
  return createHash('sha256').update(text).digest('base64url');
}
