import { type Db, sql } from '../db/db.ts';
import { type SearchText, searchText } from '../db/search-text.ts';
import { EVERYWHERE, IN_PLACES, MAX_RANKED, type SearchRow } from './search.rows.ts';
import type { FoundInstaller, Listed, SearchPlace, SearchStore } from './search.ts';

const INSTALLERS = sql(
  'search.installers',
  `select i.id, i.marketplace, o.name as organization from installer i left join account o on o.id = i.organization_id
    where lower(i.id) like $1 or o.name_key like $1
    order by (lower(i.id) like $2 or coalesce(o.name_key like $2, false)) desc, i.id limit $3`,
);
/** Follows every other character, so that this ends what begins with a text. */
const LAST_CHARACTER = '\u{10FFFF}';

export function createSearchStore(db: Db): SearchStore {
  return {
    async find(type, text, place, most) {
      const wanted = searchText(text);
      if (place.isEverywhere) return await findEverywhere(type, text.toLowerCase(), wanted, most);
      return await findIn(place, type, wanted, most);
    },

    async findInstallers(text, most) {
      const { contains, begins } = searchText(text);
      return await db.query<FoundInstaller & Record<string, unknown>>(INSTALLERS, [contains, begins, most]);
    },
  };

  async function findIn({ owners, ids }: SearchPlace, type: Listed, { contains, begins }: SearchText, most: number) {
    return await db.query<SearchRow>(IN_PLACES[type], [owners, ids, contains, begins, most]);
  }

  /** In the whole deployment. Whatever is found, none of the statements reads more than some thousands of rows. */
  async function findEverywhere(type: Listed, text: string, { contains, begins, pieces }: SearchText, most: number) {
    const { beginning, near, having, along } = EVERYWHERE[type];
    const first = await db.query<SearchRow>(beginning, [text, `${text}${LAST_CHARACTER}`, most]);
    if (first.length >= most) return first;
    const close = after(first, await db.query<SearchRow>(near, [contains, most]));
    if (close.length >= most) return close;
    const ranked = await db.query<SearchRow & { hits: number }>(having, [pieces, contains, begins, most]);
    if ((ranked[0]?.hits ?? 0) <= MAX_RANKED) return ranked;
    const found = after(first, await db.query<SearchRow>(along, [contains, most]));
    return found.length >= most ? found : ranked;

    function after(those: readonly SearchRow[], others: readonly SearchRow[]): SearchRow[] {
      const known = new Set(those.map(({ id }) => id));
      return [...those, ...others.filter(({ id }) => !known.has(id))].slice(0, most);
    }
  }
}
