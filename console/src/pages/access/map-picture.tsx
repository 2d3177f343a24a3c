import { useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { type AccessMap, type Box, COLUMNS, connected, layOut, type MapLine, pathOf, SIZE } from './map-layout.ts';
import './map-picture.css';

const TITLES = { people: 'People and robots', teams: 'Teams', grants: 'Roles', places: 'Apply to' } as const;
/** Of a line, by how many people it leads to. */
const THIN = 1.2;
const THICK = 7;

interface MapPictureProps {
  readonly map: AccessMap;
  readonly whyHref: (line: MapLine) => string | undefined;
  readonly onNarrow: (box: Box) => void;
}

/**
 * People → teams → roles → what they are on. A box narrows the map, a line leads to why. The arrow keys go from box to
 * box; lines are not in the order of the Tab key, because the table below has all of them.
 */
export function MapPicture({ map, whyHref, onNarrow }: MapPictureProps) {
  const pointed = useSignal('');
  const frame = useRef<HTMLDivElement>(null);
  const { boxes, height } = useMemo(() => layOut(map), [map]);
  const byKey = new Map(boxes.map((box) => [box.key, box]));
  const lit = pointed.value === '' ? undefined : connected(map.lines, pointed.value);
  const most = Math.max(...boxes.map(({ people }) => people), 1);

  function onKeyDown(event: KeyboardEvent, box: Box): void {
    const next = neighborOf(boxes, box, event.key);
    if (next === undefined) return;
    event.preventDefault();
    frame.current?.querySelector<HTMLButtonElement>(`[data-key="${CSS.escape(next.key)}"]`)?.focus();
  }

  return (
    <div ref={frame} class="access-map">
      <ul class="access-map-titles" aria-hidden="true">
        {COLUMNS.map((column) => (
          <li key={column}>
            {TITLES[column]}
            {map.left_out[column] > 0 && (
              <span class="quiet small"> {map.left_out[column].toLocaleString('en-GB')} more</span>
            )}
          </li>
        ))}
      </ul>
      <svg viewBox={`0 0 ${SIZE.width} ${height}`} role="group" aria-label="Who has access through what">
        <g>
          {map.lines.map((line) => {
            const [from, to] = [byKey.get(line.from), byKey.get(line.to)];
            if (from === undefined || to === undefined) return null;
            const state = lit === undefined ? '' : lit.has(line) ? ' shown' : ' faded';
            const href = whyHref(line);
            const share = most === 1 ? 0 : Math.min(from.people, to.people) / most;
            const width = THIN + THICK * Math.sqrt(share);
            const path = (
              <path class={`line${state}`} d={pathOf(from, to, boxes)} style={{ strokeWidth: `${width}px` }} />
            );
            return href === undefined ? (
              <g key={`${line.from} ${line.to}`}>{path}</g>
            ) : (
              <a
                key={`${line.from} ${line.to}`}
                href={href}
                tabIndex={-1}
                aria-label={`Why? ${from.label} to ${to.label}`}
              >
                {path}
                <path class="catch" d={pathOf(from, to, boxes)} />
              </a>
            );
          })}
        </g>
        {boxes.map((box) => (
          <foreignObject key={box.key} x={box.x} y={box.y} {...SIZE.box}>
            <button
              type="button"
              class="access-map-box"
              data-key={box.key}
              data-column={box.column}
              onClick={() => onNarrow(box)}
              onKeyDown={(event) => onKeyDown(event, box)}
              onFocus={() => (pointed.value = box.key)}
              onBlur={() => (pointed.value = '')}
              onPointerEnter={() => (pointed.value = box.key)}
              onPointerLeave={() => (pointed.value = '')}
            >
              <bdi>{box.label}</bdi>
              <span class="quiet">{box.detail}</span>
            </button>
          </foreignObject>
        ))}
      </svg>
    </div>
  );
}

/** Up and down within a column, left and right to the nearest box of the next one that has any. */
function neighborOf(boxes: readonly Box[], box: Box, key: string): Box | undefined {
  const column = boxes.filter((one) => one.column === box.column);
  const place = column.indexOf(box);
  if (key === 'ArrowDown') return column[place + 1];
  if (key === 'ArrowUp') return column[place - 1];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (step === undefined) return undefined;
  const index = COLUMNS.indexOf(box.column);
  for (let at = index + step; at >= 0 && at < COLUMNS.length; at += step) {
    const other = boxes.filter((one) => one.column === COLUMNS[at]);
    if (other.length > 0) return other.reduce((best, one) => (distance(one, box) < distance(best, box) ? one : best));
  }
  return undefined;
}

function distance(one: Box, other: Box): number {
  return Math.abs(one.y - other.y);
}
