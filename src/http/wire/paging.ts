import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Page, PageRequest } from '../../base/page.ts';
import { originFormTarget } from '../target.ts';
import { shownAs } from './schemas.ts';

const DEFAULT_LIMIT = 30;
const MAX_LIMIT = 50;
const MAX_PAGE = 1_000_000_000;

/** A page by its number. */
export interface NumberedPage extends PageRequest {
  /** From 1. */
  readonly page: number;
}

/** Read by `readPage`, not by validation: a value that cannot be read means the default, never an error. */
export const PageQuery = pageQuery(MAX_LIMIT);

export function pageQuery(max: number) {
  return {
    page: Type.Optional(wholeNumber('Page number, starting at 1.')),
    limit: Type.Optional(wholeNumber(`Entries per page: ${DEFAULT_LIMIT} by default, maximum ${max}.`)),
  };
}

/** A number in a query that is read leniently, see `readLimit`. */
export function wholeNumber(description: string) {
  return shownAs(Type.Unsafe<unknown>({ description }), { type: 'integer', minimum: 1 });
}

/** Only the text "true" turns it on; any other text counts as false, as clients of this API family expect. */
export function flag(description: string) {
  return shownAs(Type.String({ description }), { type: 'boolean' });
}

/** A value out of a fixed list. Unlike a page, another value is an error: it would give another list than was meant. */
export function choice<const Choice extends string>(choices: readonly Choice[], description: string) {
  return Type.Optional(Type.Unsafe<Choice>({ type: 'string', enum: [...choices], description }));
}

export const Descending = choice(['asc', 'desc'], 'Ascending or descending. By default, ascending.');

export function readPage(query: { page?: unknown; limit?: unknown }, max = MAX_LIMIT): NumberedPage {
  const page = Math.min(positive(query.page) ?? 1, MAX_PAGE);
  const limit = readLimit(query.limit, DEFAULT_LIMIT, max);
  return { page, limit, offset: (page - 1) * limit };
}

/** A limit that cannot be read means the default, never an error. */
export function readLimit(given: unknown, byDefault: number, max: number): number {
  return Math.min(positive(given) ?? byDefault, max);
}

/**
 * `X-Total-Count`, and `Link` to the other pages if there are any. Of a list that was not counted to its end, no last
 * page is known, and there is a next one as long as pages are full.
 */
export function showPage(
  request: FastifyRequest,
  reply: FastifyReply,
  baseUrl: string,
  page: NumberedPage,
  list: number | Page<unknown>,
): void {
  const { total, items, isBounded } = typeof list === 'number' ? { total: list, items: [], isBounded: false } : list;
  reply.header('X-Total-Count', String(total));
  if (isBounded) {
    const before = page.page > 1 ? [link(1, 'first'), link(page.page - 1, 'prev')] : [];
    reply.header('Link', [...(items.length === page.limit ? [link(page.page + 1, 'next')] : []), ...before].join(','));
    return;
  }
  const last = Math.max(1, Math.ceil(total / page.limit));
  if (last === 1) return;
  const here = Math.min(page.page, last);
  const links = [
    ...(here < last ? [link(here + 1, 'next'), link(last, 'last')] : []),
    ...(here > 1 ? [link(1, 'first'), link(here - 1, 'prev')] : []),
  ];
  reply.header('Link', links.join(','));

  function link(number: number, rel: string): string {
    const url = new URL(`${baseUrl}${originFormTarget(request.url)}`);
    url.searchParams.set('page', String(number));
    url.searchParams.delete('token');
    url.searchParams.delete('access_token');
    return `<${url.href}>; rel="${rel}"`;
  }
}

function positive(value: unknown): number | undefined {
  return typeof value === 'string' && /^0*[1-9]\d{0,18}$/.test(value) ? Number(value) : undefined;
}
