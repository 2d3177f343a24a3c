import type { Group } from './crowd.ts';
import type { Comparison, Held } from './holdings.ts';
import type { Kin, ObjectClasses } from './object-classes.ts';

/** What the members of a group gain and lose. */
export interface Difference {
  readonly gains: readonly Held[];
  readonly loses: readonly Held[];
  /** What they lose on objects that stay, also what follows from what they lose on the organization. */
  readonly lost: readonly Held[];
}

type Relations = readonly string[];

interface Change {
  readonly gains: Relations;
  readonly loses: Relations;
}

/**
 * What a group gains and loses: on the organization, and on its objects as far as that does not follow. On ordinary
 * objects, everything follows from the organization, so on others only the rest is listed.
 */
export function differenceOf(
  group: Group,
  organization: string,
  { before, after, own: owned }: Pick<Comparison, 'before' | 'after' | 'own'>,
  objects: ObjectClasses | undefined,
): Difference {
  const [had, has] = [before.get(group), after.get(group)];
  const gains: Held[] = [];
  const loses: Held[] = [];
  const lost: Held[] = [];
  if (!had || !has) return { gains, loses, lost };
  const held = (object: string, from: typeof had): Relations => from.get(object) ?? [];
  const whole = compare(held(organization, had), held(organization, has));
  add(organization, whole);
  for (const relation of whole.loses) lost.push({ object: organization, relation });
  if (!objects) return { gains, loses, lost };
  const own = new Set(owned.get(group));
  for (const kin of objects.kin) addKin(kin, objects, own);
  for (const object of own) {
    const kin = objects.kinOf.get(object);
    if (kin) addObjects([object], kin, objects, held(object, had), held(object, has));
  }
  return { gains, loses, lost };

  function addKin(kin: Kin, { ordinary }: ObjectClasses, except: ReadonlySet<string>): void {
    const usual = ordinary.get(kin.type);
    if (kin.before === usual && kin.after === usual) return;
    const of = (one: Kin['before'], from: typeof had) => (one ? held(one.sample, from ?? new Map()) : []);
    const others = kin.objects.filter((object) => !except.has(object));
    addObjects(others, kin, objects, of(kin.before, had), of(kin.after, has));
  }

  function addObjects(
    listed: readonly string[],
    kin: Kin,
    classes: ObjectClasses | undefined,
    now: Relations,
    then: Relations,
  ): void {
    const usual = classes?.ordinary.get(kin.type)?.sample ?? '';
    const [usually, usuallyThen] = [held(usual, had ?? new Map()), held(usual, has ?? new Map())];
    const change = compare(now, then);
    const follows = compare(usually, usuallyThen);
    // Whoever may edit teams may edit a new one, and can edit a deleted one no longer.
    const rest = {
      gains: without(change.gains, kin.before ? follows.gains : usuallyThen),
      loses: without(change.loses, kin.after ? follows.loses : usually),
    };
    for (const object of listed) {
      add(object, rest);
      if (kin.before && kin.after) for (const relation of change.loses) lost.push({ object, relation });
    }
  }

  function add(object: string, change: Change): void {
    for (const relation of change.gains) gains.push({ object, relation });
    for (const relation of change.loses) loses.push({ object, relation });
  }
}

function compare(before: Relations, after: Relations): Change {
  return { gains: without(after, before), loses: without(before, after) };
}

function without(some: Relations, others: Relations): Relations {
  return some.filter((one) => !others.includes(one));
}
