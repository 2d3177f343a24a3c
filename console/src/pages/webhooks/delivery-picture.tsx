import { useSignal } from '@preact/signals';
import { serverNow } from '../../data/server-time.ts';
import { capital } from '../../parts/capital.ts';
import { PictureSlider } from '../../parts/picture-slider.tsx';
import { columnAt, sliderKeys } from '../../parts/slider-keys.ts';
import { Table } from '../../parts/table.tsx';
import { type DeliverySpan, deliverySpans, STACK } from './delivery-hours.ts';
import type { Delivery } from './webhook-place.ts';
import { DELIVERY_STATES } from './webhook-words.ts';
import './delivery-picture.css';

const WIDTH = 10;
const HEIGHT = 60;
const HOUR_MS = 3_600_000;

interface PictureProps {
  /** Those that are loaded, the newest first. */
  readonly deliveries: readonly Delivery[];
  readonly hasMore: boolean;
}

/** Deliveries per hour by how they ended. The arrow keys go from hour to hour; the table has the same numbers. */
export function DeliveryPicture({ deliveries, hasMore }: PictureProps) {
  const spans = deliverySpans(deliveries, serverNow());
  const last = spans.length - 1;
  const chosen = useSignal<number | undefined>(undefined);
  const at = Math.min(chosen.value ?? last, last);
  const most = Math.max(1, ...spans.map(({ total }) => total));
  const hours = ((spans[0]?.until ?? 0) - (spans[0]?.from ?? 0)) / HOUR_MS;
  const name = hours === 1 ? 'Deliveries per hour' : `Deliveries per ${hours} hours`;
  return (
    <figure class="picture delivery-picture">
      <PictureSlider
        class="delivery-bars"
        label={name}
        last={last}
        at={at}
        text={sentenceOf(spans[at])}
        onKeyDown={sliderKeys(at, last, (place) => (chosen.value = place))}
        onPointerMove={(event) => (chosen.value = columnAt(event, spans.length))}
        onPointerLeave={() => (chosen.value = undefined)}
      >
        <svg viewBox={`0 0 ${spans.length * WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {spans.map((span, place) => (
            <Bar key={span.from} span={span} x={place * WIDTH} most={most} isChosen={place === at} />
          ))}
        </svg>
      </PictureSlider>
      <div class="line apart small quiet">
        <span>{inWords(spans[0]?.from)}</span>
        <span>{inWords(spans.at(-1)?.until)} UTC</span>
      </div>
      <figcaption class="small">
        {sentenceOf(spans[at])}
        {hasMore && <span class="quiet"> Only the newest {deliveries.length}, which are listed below.</span>}
      </figcaption>
      <details>
        <summary class="small">As a table</summary>
        <Table
          caption={name}
          rows={spans.filter(({ total }) => total > 0).reverse()}
          keyOf={({ from }) => String(from)}
          columns={[
            { key: 'from', title: 'From (UTC)', cell: ({ from }) => inWords(from) },
            ...STACK.map((state) => ({
              key: state,
              title: capital(DELIVERY_STATES[state].label),
              cell: ({ counts }: DeliverySpan) => counts[state],
              isNumber: true,
            })),
          ]}
        />
      </details>
    </figure>
  );
}

function Bar({ span, x, most, isChosen }: { span: DeliverySpan; x: number; most: number; isChosen: boolean }) {
  let top = HEIGHT;
  return (
    <g>
      {isChosen && <rect class="ground" x={x} width={WIDTH} height={HEIGHT} />}
      {STACK.map((state) => {
        const height = (span.counts[state] / most) * HEIGHT;
        top -= height;
        if (height === 0) return null;
        // What failed is narrower, so that its color is not all that tells it.
        const inset = state === 'failed' ? 3 : 1;
        const { tone } = DELIVERY_STATES[state];
        return (
          <rect key={state} class={`fill ${tone}`} x={x + inset} y={top} width={WIDTH - 2 * inset} height={height} />
        );
      })}
    </g>
  );
}

function sentenceOf(span: DeliverySpan | undefined): string {
  if (span === undefined) return '';
  const { counts, total } = span;
  const parts = STACK.filter((state) => counts[state] > 0).map(
    (state) => `${counts[state]} ${DELIVERY_STATES[state].label.toLowerCase()}`,
  );
  return `${inWords(span.from)} to ${inWords(span.until)}: ${total === 0 ? 'no delivery' : parts.join(', ')}.`;
}

const format = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

function inWords(at: number | undefined): string {
  return at === undefined ? '' : format.format(new Date(at)).replace(',', '');
}
