import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Answer } from '../../../../client/client.ts';
import { useOrgName } from '../../data/org.ts';
import { objectPath, principalKey } from '../../data/principal.ts';
import { MarkedName } from '../../parts/marked-name.tsx';
import type { Said } from './matrix-marks.ts';

type Matrix = Answer<'POST /authz/matrix'>;

interface MatrixGridProps {
  readonly matrix: Matrix;
  readonly say: (cell: number) => Said;
  readonly whyHref: (row: number, column: number) => string;
  /** Whether the cell holds what is to be seen first, such as what only one of two people has. */
  readonly isMarked?: ((row: number, column: number) => boolean) | undefined;
}

/** In CSS pixels, as access.css has them. Cells of one size make it possible to draw only those in sight. */
const ROW = 32;
const COLUMN = 104;
const NAMES = 120;
const HEAD = 36;
const WINDOWED_ROWS = 100;
const WINDOWED_COLUMNS = 40;
const OVERSCAN = 4;

interface Range {
  readonly rows: readonly [number, number];
  readonly columns: readonly [number, number];
}

/** A row for each person and a column for each object. Arrow keys go from cell to cell; each cell leads to why. */
export function MatrixGrid({ matrix, say, whyHref, isMarked }: MatrixGridProps) {
  const org = useOrgName();
  const { users, objects, cells } = matrix;
  const box = useRef<HTMLDivElement>(null);
  const active = useSignal<readonly [row: number, column: number]>([0, 0]);
  const mayFocus = useRef(false);
  const [range, update] = useRange(box, users.length, objects.length);
  const [firstRow, lastRow] = range.rows;
  const [firstColumn, lastColumn] = range.columns;
  const row = clamp(active.value[0], firstRow, lastRow - 1);
  const column = clamp(active.value[1], firstColumn, lastColumn - 1);
  useLayoutEffect(() => {
    if (!mayFocus.current) return;
    mayFocus.current = false;
    // While other rows took the place of the old ones, the box may have been too short to stay where it was.
    reveal(active.peek());
    box.current?.querySelector<HTMLElement>('a[tabindex="0"]')?.focus({ preventScroll: true });
  });
  const shown = objects.slice(firstColumn, lastColumn);
  return (
    <div class="matrix-box" ref={box} data-matrix>
      <table
        role="grid"
        ref={sized('width', NAMES + objects.length * COLUMN)}
        aria-rowcount={users.length + 1}
        aria-colcount={objects.length + 1}
        onKeyDown={onKey}
      >
        <caption class="only-read">What people may do with objects</caption>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" class="corner" aria-colindex={1}>
              Person
            </th>
            {firstColumn > 0 && <td aria-hidden="true" ref={sized('width', firstColumn * COLUMN)} />}
            {shown.map((object, place) => (
              <th key={String(object.id)} scope="col" aria-colindex={firstColumn + place + 2} title={object.name}>
                <bdi>{object.name || String(object.id)}</bdi>
              </th>
            ))}
            {lastColumn < objects.length && (
              <td aria-hidden="true" ref={sized('width', (objects.length - lastColumn) * COLUMN)} />
            )}
          </tr>
        </thead>
        <tbody>
          {firstRow > 0 && <SpacerRow height={firstRow * ROW} />}
          {users.slice(firstRow, lastRow).map((user, place) => (
            <tr key={principalKey(user)} aria-rowindex={firstRow + place + 2}>
              <th scope="row" aria-colindex={1} title={user.name}>
                {/* Between two cells, the keyboard does not stop at each name. */}
                <a href={objectPath(org, user) ?? ''} tabIndex={-1}>
                  <MarkedName of={user} />
                </a>
              </th>
              {firstColumn > 0 && <td aria-hidden="true" />}
              {shown.map((object, index) => {
                const at = [firstRow + place, firstColumn + index] as const;
                const said = say(cells[at[0]]?.[at[1]] ?? 0);
                return (
                  <td
                    key={String(object.id)}
                    aria-colindex={at[1] + 2}
                    class={`${said.isHeld ? 'held' : ''} ${isMarked?.(...at) ? 'only-here' : ''}`}
                  >
                    <a
                      href={whyHref(...at)}
                      tabIndex={at[0] === row && at[1] === column ? 0 : -1}
                      title={said.words}
                      onFocus={() => (active.value = at)}
                    >
                      <span aria-hidden="true">{said.text}</span>
                      <span class="only-read">{said.words}</span>
                    </a>
                  </td>
                );
              })}
              {lastColumn < objects.length && <td aria-hidden="true" />}
            </tr>
          ))}
          {lastRow < users.length && <SpacerRow height={(users.length - lastRow) * ROW} />}
        </tbody>
      </table>
    </div>
  );

  function onKey(event: KeyboardEvent): void {
    const next = moved(event, [row, column], users.length, objects.length);
    if (!next || event.altKey || event.metaKey) return;
    event.preventDefault();
    mayFocus.current = true;
    active.value = next;
    reveal(next);
    update();
  }

  /** Scrolls just as far as needed. The head and the names cover the cells behind them. */
  function reveal([nextRow, nextColumn]: readonly [number, number]): void {
    const { current } = box;
    if (!current) return;
    const { clientHeight, clientWidth } = current;
    current.scrollTop = clamp(current.scrollTop, HEAD + (nextRow + 1) * ROW - clientHeight, nextRow * ROW);
    current.scrollLeft = clamp(
      current.scrollLeft,
      NAMES + (nextColumn + 1) * COLUMN - clientWidth,
      nextColumn * COLUMN,
    );
  }
}

