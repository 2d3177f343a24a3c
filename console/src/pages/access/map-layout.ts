import type { Answer } from '../../../../client/client.ts';

export type AccessMap = Answer<'GET /authz/map'>;
export type MapLine = AccessMap['lines'][number];

export const COLUMNS = ['people', 'teams', 'grants', 'places'] as const;
export type Column = (typeof COLUMNS)[number];

/** A box of the picture, and where it is. */
export interface Box {
  readonly key: string;
  readonly column: Column;
  readonly label: string;
  readonly detail: string;
  readonly people: number;
  /** The filter that narrows the map to it. */
  readonly narrow: Readonly<Record<string, string>>;
  readonly x: number;
  readonly y: number;
}

export const SIZE = { width: 1000, box: { width: 190, height: 40 }, gap: 10, top: 4 } as const;

/** Boxes of a column are near those that they have lines to, so that few lines cross. */
export function layOut(map: AccessMap): { readonly boxes: readonly Box[]; readonly height: number } {
  const all = COLUMNS.map((column) => boxesIn(map, column));
  const places = new Map<string, number>();
  // From the roles, which have the most lines, outward.
  note(all[2] ?? []);
  for (const index of [1, 3, 0]) {
    const column = all[index] ?? [];
    const weights = new Map(column.map(({ key }, place) => [key, weightOf(key, place)]));
    column.sort((one, other) => (weights.get(one.key) ?? 0) - (weights.get(other.key) ?? 0));
    note(column);
  }
  const rows = Math.max(...all.map(({ length }) => length), 1);
  const step = SIZE.box.height + SIZE.gap;
  const between = (SIZE.width - SIZE.box.width) / (COLUMNS.length - 1);
  const boxes = all.flatMap((column, index) =>
    column.map((box, place) => ({
      ...box,
      x: index * between,
      y: SIZE.top + ((rows - column.length) * step) / 2 + place * step,
    })),
  );
  return { boxes, height: SIZE.top * 2 + rows * step - SIZE.gap };

  function note(column: readonly { readonly key: string }[]): void {
    for (const [place, { key }] of column.entries()) places.set(key, place / column.length);
  }

  function weightOf(key: string, place: number): number {
    const ends = map.lines.flatMap(({ from, to }) => (from === key ? to : to === key ? from : []));
    const known = ends.flatMap((end) => places.get(end) ?? []);
    return known.length === 0 ? 1 + place : known.reduce((sum, one) => sum + one, 0) / known.length;
  }
}

/** Everything that is on a way through one of these boxes, in both directions. */
export function connected(lines: readonly MapLine[], key: string): ReadonlySet<MapLine> {
  const found = new Set<MapLine>();
  const follow = (from: 'from' | 'to', to: 'from' | 'to', start: string) => {
    const seen = new Set([start]);
    for (const end of seen) {
      for (const line of lines) {
        if (line[from] !== end) continue;
        found.add(line);
        seen.add(line[to]);
      }
    }
  };
  follow('from', 'to', key);
  follow('to', 'from', key);
  return found;
}

/** A curve from box to box. One that passes a column goes between its boxes, not behind them. */
export function pathOf(from: Box, to: Box, boxes: readonly Box[]): string {
  const start: Point = [from.x + SIZE.box.width, from.y + SIZE.box.height / 2];
  const end: Point = [to.x, to.y + SIZE.box.height / 2];
  const passed = boxes.filter(({ x }) => x > from.x && x < to.x);
  const [first] = passed;
  if (first === undefined) return `M${start.join(' ')}${curve(start, end)}`;
  const [low, high] = [first.x, first.x + SIZE.box.width];
  const straight = start[1] + ((end[1] - start[1]) * (low - start[0])) / (end[0] - start[0]);
  const gaps = passed.flatMap(({ x, y }) => (x === low ? [y - SIZE.gap / 2, y + SIZE.box.height + SIZE.gap / 2] : []));
  const y = gaps.reduce((best, one) => (Math.abs(one - straight) < Math.abs(best - straight) ? one : best));
  return `M${start.join(' ')}${curve(start, [low, y])}H${high}${curve([high, y], end)}`;
}

type Point = readonly [x: number, y: number];

function curve([x1, y1]: Point, [x2, y2]: Point): string {
  const bend = (x2 - x1) / 2;
  return `C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

function boxesIn(map: AccessMap, column: Column): Omit<Box, 'x' | 'y'>[] {
  switch (column) {
    case 'people':
      return map.people.map(({ key, type, name }) => {
        const isRobot = type === 'robot_ac';
        const narrow = { to: isRobot ? `robot:${name}` : `user:${name}` };
        return { key, column, label: name, detail: isRobot ? 'robot' : 'person', people: 1, narrow };
      });
    case 'teams':
      return map.teams.map(({ key, id, name, people }) => ({
        ...{ key, column, label: name, people },
        ...{ detail: `team of ${people}`, narrow: { to: `team:${id}` } },
      }));
    case 'grants':
      return map.grants.map(({ key, role, permission, namespaces, people }) => {
        const where = namespaces.length === 0 ? '' : ` in ${namespaces.join(', ')}`;
        // A role that is assigned on several places has a box for each.
        const place = map.lines.find(({ from }) => from === key)?.to;
        const on = map.places.find((one) => one.key === place && one.type !== 'organization');
        const label = role?.name ?? `${permission} permission`;
        // The permission of a team counts in the whole organization.
        const narrow = role ? { role: String(role.id) } : { on: 'organization' };
        return {
          key,
          column,
          label,
          detail: `${on ? `on ${on.name}, ` : ''}held by ${people.toLocaleString('en-GB')}${where}`,
          people,
          narrow,
        };
      });
    case 'places':
      return map.places.map(({ key, type, id, name, people }) => {
        const on = type === 'organization' ? type : `${type}:${id ?? name}`;
        return { key, column, label: name, detail: wordOf(type), people, narrow: { on } };
      });
  }
}

export function counted(people: number): string {
  return people === 1 ? '1 person' : `${people.toLocaleString('en-GB')} people`;
}

function wordOf(type: string): string {
  return type === 'robot_ac' ? 'robot' : type.replace('_', ' ');
}
