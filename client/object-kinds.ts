import { type GUARDED_TYPES, OBJECT_KINDS, SEARCHED_TYPES } from './object-kinds.gen.ts';

type Kinds = typeof OBJECT_KINDS;
type TypesWhere<Condition> = {
  [Type in keyof Kinds]: Kinds[Type] extends Condition ? Type : never;
}[keyof Kinds];

/** The types whose objects have a name within an organization. */
export type NamedType = Exclude<(typeof SEARCHED_TYPES)[number], 'user' | 'organization'>;
/** What commands call such a type. */
export type NamedWord = Kinds[NamedType]['word'];
/** Of these, the types that permissions are queried on. */
export type AddressedType = TypesWhere<{ isAddressed: true }>;
export type GuardedType = (typeof GUARDED_TYPES)[number];

const ALL = Object.keys(OBJECT_KINDS) as (keyof Kinds)[];
const WORDS: ReadonlyMap<string, { readonly word: string; readonly title?: string }> = new Map(
  Object.entries(OBJECT_KINDS),
);

export const NAMED_TYPES: readonly NamedType[] = SEARCHED_TYPES.filter(
  (type) => type !== 'user' && type !== 'organization',
);
export const ADDRESSED_TYPES = ALL.filter((type) => OBJECT_KINDS[type].isAddressed) as AddressedType[];

/** What commands call an object of the type: `robot` for `robot_ac`. */
export function wordOf(type: string): string {
  return WORDS.get(type)?.word ?? type;
}

/** What sentences call it: `robot account`. */
export function titleOf(type: string): string {
  const kind = WORDS.get(type);
  return kind?.title ?? kind?.word ?? type.replaceAll('_', ' ');
}

/** The type that a word names: `robot_ac` for `robot`. */
export function typeNamed(word: string): string {
  return ALL.find((type) => OBJECT_KINDS[type].word === word) ?? word;
}
