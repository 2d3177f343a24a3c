import { CST } from 'yaml';
import { yieldToEventLoop } from '../base/scheduling/slices.ts';

/**
 * Cuts a file into parts that are small enough to be composed in one go each: the document with the last entries of its
 * lists, which say where the lists end, and lists of a few entries each. A list is the value of a key of the document, or
 * of `items` in such a value. What is not in the shape of a file stays whole, and must be small.
 *
 * 1. Every token of the file is in exactly one part, so every check of the library is made.
 * 2. A cut list differs from the list in the file only by the items that it lacks, and by the comma before its first.
 */
interface YamlParts {
  readonly rest: readonly CST.Token[];
  /** Where the lists were that were cut, and their parts, each as a document of its own. */
  readonly cuts: readonly Cut[];
}

interface Cut {
  /** Such as `roles`, or `teams` and `items`. */
  readonly path: readonly string[];
  readonly lists: readonly CST.Token[];
}

type List = CST.BlockSequence | CST.FlowCollection;
type Item = CST.CollectionItem;

/** Of a section that says more about itself. */
const ITEMS = 'items';
/** For the longest role that makes sense, with a thousand teams. */
const MAX_TOKENS = 8_000;
const TOKENS_IN_LIST = 2_000;
const TOKENS_A_BREATH = 20_000;

/** `reject` gets the offset of what is too large. */
export async function partsOf(tokens: readonly CST.Token[], reject: (offset: number) => never): Promise<YamlParts> {
  const document = tokens.find((token) => token.type === 'document');
  const map = document?.type === 'document' ? mapOf(document.value) : undefined;
  if (document?.type !== 'document' || !map) {
    if (weigh(tokens) > MAX_TOKENS) reject(0);
    return { rest: tokens, cuts: [] };
  }
  const cuts: Cut[] = [];
  const value = await withoutLists(map, [], cuts, reject);
  const rest = tokens.map((token) => (token === document ? { ...document, value } : token)) as CST.Token[];
  if (weigh(rest) > MAX_TOKENS) reject(document.offset);
  return { rest, cuts };
}

type Mapping = CST.BlockMap | CST.FlowCollection;

/** The mapping with only the last entries of its lists. The others are noted in `cuts`. */
async function withoutLists(
  map: Mapping,
  path: readonly string[],
  cuts: Cut[],
  reject: (offset: number) => never,
): Promise<CST.Token> {
  const items: Item[] = [];
  for (const pair of map.items as Item[]) {
    const { key, value } = pair;
    const name = key && CST.isScalar(key) ? textOf(key) : undefined;
    const own = mapOf(value);
    if (name !== undefined && isList(value) && (path.length === 0 || name === ITEMS)) {
      items.push({ ...pair, value: await tailWithCut(value, [...path, name], cuts, reject) });
    } else if (name !== undefined && own && path.length === 0) {
      items.push({ ...pair, value: await withoutLists(own, [name], cuts, reject) });
    } else items.push(pair);
  }
  return { ...map, items } as CST.Token;
}

async function tailWithCut(
  list: List,
  path: readonly string[],
  cuts: Cut[],
  reject: (offset: number) => never,
): Promise<CST.Token> {
  const all = list.items as readonly Item[];
  const tail = tailOf(all);
  const lists = await cut(list, all.slice(0, tail), reject);
  cuts.push({ path, lists: lists.map((one) => ({ type: 'document', offset: one.offset, start: [], value: one })) });
  return withItems(list, all.slice(tail));
}

function mapOf(value: CST.Token | undefined | null): Mapping | undefined {
  return value?.type === 'block-map' || isFlow(value, '{') ? (value as Mapping) : undefined;
}

function isList(value: CST.Token | undefined | null): value is List {
  return value?.type === 'block-seq' || isFlow(value, '[');
}

function isFlow(token: CST.Token | undefined | null, start: '{' | '['): boolean {
  return token?.type === 'flow-collection' && token.start.source === start;
}

function textOf(key: CST.Token): string | undefined {
  return CST.resolveAsScalar(key)?.value;
}

async function cut(list: List, all: readonly Item[], reject: (offset: number) => never): Promise<List[]> {
  const lists: List[] = [];
  let items: Item[] = [];
  let weight = 0;
  let sinceBreath = 0;
  for (const item of all) {
    const own = weighItem(item);
    const last = items.at(-1);
    if (own > MAX_TOKENS || weight > MAX_TOKENS) reject(item.value?.offset ?? list.offset);
    if (weight + own > TOKENS_IN_LIST && last && !isEmpty(last)) {
      lists.push(withItems(list, items));
      [items, weight] = [[item], own];
    } else {
      items.push(item);
      weight += own;
    }
    sinceBreath += own;
    if (sinceBreath > TOKENS_A_BREATH) {
      sinceBreath = 0;
      await yieldToEventLoop();
    }
  }
  if (items.length > 0) lists.push(withItems(list, items));
  return lists;
}

/** At the end of a list, and only there, an item may be empty. So a list is not cut after one. */
function tailOf(items: readonly Item[]): number {
  let tail = Math.max(0, items.length - 1);
  for (let last = items[tail - 1]; last && isEmpty(last); last = items[tail - 1]) tail--;
  return tail;
}

function isEmpty({ key, sep, value }: Item): boolean {
  return !key && !sep && !value;
}

function withItems(list: List, [first, ...others]: readonly Item[]): List {
  return { ...list, items: first ? [withoutComma(first), ...others] : [] } as List;
}

/** In a list in brackets, each item begins with the comma after the one before. */
function withoutComma(item: Item): Item {
  const place = item.start.findIndex(({ type }) => type === 'comma');
  return place < 0 ? item : { ...item, start: item.start.toSpliced(place, 1) };
}

/** The number of tokens. They are not nested deeply. */
function weigh(tokens: readonly CST.Token[]): number {
  let weight = 0;
  for (const token of tokens) {
    weight++;
    if ('items' in token) for (const item of token.items as Item[]) weight += weighItem(item);
    if (token.type === 'document' && token.value) weight += weigh([token.value]);
    if ('end' in token && Array.isArray(token.end)) weight += token.end.length;
  }
  return weight;
}

function weighItem({ start, key, sep, value }: Item): number {
  return start.length + (sep?.length ?? 0) + (key ? weigh([key]) : 0) + (value ? weigh([value]) : 0);
}
