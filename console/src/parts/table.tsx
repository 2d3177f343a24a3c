import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Icon } from '../icons/icon.tsx';
import { Button } from './button.tsx';

export interface Column<Row> {
  readonly key: string;
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean | undefined;
  /** Sentences: they are never cut off. */
  readonly isText?: boolean | undefined;
  /** The key to sort by, if it can be sorted by. */
  readonly sortBy?: string | undefined;
  /** Hidden on narrow screens. */
  readonly isMinor?: boolean | undefined;
}

export interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Makes the whole row a link; its first cell is the real one. */
  readonly hrefOf?: ((row: Row) => string) | undefined;
  readonly onOpen?: ((row: Row) => void) | undefined;
  readonly sort?: { readonly by: string; readonly isDescending: boolean } | undefined;
  readonly onSort?: ((by: string, isDescending: boolean) => void) | undefined;
  readonly selected?: string | undefined;
  /** Rows that follow each other and are in the same group have one heading above them. */
  readonly groupOf?: ((row: Row) => string) | undefined;
  /**
   * The cells depend on nothing but their row, so a row that is the same object is not drawn again. When others take
   * their places, as after sorting, the elements stay and only their text changes.
   */
  readonly isPure?: boolean | undefined;
  readonly total?: number | undefined;
  readonly hasMore?: boolean | undefined;
  readonly onMore?: (() => void) | undefined;
}

const PAGE = 50;
const WINDOWED_FROM = 200;
const OVERSCAN = 10;
const ROW_HEIGHT = 33;

export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, keyOf, groupOf, isPure, sort, onSort, total, hasMore, onMore } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const [first, last] = useWindow(rows.length, body);
  const shown = rows.slice(first, last);
  return (
    <div class="table-box">
      <table aria-rowcount={rows.length > WINDOWED_FROM ? rows.length + 1 : undefined}>
        <caption class="only-read">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                class={classOf(column)}
                aria-sort={
                  sort && column.sortBy === sort.by ? (sort.isDescending ? 'descending' : 'ascending') : undefined
                }
              >
                {column.sortBy !== undefined && onSort ? (
                  <button
                    type="button"
                    class="sort"
                    onClick={() => onSort(column.sortBy ?? '', sort?.by === column.sortBy && !sort?.isDescending)}
                  >
                    {column.title}
                    {sort?.by === column.sortBy && (
                      <span class={sort?.isDescending ? 'arrow down' : 'arrow'} aria-hidden="true">
                        <Icon name="down" size={12} />
                      </span>
                    )}
                  </button>
                ) : (
                  column.title || <span class="only-read">Actions</span>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {first > 0 && <Spacer rows={first} columns={columns.length} />}
          {shown.map((row, index) => {
            const drawn = (
              <TableRow key={isPure ? first + index : keyOf(row)} {...props} row={row} index={first + index} />
            );
            const before = rows[first + index - 1];
            const group = groupOf?.(row);
            if (group === undefined || (before !== undefined && groupOf?.(before) === group)) return drawn;
            return [
              <tr key={`group ${group}`} class="group-row">
                <th colSpan={columns.length} scope="colgroup">
                  {group}
                </th>
              </tr>,
              drawn,
            ];
          })}
          {last < rows.length && <Spacer rows={rows.length - last} columns={columns.length} />}
        </tbody>
      </table>
      {(hasMore || total !== undefined) && (
        <footer class="line apart table-foot">
          <span class="quiet small">{countOf(rows.length, total, hasMore)}</span>
          {hasMore && <Button onClick={onMore}>{`Load ${moreOf(rows.length, total)} more`}</Button>}
        </footer>
      )}
    </div>
  );
}

/** How many the next page has. The total may be older than the rows. */
function moreOf(shown: number, total: number | undefined): number {
  const left = total === undefined ? PAGE : total - shown;
  return left < 1 ? PAGE : Math.min(PAGE, left);
}

/** Lists that come by cursor have no total until their end is reached. */
function countOf(shown: number, total: number | undefined, hasMore: boolean | undefined): string {
  if (total === undefined && hasMore) return `The first ${shown}`;
  return total !== undefined && total > shown ? `${shown} of ${total}` : `Total: ${total ?? shown}`;
}

function TableRow<Row>(props: TableProps<Row> & { row: Row; index: number }) {
  const { columns, row, index, keyOf, hrefOf, onOpen, selected, rows } = props;
  const key = keyOf(row);
  const href = hrefOf?.(row);
  const isWindowed = rows.length > WINDOWED_FROM;
  return useMemo(draw, props.isPure ? [row, index, href, isWindowed, selected === key] : [{}]);

  function draw() {
    return (
      <tr
        data-row={key}
        class={`${href || onOpen ? 'opens' : ''} ${selected === key ? 'selected' : ''}`}
        aria-rowindex={isWindowed ? index + 2 : undefined}
        aria-selected={selected === undefined ? undefined : selected === key}
        onClick={(event) => {
          // Buttons, links and fields in the row do their own work.
          if ((event.target as Element).closest('a, button, input, select, label')) return;
          if (getSelection()?.toString()) return;
          event.currentTarget.querySelector<HTMLElement>('.row-link')?.click();
        }}
      >
        {columns.map((column, place) => {
          const content = column.cell(row);
          const opener =
            href !== undefined ? (
              <a class="row-link" href={href}>
                {content}
              </a>
            ) : onOpen ? (
              <button type="button" class="row-link" onClick={() => onOpen(row)}>
                {content}
              </button>
            ) : (
              content
            );
          return place === 0 ? (
            <th key={column.key} scope="row" class={classOf(column)}>
              {opener}
            </th>
          ) : (
            <td key={column.key} class={classOf(column)}>
              {content}
            </td>
          );
        })}
      </tr>
    );
  }
}

function classOf<Row>({ isNumber, isText, isMinor }: Column<Row>): string {
  return `${isNumber ? 'number' : ''} ${isText ? 'text' : ''} ${isMinor ? 'minor' : ''}`;
}

function Spacer({ rows, columns }: { rows: number; columns: number }) {
  // Set through the property, because the policy forbids style attributes.
  const resize = (cell: HTMLTableCellElement | null) => {
    if (cell) cell.style.height = `${rows * ROW_HEIGHT}px`;
  };
  return (
    <tr aria-hidden="true">
      <td colSpan={columns} class="spacer" ref={resize} />
    </tr>
  );
}

/** Which rows are near the visible part of a long table. A short one is drawn whole. */
function useWindow(count: number, body: { current: HTMLTableSectionElement | null }): [first: number, last: number] {
  const range = useSignal<[number, number]>([0, WINDOWED_FROM]);
  useEffect(() => {
    if (count <= WINDOWED_FROM) return;
    const update = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / ROW_HEIGHT) - OVERSCAN);
      const next: [number, number] = [first, first + Math.ceil(innerHeight / ROW_HEIGHT) + 2 * OVERSCAN];
      if (next[0] !== range.peek()[0] || next[1] !== range.peek()[1]) range.value = next;
    };
    update();
    addEventListener('scroll', update, { passive: true });
    addEventListener('resize', update);
    return () => {
      removeEventListener('scroll', update);
      removeEventListener('resize', update);
    };
  }, [count, body, range]);
  return count <= WINDOWED_FROM ? [0, count] : [range.value[0], Math.min(count, range.value[1])];
}
