import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useSettled } from '../../data/filters.ts';
import { orgPath } from '../../data/org.ts';
import { useList } from '../../data/resource.ts';
import { phaseTone } from '../../parts/bits.tsx';
import { PictureSlider } from '../../parts/picture-slider.tsx';
import { sliderKeys } from '../../parts/slider-keys.ts';
import { Table } from '../../parts/table.tsx';
import { type PHASES, titleOf } from './cluster-words.ts';
import { columnsOf, dotAt, dotsOf, type FieldPart, partsOf, placeAt, totalOf } from './field-places.ts';
import './cluster-field.css';

interface FieldProps {
  readonly org: string;
  readonly byPhase: Readonly<Record<string, number | undefined>>;
}

/**
 * A dot for each cluster, by phase and then by name, also for ten thousand of them. Pointing at one, or the arrow keys,
 * ask for its name; a click or Enter opens it. The table has the same numbers.
 */
export function ClusterField({ org, byPhase }: FieldProps) {
  const { route } = useLocation();
  const parts = partsOf(byPhase);
  const total = totalOf(parts);
  const columns = columnsOf(total);
  const rows = Math.ceil(total / columns);
  const chosen = useSignal<number | undefined>(undefined);
  const at = chosen.value === undefined ? undefined : Math.min(chosen.value, total - 1);
  const place = at === undefined ? undefined : placeAt(parts, at);
  // Only once the pointer rests: a field is crossed faster than names can be asked for.
  const settled = useSettled(place === undefined ? '' : `${place.phase} ${place.rank}`);
  const isAsked = place !== undefined && settled === `${place.phase} ${place.rank}`;
  const found = useList(isAsked ? 'GET /orgs/{org}/clusters' : undefined, {
    path: { org },
    query: { phase: place?.phase as (typeof PHASES)[number], sort: 'name', limit: 1, page: place?.rank ?? 1 },
  });
  const cluster = isAsked ? found.data?.[0] : undefined;
  const open = () => {
    if (cluster !== undefined) route(orgPath(org, `/clusters/${cluster.id}`));
    else if (place !== undefined) route(listOf(org, place.phase));
  };

  const move = sliderKeys(at ?? 0, total - 1, (next) => (chosen.value = next), columns);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return move(event);
    event.preventDefault();
    open();
  };

  function onPointerMove(event: PointerEvent): void {
    const { left, top, width, height } = (event.currentTarget as Element).getBoundingClientRect();
    const column = Math.floor(((event.clientX - left) / width) * columns);
    const row = Math.floor(((event.clientY - top) / height) * rows);
    const next = row * columns + column;
    chosen.value = next >= 0 && next < total && column < columns ? next : undefined;
  }

  const told =
    place && `${place.phase} ${place.rank} of ${byPhase[place.phase]}${cluster ? `: ${titleOf(cluster)}` : ''}`;
  return (
    <figure class="picture cluster-field">
      <PictureSlider
        class="field-box"
        label="Clusters, the worst first"
        first={1}
        last={total}
        at={(at ?? 0) + 1}
        text={told ?? `${total} clusters`}
        onKeyDown={onKeyDown}
        onFocus={() => (chosen.value ??= 0)}
        onBlur={() => (chosen.value = undefined)}
        onPointerMove={onPointerMove}
        onPointerLeave={() => (chosen.value = undefined)}
        onClick={open}
      >
        <svg viewBox={`0 0 ${columns} ${rows}`} aria-hidden="true">
          <Dots parts={parts} columns={columns} />
          {at !== undefined && <path class="chosen" d={dotAt(at, columns)} />}
        </svg>
      </PictureSlider>
      <figcaption class="small quiet">
        {told === undefined ? (
          'Each square is a cluster. Arrow keys choose one, and Enter opens it.'
        ) : (
          <bdi>{told}</bdi>
        )}
      </figcaption>
      <details>
        <summary class="small">As a table</summary>
        <Table
          caption="Clusters by phase"
          rows={parts}
          keyOf={({ phase }) => phase}
          hrefOf={({ phase }) => listOf(org, phase)}
          columns={[
            { key: 'phase', title: 'Phase', cell: ({ phase }) => phase },
            { key: 'count', title: 'Clusters', cell: ({ count }) => count, isNumber: true },
          ]}
        />
      </details>
    </figure>
  );
}

/** Drawn again only if the numbers change, and not for each dot that the pointer crosses. */
function Dots({ parts, columns }: { parts: readonly FieldPart[]; columns: number }) {
  return useMemo(() => {
    let first = 0;
    return parts.map(({ phase, count }) => {
      const d = dotsOf(first, count, columns);
      first += count;
      return <path key={phase} class={`fill ${phaseTone(phase)}`} d={d} />;
    });
  }, [JSON.stringify(parts)]);
}

function listOf(org: string, phase: string): string {
  return orgPath(org, `/clusters?${new URLSearchParams({ phase })}`);
}
