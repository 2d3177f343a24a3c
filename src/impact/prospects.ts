import type { Held } from './holdings.ts';
import type { Outlook } from './lasting.ts';
import type { ObjectClasses } from './object-classes.ts';

/** Something that somebody gains or loses, and until when they hold it, or would have held it. */
export interface TimedHeld extends Held {
  /** Undefined if it does not end by itself. */
  readonly until: Date | undefined;
}

/** Something that somebody can do before and after the changes, but not for as long, or for longer. */
export interface KeptHeld extends TimedHeld {
  readonly untilBefore: Date | undefined;
}

type Ends = ReadonlyMap<string, Date | undefined>;

const NO_ENDS: Ends = new Map();

/** Adds until when it lasts, at one of the two moments. */
export function timed(
  list: readonly Held[],
  outlook: Outlook | undefined,
  moment: keyof Outlook,
  objects: ObjectClasses | undefined,
): TimedHeld[] {
  return list.map(({ object, relation }) => {
    const lasting = outlook?.[moment];
    const sample = objects?.kinOf.get(object)?.[moment]?.sample ?? '';
    const ends = lasting?.get(object) ?? lasting?.get(sample);
    return { object, relation, until: ends?.get(relation) };
  });
}

/** What lasts longer, or less long. On ordinary objects that follows from the organization, and is not listed. */
export function keptOf(
  { before, after }: Outlook,
  organization: string,
  objects: ObjectClasses | undefined,
): readonly KeptHeld[] {
  const found: KeptHeld[] = [];
  compare([organization], before.get(organization), after.get(organization), [NO_ENDS, NO_ENDS]);
  if (!objects) return found;
  const { kin, ordinary, kinOf } = objects;
  const own = [...after.keys()].filter((object) => kinOf.has(object));
  for (const one of kin) {
    const usual = ordinary.get(one.type);
    if (!one.before || !one.after || (one.before === usual && one.after === usual)) continue;
    const others = one.objects.filter((object) => !after.has(object));
    compare(others, before.get(one.before.sample), after.get(one.after.sample), usually(one.type));
  }
  for (const object of own) compare([object], before.get(object), after.get(object), usually(typeOf(object)));
  return found;

  function usually(type: string): readonly [Ends, Ends] {
    const sample = ordinary.get(type)?.sample ?? '';
    return [before.get(sample) ?? NO_ENDS, after.get(sample) ?? NO_ENDS];
  }

  function compare(
    listed: readonly string[],
    had: Ends = NO_ENDS,
    has: Ends = NO_ENDS,
    [hadUsually, hasUsually]: readonly [Ends, Ends],
  ): void {
    for (const [relation, until] of has) {
      const untilBefore = had.get(relation);
      if (!had.has(relation) || isSame(until, untilBefore)) continue;
      const follows =
        hadUsually.has(relation) &&
        hasUsually.has(relation) &&
        isSame(hadUsually.get(relation), untilBefore) &&
        isSame(hasUsually.get(relation), until);
      if (!follows) for (const object of listed) found.push({ object, relation, until, untilBefore });
    }
  }
}

function isSame(one: Date | undefined, other: Date | undefined): boolean {
  return one?.getTime() === other?.getTime();
}

function typeOf(object: string): string {
  return object.slice(0, object.indexOf(':'));
}
