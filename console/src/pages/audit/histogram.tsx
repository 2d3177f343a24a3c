import { useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { PictureSlider } from '../../parts/picture-slider.tsx';
import { columnAt, sliderKeys } from '../../parts/slider-keys.ts';
import { Table } from '../../parts/table.tsx';
import './histogram.css';

export type Histogram = Answer<'GET /orgs/{org}/audit/histogram'>;

const HEIGHT = 60;
const WIDTH = 10;
const DAY_S = 86_400;

interface HistogramProps {
  readonly of: Histogram;
  /** The entries from one moment until before another one. */
  readonly onChoose: (since: string, until: string) => void;
}

/**
 * How many entries there were when. Dragging over the bars chooses their time; so do the arrow keys, with Shift for
 * several, and Enter. The table has the same numbers.
 */
export function AuditHistogram({ of, onChoose }: HistogramProps) {
  const { counts, counted_since: countedSince } = of;
  const last = counts.length - 1;
  const at = useSignal(last);
  /** Where the choice began; the other end is `at`. */
  const from = useSignal<number | undefined>(undefined);
  const isDragging = useSignal(false);
  if (counts.length === 0) return null;
  const end = Math.min(at.value, last);
  const [first, until] = [Math.min(from.value ?? end, end), Math.max(from.value ?? end, end)];
  const most = Math.max(1, ...counts);
  const choose = (one: number, other: number) => onChoose(momentOf(of, one), momentOf(of, other + 1));
  const placeOf = (event: PointerEvent) => columnAt(event, counts.length);

  const move = sliderKeys(end, last, (next, { shiftKey }) => {
    from.value = shiftKey ? (from.value ?? end) : undefined;
    at.value = next;
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return move(event);
    event.preventDefault();
    choose(first, until);
    from.value = undefined;
  };

  return (
    <figure class="picture histogram">
      <PictureSlider
        class="histogram-bars"
        label="Entries by time"
        last={last}
        at={end}
        text={sentenceOf(of, first, until)}
        aria-describedby="histogram-help"
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          isDragging.value = true;
          at.value = placeOf(event);
          from.value = at.value;
        }}
        onPointerMove={(event) => {
          at.value = placeOf(event);
          if (!isDragging.value) from.value = undefined;
        }}
        onPointerUp={() => {
          if (isDragging.value) choose(first, until);
          isDragging.value = false;
          from.value = undefined;
        }}
        onPointerCancel={() => {
          isDragging.value = false;
          from.value = undefined;
        }}
      >
        <svg viewBox={`0 0 ${counts.length * WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {counts.map((count, place) => {
            const height = count === 0 ? 0 : Math.max(2, (count / most) * HEIGHT);
            const isChosen = place >= first && place <= until;
            return (
              <g key={place} class={isChosen ? 'chosen' : undefined}>
                {isChosen && <rect class="ground" x={place * WIDTH} width={WIDTH} height={HEIGHT} />}
                <rect x={place * WIDTH + 1} y={HEIGHT - height} width={WIDTH - 2} height={height} />
              </g>
            );
          })}
        </svg>
      </PictureSlider>
      <div class="line apart small quiet">
        <span>{inWords(momentOf(of, 0), of.span_seconds)}</span>
        <span>{inWords(momentOf(of, counts.length), of.span_seconds)} UTC</span>
      </div>
      <figcaption class="small">
        {sentenceOf(of, first, until)}
        {countedSince !== undefined && (
          <span class="quiet"> There are more before {inWords(countedSince, 0)} than can be counted.</span>
        )}{' '}
        <span id="histogram-help" class="quiet">
          Drag, or use the arrow keys and Enter, to see only that time.
        </span>
      </figcaption>
      <details>
        <summary class="small">As a table</summary>
        <Table
          caption="Entries by time"
          rows={counts.flatMap((count, place) => (count === 0 ? [] : [{ count, place }])).reverse()}
          keyOf={({ place }) => String(place)}
          onOpen={({ place }) => choose(place, place)}
          columns={[
            { key: 'since', title: 'From (UTC)', cell: ({ place }) => inWords(momentOf(of, place), of.span_seconds) },
            { key: 'until', title: 'Until', cell: ({ place }) => inWords(momentOf(of, place + 1), of.span_seconds) },
            { key: 'count', title: 'Entries', cell: ({ count }) => count, isNumber: true },
          ]}
        />
      </details>
    </figure>
  );
}

function momentOf({ since, span_seconds }: Histogram, place: number): string {
  return new Date(Date.parse(since) + place * span_seconds * 1000).toISOString().replace('.000', '');
}

function sentenceOf(of: Histogram, first: number, last: number): string {
  const count = of.counts.slice(first, last + 1).reduce((sum, one) => sum + one, 0);
  const [since, until] = [momentOf(of, first), momentOf(of, last + 1)];
  const isDay = of.span_seconds === DAY_S && first === last;
  const time = isDay
    ? inWords(since, DAY_S)
    : `${inWords(since, of.span_seconds)} to ${inWords(until, of.span_seconds)}`;
  return `${time}: ${count} ${count === 1 ? 'entry' : 'entries'}.`;
}

const DATE = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' } as const;
const byDay = new Intl.DateTimeFormat('en-GB', DATE);
const byMinute = new Intl.DateTimeFormat('en-GB', { ...DATE, hour: '2-digit', minute: '2-digit' });

/** The time of day matters only where spans are shorter than a day. */
function inWords(at: string, spanSeconds: number): string {
  return (spanSeconds >= DAY_S ? byDay : byMinute).format(new Date(at)).replace(',', '');
}
