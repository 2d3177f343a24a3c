import { useSignal } from '@preact/signals';
import { orgPath } from '../../data/org.ts';
import { serverNow } from '../../data/server-time.ts';
import { capital } from '../../parts/capital.ts';
import { PictureSlider } from '../../parts/picture-slider.tsx';
import { columnAt, sliderKeys } from '../../parts/slider-keys.ts';
import { Table } from '../../parts/table.tsx';
import { type CalendarDay, calendarOf, ENDING_KINDS, endingWords } from './ending-days.ts';
import type { Overview } from './overview-words.ts';
import './ending-calendar.css';

const WIDTH = 10;
const HEIGHT = 40;

/** What ends on which of the next 30 days. The arrow keys go from day to day; the table has the days with something. */
export function EndingCalendar({ org, overview }: { org: string; overview: Overview }) {
  const days = calendarOf(overview, serverNow());
  const first = days.findIndex(({ total }) => total > 0);
  const chosen = useSignal<number | undefined>(undefined);
  if (first === -1) return null;
  const at = chosen.value ?? first;
  const day = days[at];
  const most = Math.max(...days.map(({ total }) => total));
  return (
    <figure class="picture ending-calendar">
      <PictureSlider
        class="ending-days"
        label="What ends, by day"
        last={days.length - 1}
        at={at}
        text={sentenceOf(day)}
        onKeyDown={sliderKeys(at, days.length - 1, (place) => (chosen.value = place))}
        onPointerMove={(event) => (chosen.value = columnAt(event, days.length))}
        onPointerLeave={() => (chosen.value = undefined)}
      >
        <svg viewBox={`0 0 ${days.length * WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {days.map(({ day: name, total }, place) => {
            const height = total === 0 ? 0 : Math.max(6, (total / most) * HEIGHT);
            const isChosen = place === at;
            return (
              <g key={name} class={isChosen ? 'chosen' : undefined}>
                <rect
                  class={isWeekend(name) ? 'ground weekend' : 'ground'}
                  x={place * WIDTH}
                  width={WIDTH}
                  height={HEIGHT}
                />
                <rect x={place * WIDTH + 1} y={HEIGHT - height} width={WIDTH - 2} height={height} />
              </g>
            );
          })}
        </svg>
      </PictureSlider>
      <div class="line apart small quiet">
        <span>{inWords(days[0]?.day)}</span>
        <span>{inWords(days.at(-1)?.day)}</span>
      </div>
      <figcaption class="small">{sentenceOf(day)}</figcaption>
      <details>
        <summary class="small">As a table</summary>
        <Table
          caption="What ends in the next 30 days"
          rows={days.filter(({ total }) => total > 0)}
          keyOf={(one) => one.day}
          columns={[
            { key: 'day', title: 'Day (UTC)', cell: (one) => inWords(one.day) },
            ...ENDING_KINDS.map(({ kind, many, path }) => ({
              key: kind,
              title: capital(many),
              cell: ({ counts }: CalendarDay) =>
                counts[kind] === undefined ? '' : <a href={orgPath(org, path)}>{counts[kind]}</a>,
              isNumber: true,
            })),
          ]}
        />
      </details>
    </figure>
  );
}

function sentenceOf(day: CalendarDay | undefined): string {
  return day === undefined ? '' : `${inWords(day.day)}: ${endingWords(day)}.`;
}

function isWeekend(day: string): boolean {
  return [0, 6].includes(new Date(day).getUTCDay());
}

const format = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });

function inWords(day: string | undefined): string {
  return day === undefined ? '' : format.format(new Date(day)).replace(',', '');
}
