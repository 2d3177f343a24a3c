import { useSignal } from '@preact/signals';
import { useOrg } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { serverNow } from '../../data/server-time.ts';
import { Card, phaseTone } from '../../parts/bits.tsx';
import { Show } from '../../parts/page.tsx';
import { PictureSlider } from '../../parts/picture-slider.tsx';
import { sliderKeys } from '../../parts/slider-keys.ts';
import { Table } from '../../parts/table.tsx';
import type { Cluster } from './cluster-fields.tsx';
import { activeShare, type HealthSpan, healthSpans, lastOf, type PhaseEntry } from './health-spans.ts';
import './cluster-health.css';

const HOUR_MS = 3_600_000;
const MONTH_MS = 30 * 24 * HOUR_MS;
const WINDOWS = [
  { name: '24 hours', ms: 24 * HOUR_MS },
  { name: '30 days', ms: MONTH_MS },
];
const MAX_ENTRIES = 100;
const WIDTH = 1000;
const HEIGHT = 24;
/** How high a phase is drawn, so that its color is not all that tells it. */
const HEIGHTS: Readonly<Record<string, number>> = { ok: 24, info: 12, warn: 16, bad: 8, quiet: 4 };

/** How the cluster was in the last 24 hours and 30 days, for users who may read the audit log, which knows it. */
export function ClusterHealth({ cluster }: { cluster: Cluster }) {
  const { org, may } = useOrg();
  const isShown = may('can_view_audit_log') === true;
  const query = { object: `cluster:${cluster.id}`, action: 'cluster.phase', limit: MAX_ENTRIES };
  const log = useResource(isShown ? 'GET /orgs/{org}/audit' : undefined, { path: { org }, query });
  if (!isShown) return null;
  return (
    <Card title="Health">
      <Show of={log}>
        {({ items, next_cursor: more }) => <Health cluster={cluster} entries={items} isWhole={!more} />}
      </Show>
    </Card>
  );
}

function Health(props: { cluster: Cluster; entries: readonly PhaseEntry[]; isWhole: boolean }) {
  const { cluster, entries, isWhole } = props;
  const { createdAt, heartbeatAt, status } = cluster;
  const now = serverNow();
  const spans = healthSpans(entries, { createdAt, heartbeatAt, ...status.response }, now, isWhole);
  return (
    <>
      {WINDOWS.map(({ name, ms }) => (
        <HealthStrip key={name} name={name} begin={now - ms} now={now} spans={lastOf(spans, now, ms)} />
      ))}
      <details class="health-table">
        <summary class="small">As a table</summary>
        <Table
          caption="Phases of the last 30 days"
          rows={[...lastOf(spans, now, MONTH_MS)].reverse()}
          keyOf={({ from }) => String(from)}
          columns={[
            { key: 'phase', title: 'Phase', cell: ({ phase }) => phase ?? 'Not known' },
            { key: 'from', title: 'From (UTC)', cell: ({ from }) => inWords(from) },
            { key: 'until', title: 'Until', cell: ({ until }) => (until >= now ? 'now' : inWords(until)) },
            { key: 'lasted', title: 'Duration', cell: ({ from, until }) => durationOf(until - from), isMinor: true },
          ]}
        />
      </details>
    </>
  );
}

interface StripProps {
  readonly name: string;
  readonly begin: number;
  readonly now: number;
  readonly spans: readonly HealthSpan[];
}

/** One bar. The arrow keys go from phase to phase; so does the pointer. */
function HealthStrip({ name, begin, now, spans }: StripProps) {
  const chosen = useSignal<number | undefined>(undefined);
  const last = spans.length - 1;
  const at = Math.min(chosen.value ?? last, last);
  const xOf = (moment: number) => ((moment - begin) / (now - begin)) * WIDTH;

  const onKeyDown = sliderKeys(at, last, (place) => (chosen.value = place));

  function onPointerMove(event: PointerEvent): void {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
    const moment = begin + ((event.clientX - left) / width) * (now - begin);
    const found = spans.findIndex(({ from, until }) => from <= moment && moment < until);
    chosen.value = found === -1 ? undefined : found;
  }

  const share = activeShare(spans);
  return (
    <figure class="picture health-strip">
      <div class="line apart small">
        <span>{name}</span>
        <span class="quiet">{share === undefined ? '' : `${percentOf(share)} Active`}</span>
      </div>
      <PictureSlider
        class="health-bar"
        label={`Phases of the last ${name}`}
        last={Math.max(0, last)}
        at={Math.max(0, at)}
        text={sentenceOf(spans[at], now)}
        onKeyDown={onKeyDown}
        onPointerMove={onPointerMove}
        onPointerLeave={() => (chosen.value = undefined)}
      >
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {spans.map(({ from, until, phase }, place) => {
            const tone = phase === undefined ? 'quiet' : phaseTone(phase);
            const height = HEIGHTS[tone] ?? HEIGHT;
            // A minute of a month can be seen, too.
            const width = Math.max(2, xOf(until) - xOf(from));
            return (
              <rect
                key={from}
                class={`fill ${tone}${place === chosen.value ? ' chosen' : ''}`}
                x={Math.min(WIDTH - width, xOf(from))}
                y={HEIGHT - height}
                width={width}
                height={height}
              />
            );
          })}
        </svg>
      </PictureSlider>
      <figcaption class="small quiet">{sentenceOf(spans[at], now)}</figcaption>
    </figure>
  );
}

function sentenceOf(span: HealthSpan | undefined, now: number): string {
  if (span === undefined) return 'It was not imported yet.';
  const { phase = 'Not known', from, until } = span;
  const end = until >= now ? 'until now' : `to ${inWords(until)}`;
  return `${phase}: ${inWords(from)} ${end} (${durationOf(until - from)}).`;
}

function percentOf(share: number): string {
  // Never 100 % while anything was wrong.
  return share === 1 ? '100 %' : `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;
}

function durationOf(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 60) return `${Math.max(1, minutes)} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const format = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

function inWords(at: number): string {
  return format.format(new Date(at)).replace(',', '');
}
