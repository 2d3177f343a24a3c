import { type Signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Card } from '../../parts/bits.tsx';
import { Table } from '../../parts/table.tsx';
import { type Edge, edgesOf } from './model-edges.ts';
import './model-map.css';

const WIDTH = 880;
const HEIGHT = 460;
const BOX = { width: 118, height: 36 };

interface Box {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

/**
 * The types of the model and what can point at what. A type that is chosen shows only its own relations, here and in the
 * list; the arrow keys go round. The table has the same lines.
 */
export function ModelMap({ text, chosen }: { text: string; chosen: Signal<string> }) {
  const { names, edges } = edgesOf(text);
  const pointed = useSignal('');
  const box = useRef<HTMLDivElement>(null);
  const places = new Map(boxesOf(names).map((one) => [one.name, one]));
  const shown = pointed.value || chosen.value;
  const isShown = ({ from, to }: Edge) => shown === '' || from === shown || to === shown;
  const visible = edges.filter(isShown);

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const buttons = [...(box.current?.querySelectorAll('button') ?? [])];
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    buttons.at((at + step) % buttons.length)?.focus();
  }

  return (
    <Card title="What points at what">
      <figure class="model-map">
        <div ref={box} class="model-map-box">
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label="Types of the model">
            <g aria-hidden="true">
              {edges.map((edge) => {
                const [from, to] = [places.get(edge.from), places.get(edge.to)];
                if (from === undefined || to === undefined) return null;
                const state = shown === '' ? '' : isShown(edge) ? ' shown' : ' faded';
                return <path key={`${edge.from} ${edge.to}`} class={`edge${state}`} d={lineOf(from, to)} />;
              })}
            </g>
            {[...places.values()].map(({ name, x, y }) => (
              <foreignObject key={name} x={x - BOX.width / 2} y={y - BOX.height / 2} {...BOX}>
                <button
                  type="button"
                  class="model-type"
                  aria-pressed={chosen.value === name}
                  onKeyDown={onKeyDown}
                  onClick={() => (chosen.value = chosen.value === name ? '' : name)}
                  onFocus={() => (pointed.value = name)}
                  onBlur={() => (pointed.value = '')}
                  onPointerEnter={() => (pointed.value = name)}
                  onPointerLeave={() => (pointed.value = '')}
                >
                  {name}
                </button>
              </foreignObject>
            ))}
          </svg>
        </div>
        <figcaption class="small">
          {shown === '' ? 'Choose a type to see only its own relations.' : sentenceOf(shown, visible)}
        </figcaption>
        <details>
          <summary class="small">As a table</summary>
          <Table
            caption="What points at what"
            rows={visible}
            keyOf={({ from, to }) => `${from} ${to}`}
            columns={[
              { key: 'from', title: 'Who or what', cell: ({ from }) => from },
              { key: 'relations', title: 'Relations', cell: ({ relations }) => relations.join(', ') },
              { key: 'to', title: 'Of', cell: ({ to }) => to },
            ]}
          />
        </details>
      </figure>
    </Card>
  );
}

function sentenceOf(type: string, edges: readonly Edge[]): string {
  const into = edges.filter(({ to }) => to === type).map(({ from, relations }) => `${from} (${relations.join(', ')})`);
  const out = edges.filter(({ from, to }) => from === type && to !== type).map(({ to }) => to);
  const parts = [
    into.length === 0 ? 'nothing points at it' : `it is pointed at by ${into.join(', ')}`,
    out.length === 0 ? 'it points at nothing' : `it points at ${out.join(', ')}`,
  ];
  return `${type}: ${parts.join('; ')}.`;
}

/** On an ellipse, in the order of the model. */
function boxesOf(names: readonly string[]): readonly Box[] {
  const [rx, ry] = [WIDTH / 2 - BOX.width / 2 - 2, HEIGHT / 2 - BOX.height / 2 - 18];
  return names.map((name, place) => {
    const angle = (2 * Math.PI * place) / names.length - Math.PI / 2;
    return { name, x: WIDTH / 2 + rx * Math.cos(angle), y: HEIGHT / 2 + ry * Math.sin(angle) };
  });
}

/** Bent towards the middle, so that lines between neighbors can be told apart. */
function lineOf(from: Box, to: Box): string {
  if (from === to) return `M${from.x + 40} ${from.y - 18}q30 -26 12 14`;
  const [x, y] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  return `M${from.x} ${from.y}Q${(x + WIDTH / 2) / 2} ${(y + HEIGHT / 2) / 2} ${to.x} ${to.y}`;
}
