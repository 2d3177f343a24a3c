import Type from 'typebox';
import { readCursor, writeCursor } from '../base/cursor.ts';
import { AppError } from '../base/errors.ts';
import { readLimit, wholeNumber } from '../http/wire/paging.ts';
import { named, shownAs } from '../http/wire/schemas.ts';
import { MARKETPLACE_NAMES, type MarketplaceName } from './marketplaces.ts';

const DEFAULT_LIMIT = 30;
const MAX_LIMIT = 200;

export const OrNull = <T>(type: string, more: object = {}) => Type.Unsafe<T | null>({ type: [type, 'null'], ...more });
/** In a response. */
export const MarketplaceText = Type.String({ enum: MARKETPLACE_NAMES });
export const text = (description: string) => Type.Optional(Type.String({ description }));
export const marketplaceQuery = (what: string) =>
  Type.Optional(
    shownAs(Type.String({ description: `Only ${what} of this marketplace. Case does not matter.` }), {
      type: 'string',
      enum: MARKETPLACE_NAMES,
    }),
  );

/** The lists of the listener are read from one place to the next. */
export const PlaceQuery = {
  cursor: text('The next_cursor of the previous page.'),
  limit: Type.Optional(wholeNumber(`Entries per page: ${DEFAULT_LIMIT} by default, maximum ${MAX_LIMIT}.`)),
};
export const pageOf = <Entry extends Parameters<typeof Type.Array>[0]>(name: string, entry: Entry) =>
  named(name, Type.Object({ items: Type.Array(entry), next_cursor: OrNull<string>('string') }));

export function readMarketplace(name: string | undefined): MarketplaceName | undefined {
  if (name === undefined) return undefined;
  const found = MARKETPLACE_NAMES.find((one) => one.toLowerCase() === name.toLowerCase());
  if (!found) throw new AppError('invalid', `marketplace must be one of ${MARKETPLACE_NAMES.join(', ')}`);
  return found;
}

interface Places<Item, Place> {
  /** A cursor of one list means nothing in another. */
  readonly kind: string;
  readonly write: (item: Item) => string;
  /** Undefined for a text that `write` does not write. */
  readonly read: (text: string) => Place | undefined;
}

/** One more than fits on the page is asked for, which says whether there is another page. */
export async function showPlaces<Item, Place, Shown>(
  query: { cursor?: string; limit?: unknown },
  { kind, write, read }: Places<Item, Place>,
  list: (after: Place | undefined, limit: number) => Promise<readonly Item[]>,
  present: (item: Item) => Shown,
): Promise<{ items: Shown[]; next_cursor: string | null }> {
  const limit = readLimit(query.limit, DEFAULT_LIMIT, MAX_LIMIT);
  const after = query.cursor === undefined ? undefined : readCursor(query.cursor, place);
  const found = await list(after, limit + 1);
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const next = found.length > limit && last !== undefined ? writeCursor(`${kind} ${write(last)}`) : null;
  return { items: items.map(present), next_cursor: next };

  function place(cursor: string): Place | undefined {
    return cursor.startsWith(`${kind} `) ? read(cursor.slice(kind.length + 1)) : undefined;
  }
}

/** The place of an entry that has a number. */
export function readNumber(text: string): bigint | undefined {
  return /^\d{1,18}$/.test(text) ? BigInt(text) : undefined;
}
