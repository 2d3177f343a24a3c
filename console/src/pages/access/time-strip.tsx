import { type Signal, useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { useOrg } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { serverNow } from '../../data/server-time.ts';
import { PictureSlider } from '../../parts/picture-slider.tsx';
import { sliderKeys } from '../../parts/slider-keys.ts';
import { Table } from '../../parts/table.tsx';
import './time-strip.css';

type Change = Answer<'GET /authz/changes'>['entries'][number];

/** A moment at which something changed who may do what. */
interface Step {
  /** Just before it, as `at` of a question. */
  readonly before: string;
  readonly at: number;
  readonly changes: readonly Change[];
}

const DAY_MS = 86_400_000;
const DAYS = 30;
const WIDTH = 1000;
const HEIGHT = 28;

interface TimeStripProps {
  readonly org: string;
  readonly at: Signal<string>;
  /** Whether the page has a question that can be asked about the past. */
  readonly isAsked: boolean;
}

/**
 * One line per change of access in the last 30 days, for users who may read the audit log. The arrow keys go from one to
 * the next, and the page shows how things were just before it; the end is now.
 */
export function TimeStrip({ org, at, isAsked }: TimeStripProps) {
  const { may } = useOrg();
  const isShown = isAsked && may('can_view_audit_log') === true;
  // Whole hours, so that the answer is the same one while the page changes.
  const since = new Date(Math.floor((serverNow() - DAYS * DAY_MS) / 3_600_000) * 3_600_000).toISOString();
  const { data } = useResource(
    isShown ? 'GET /authz/changes' : undefined,
    isShown ? { query: { org, since } } : undefined,
  );
  if (data === undefined) return null;
  // Nothing can be asked about a moment at which there was no organization.
  const steps = stepsOf(data.entries).filter(({ before }) => Date.parse(before) >= Date.parse(data.begins_at));
  if (steps.length === 0) return null;
  return <Strip steps={steps} total={data.total} shown={data.entries.length} at={at} />;
}

interface StripProps {
  readonly steps: readonly Step[];
  readonly total: number;
  readonly shown: number;
  readonly at: Signal<string>;
}

function Strip({ steps, total, shown, at }: StripProps) {
  const pointed = useSignal<number | undefined>(undefined);
  const now = serverNow();
  const oldest = steps[0]?.at ?? now;
  // Changes of one afternoon are not one line at the edge of a month.
  const from = oldest - Math.max(60_000, (now - oldest) * 0.05);
  const xOf = (moment: number) => ((moment - from) / (now - from)) * WIDTH;
  const current = placeOf(steps, at.value);
  const choose = (place: number) => {
    at.value = steps[Math.max(0, place)]?.before ?? '';
  };

  function nearest(event: MouseEvent): number {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
    const x = ((event.clientX - left) / width) * WIDTH;
    const distances = [...steps.map((step) => Math.abs(xOf(step.at) - x)), Math.abs(WIDTH - x)];
    return distances.indexOf(Math.min(...distances));
  }

  const told = pointed.value ?? current;
  return (
    <figure class="picture time-strip">
      <PictureSlider
        class="time-line"
        label="Moment"
        last={steps.length}
        at={current}
        text={sentenceOf(steps[current])}
        onKeyDown={sliderKeys(current, steps.length, choose)}
        onClick={(event) => choose(nearest(event))}
        onPointerMove={(event) => (pointed.value = nearest(event))}
        onPointerLeave={() => (pointed.value = undefined)}
      >
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <path class="axis" d={`M0 ${HEIGHT - 1}H${WIDTH}`} />
          {steps.map((step, place) => (
            <path
              key={step.before}
              class={place === current ? 'tick chosen' : place === told ? 'tick told' : 'tick'}
              d={`M${xOf(step.at).toFixed(1)} ${HEIGHT}V${place === current ? 0 : 8}`}
            />
          ))}
          <path class={current === steps.length ? 'tick chosen' : 'tick'} d={`M${WIDTH - 1} ${HEIGHT}V0`} />
        </svg>
      </PictureSlider>
      <div class="line apart small quiet">
        <span>{inWords(from)}</span>
        <span>Now</span>
      </div>
      <figcaption class="small">
        {sentenceOf(steps[told])}{' '}
        <span class="quiet">
          {total > shown ? `The newest ${shown} of ${total} changes of 30 days.` : ''} Arrow keys or a click choose a
          change.
        </span>
      </figcaption>
      <details>
        <summary class="small">As a table</summary>
        <Table
          caption="Changes of access"
          rows={[...steps].reverse()}
          keyOf={(step) => step.before}
          onOpen={(step) => (at.value = step.before)}
          columns={[
            { key: 'at', title: 'Just before (UTC)', cell: (step) => inWords(step.at) },
            { key: 'what', title: 'Change', cell: (step) => <bdi>{step.changes.map(wordsOf).join(', ')}</bdi> },
          ]}
        />
      </details>
    </figure>
  );
}

/** The oldest first. Changes of the same moment are one step. */
export function stepsOf(entries: readonly Change[]): readonly Step[] {
  const byMoment = new Map<string, Change[]>();
  for (const entry of [...entries].reverse()) {
    const same = byMoment.get(entry.at) ?? [];
    same.push(entry);
    byMoment.set(entry.at, same);
  }
  return [...byMoment].map(([moment, changes]) => {
    const at = Date.parse(moment);
    return { before: new Date(at - 1).toISOString(), at, changes };
  });
}

/** Before which change the page is: after all of them if it shows the present. */
function placeOf(steps: readonly Step[], at: string): number {
  if (at === '') return steps.length;
  const moment = Date.parse(at);
  const next = steps.findIndex((step) => step.at > moment);
  return next === -1 ? steps.length : next;
}

function sentenceOf(step: Step | undefined): string {
  if (step === undefined) return 'Now.';
  return `Just before ${inWords(step.at)} UTC: ${step.changes.map(wordsOf).join(', ')}.`;
}

function wordsOf({ actor, action, object, user }: Change): string {
  const what = object.name === '' ? `${object.type} ${object.id}` : object.name;
  return `${actor.name} ${action.replaceAll(/[._]/g, ' ')} ${what}${user === undefined ? '' : ` (${user.name})`}`;
}

const format = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
});

function inWords(at: number): string {
  return format.format(new Date(at)).replace(',', '');
}
