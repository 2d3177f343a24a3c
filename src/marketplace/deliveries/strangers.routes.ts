import Type from 'typebox';
import { isStorable } from '../../base/fields.ts';
import { siteAdmin } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { named, Timestamp, timestamp } from '../../http/wire/schemas.ts';
import {
  MarketplaceText,
  marketplaceQuery,
  PlaceQuery,
  pageOf,
  readMarketplace,
  showPlaces,
} from '../marketplace.view.ts';
import type { Stranger, StrangerPlace, Strangers } from './strangers.ts';

const ListQuery = Type.Object({ marketplace: marketplaceQuery('callers'), ...PlaceQuery });
const Entry = named(
  'UnknownCaller',
  Type.Object({
    day: Type.Unsafe<string>({ type: 'string', format: 'date', description: 'A day of UTC.' }),
    marketplace: MarketplaceText,
    reason: Type.String({ description: 'Such as secret_mismatch or ip_outside_ranges.' }),
    source: Type.String({ description: 'The address. "others" stands for those that were too many to tell apart.' }),
    times: Type.Integer({ description: 'How many requests that were, on that day.' }),
    last_at: Timestamp,
  }),
);
const PLACES = {
  kind: 'stranger',
  write: ({ day, marketplace, reason, source }: Stranger) => JSON.stringify([day, marketplace, reason, source]),
  read: readPlace,
};

/** Callers that failed to authenticate, for site administrators. */
export function strangerRoutes(scope: Scope, strangers: Strangers): void {
  scope.get(
    '/admin/marketplace/strangers',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        summary: 'List callers of the marketplace listener that were rejected and only counted, by day',
        tags: ['marketplace'],
        extension: true,
        querystring: ListQuery,
        response: { 200: pageOf('UnknownCallerPage', Entry) },
      },
    },
    async (request) => {
      const marketplace = readMarketplace(request.query.marketplace);
      return await showPlaces(
        request.query,
        PLACES,
        (after, limit) => strangers.list({ marketplace, after, limit }),
        ({ lastAt, ...same }) => ({ ...same, last_at: timestamp(lastAt) }),
      );
    },
  );
}

function readPlace(text: string): StrangerPlace | undefined {
  try {
    const [day, marketplace, reason, source, ...rest] = JSON.parse(text) as unknown[];
    const isWhole = [day, marketplace, reason, source].every(isPlain) && rest.length === 0;
    if (!isWhole || !isDay(day as string)) return undefined;
    return { day, marketplace, reason, source } as StrangerPlace;
  } catch {
    return undefined;
  }
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' && isStorable(value);
}

/** Not 31 February, and not a year that only JavaScript has. */
function isDay(text: string): boolean {
  if (!/^[1-9]\d{3}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(text);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