function SpacerRow({ height }: { height: number }) {
  return (
    <tr aria-hidden="true">
      <td ref={sized('height', height)} />
    </tr>
  );
}

/** Where a key leads from a cell. */
function moved(
  { key, ctrlKey }: KeyboardEvent,
  [row, column]: readonly [number, number],
  rows: number,
  columns: number,
): readonly [number, number] | undefined {
  const to = (nextRow: number, nextColumn: number) =>
    [clamp(nextRow, 0, rows - 1), clamp(nextColumn, 0, columns - 1)] as const;
  if (key === 'ArrowDown') return to(row + 1, column);
  if (key === 'ArrowUp') return to(row - 1, column);
  if (key === 'ArrowRight') return to(row, column + 1);
  if (key === 'ArrowLeft') return to(row, column - 1);
  if (key === 'PageDown') return to(row + 10, column);
  if (key === 'PageUp') return to(row - 10, column);
  if (key === 'Home') return to(ctrlKey ? 0 : row, 0);
  if (key === 'End') return to(ctrlKey ? rows - 1 : row, columns - 1);
  return undefined;
}

/** The rows and columns near the visible part. A small matrix is drawn whole. */
function useRange(box: { current: HTMLDivElement | null }, rows: number, columns: number): [Range, () => void] {
  const whole: Range = {
    rows: [0, Math.min(rows, WINDOWED_ROWS)],
    columns: [0, Math.min(columns, WINDOWED_COLUMNS)],
  };
  const range = useSignal<Range>(whole);
  const update = () => {
    const { current } = box;
    if (!current) return;
    const next: Range = {
      rows: near(current.scrollTop, current.clientHeight, ROW, rows, WINDOWED_ROWS),
      columns: near(current.scrollLeft, current.clientWidth, COLUMN, columns, WINDOWED_COLUMNS),
    };
    if (`${next.rows} ${next.columns}` !== `${range.peek().rows} ${range.peek().columns}`) range.value = next;
  };
  useEffect(() => {
    const { current } = box;
    update();
    current?.addEventListener('scroll', update, { passive: true });
    addEventListener('resize', update);
    return () => {
      current?.removeEventListener('scroll', update);
      removeEventListener('resize', update);
    };
  }, [rows, columns]);
  const {
    rows: [first, last],
    columns: [left, right],
  } = range.value;
  // After a new answer, the range may still be that of a larger one.
  const fits = last <= rows && right <= columns && last > first && right > left;
  return [fits ? range.value : whole, update];
}

function near(
  from: number,
  size: number,
  each: number,
  count: number,
  windowedFrom: number,
): readonly [number, number] {
  if (count <= windowedFrom) return [0, count];
  const first = Math.max(0, Math.floor(from / each) - OVERSCAN);
  return [Math.min(first, count - 1), Math.min(count, Math.ceil((from + size) / each) + OVERSCAN)];
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

/** Set through the property, because the policy forbids style attributes. */
function sized(what: 'width' | 'height', pixels: number) {
  return (element: HTMLElement | null) => {
    if (element) element.style[what] = `${pixels}px`;
  };
}
