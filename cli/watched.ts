import { asJson, namesIn, pickFields, type Shown, type Style } from './output.ts';

/** How a command is watched. */
export interface Watch {
  /** It lists the newest entries only, on top: what leaves the list still exists. */
  readonly newestFirst?: boolean;
  /** Fields that change all the time and mean nothing, such as an age. */
  readonly ignore?: readonly string[];
}

export type Change = 'added' | 'changed' | 'removed';

/** A thing in the result of one look. */
export interface Thing {
  readonly key: string;
  /** As --json prints it. */
  readonly data: unknown;
  /** Equal as long as nothing changes that is worth telling. */
  readonly state: string;
  /** Its line of a table, or all lines of a result that is one thing. */
  readonly lines: readonly string[];
  readonly name: string | undefined;
}

/** A result, taken apart into the things that it shows. */
export interface Look {
  /** The line above a table; undefined if the result is one thing. */
  readonly head: string | undefined;
  readonly things: ReadonlyMap<string, Thing>;
  /** Everything that the command prints by itself. */
  readonly lines: readonly string[];
}

export function lookAt(
  shown: Shown,
  style: Style,
  fields: readonly string[] | undefined,
  { ignore = [] }: Watch,
): Look {
  const lines = shown.lay(style);
  const { data } = shown;
  const picked = fields === undefined ? data : pickFields(data, fields);
  const names = namesIn(shown);
  if (!Array.isArray(data)) {
    const thing = { key: '', data: picked, state: stateOf(picked, ignore), lines, name: names[0] };
    return { head: undefined, things: new Map([['', thing]]), lines };
  }
  const things = data.map((row: unknown, index): Thing => {
    const one = (picked as readonly unknown[])[index];
    const state = stateOf(one, ignore);
    // Below the line with the titles, each thing has one line.
    return { key: keyOf(row) ?? state, data: one, state, lines: lines.slice(index + 1, index + 2), name: names[index] };
  });
  return { head: data.length > 0 ? lines[0] : '', things: new Map(things.map((thing) => [thing.key, thing])), lines };
}

export type Changes = readonly (readonly [Change, Thing])[];

/** Everything, for the first look. The oldest comes first where the newest is on top: what is new continues below. */
export function everything({ things }: Look, { newestFirst }: Watch): Changes {
  const all = [...things.values()].map((thing) => ['added', thing] as const);
  return newestFirst ? all.reverse() : all;
}

export function changesBetween(before: Look, now: Look, { newestFirst }: Watch): Changes {
  const changes: [Change, Thing][] = [];
  for (const [key, thing] of now.things) {
    const known = before.things.get(key);
    if (known?.state !== thing.state) changes.push([known ? 'changed' : 'added', thing]);
  }
  if (newestFirst) return changes.reverse();
  const removed = [...before.things.values()].filter(({ key }) => !now.things.has(key));
  return [...changes, ...removed.map((thing): [Change, Thing] => ['removed', thing])];
}

/** True if nothing of the look before is left, so that there may be more in between. */
export function mayLack(before: Look, now: Look): boolean {
  return before.things.size > 0 && now.things.size > 0 && ![...before.things.keys()].some((key) => now.things.has(key));
}

function stateOf(data: unknown, ignore: readonly string[]): string {
  if (typeof data !== 'object' || data === null) return asJson(data ?? null);
  return asJson(Object.fromEntries(Object.entries(data).filter(([key]) => !ignore.includes(key))));
}

/** What stays the same while everything else about a thing changes. */
function keyOf(row: unknown): string | undefined {
  const { metadata, id, uid, fingerprint, name, login } = row as Readonly<Record<string, unknown>>;
  const inner = (metadata as { readonly uid?: unknown } | undefined)?.uid;
  const key = inner ?? id ?? uid ?? fingerprint ?? name ?? login;
  return key === undefined ? undefined : asJson(key);
}
