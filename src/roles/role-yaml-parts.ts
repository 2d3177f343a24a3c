import { CST } from 'yaml';
import { yieldToEventLoop } from '../base/scheduling/slices.ts';

/**
 * Cuts a file of roles into parts that are small enough to be composed in one go each: the document with the last of its
 * roles, which says where the list ends, and lists of a few roles each. What is not in the shape of a file of roles stays whole, and must be small.
 *
 * 1. Every token of the file is in exactly one part, so every check of the library is made.
 * 2. A cut list differs from the list in the file only by the items that it lacks, and by the comma before its first.
 */
interface RoleYamlParts {
  readonly rest: readonly CST.Token[];
  /** The key of the list that was cut, and its parts, each as a document of its own. */
  readonly key: string | undefined;
  readonly lists: readonly CST.Token[];
}

type List = CST.BlockSequence | CST.FlowCollection;
type Item = CST.CollectionItem;

const KEY = 'roles';
/** For the longest role that makes sense, with a thousand teams. */
const MAX_TOKENS = 8_000;
const TOKENS_IN_LIST = 2_000;
const TOKENS_A_BREATH = 20_000;

/** `refuse` gets the offset of what is too large. */
export async function partsOf(tokens: readonly CST.Token[], reject: (offset: number) => never): Promise<RoleYamlParts> {
  const document = tokens.find((token) => token.type === 'document');
  const found = document?.type === 'document' ? findList(document.value) : undefined;
  if (document?.type !== 'document' || !found) {
    if (weigh(tokens) > MAX_TOKENS) reject(0);
    return { rest: tokens, key: undefined, lists: [] };
  }
  const { map, pair, list } = found;
  const items = list.items as readonly Item[];
  const tail = tailOf(items);
  const short = { ...pair, value: withItems(list, items.slice(tail)) };
  const value = { ...map, items: map.items.map((item) => (item === pair ? short : item)) } as CST.Token;
  const rest = tokens.map((token) => (token === document ? { ...document, value } : token));
  if (weigh(rest) > MAX_TOKENS) reject(document.offset);
  const lists = await cut(list, items.slice(0, tail), reject);
  return {
    rest,
    key: KEY,
    lists: lists.map((one) => ({ type: 'document', offset: one.offset, start: [], value: one })),
  };
}

function findList(value: CST.Token | undefined) {
  if (value?.type !== 'block-map' && !isFlow(value, '{')) return undefined;
  const map = value as CST.BlockMap | CST.FlowCollection;
  const pair = (map.items as Item[]).find(({ key }) => key && CST.isScalar(key) && textOf(key) === KEY);
  const list = pair?.value;
  if (!pair || !list || (list.type !== 'block-seq' && !isFlow(list, '['))) return undefined;
  return { map, pair, list: list as List };
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
