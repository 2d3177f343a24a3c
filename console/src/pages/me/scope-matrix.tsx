import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { Token } from '../../../../client/api.gen.ts';
import { isSiteAdmin } from '../../data/session.ts';
import { SCOPE_AREAS } from '../../parts/token-scopes.ts';

type Level = 'read' | 'write';
/** Area → what the token may do there; an area that is missing is out of reach. */
export type Levels = Readonly<Record<string, Level>>;

const CHOICES = [
  { level: undefined, title: 'Nothing' },
  { level: 'read', title: 'Read' },
  { level: 'write', title: 'Read and write' },
] as const;

/** Areas of the API, and how far a token reaches in each. */
export function ScopeMatrix({ levels }: { levels: Signal<Levels> }) {
  const id = useId();
  const areas = SCOPE_AREAS.filter(({ area }) => area !== 'admin' || isSiteAdmin.value);
  const choose = (area: string, level: Level | undefined) => {
    const { [area]: _, ...others } = levels.value;
    levels.value = level === undefined ? others : { ...others, [area]: level };
  };
  return (
    <table class="scope-matrix">
      <caption class="only-read">What the token may do, by area</caption>
      <thead>
        <tr>
          <th scope="col">Area</th>
          {CHOICES.map(({ title }) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {areas.map(({ area, title, about }) => (
          <tr key={area}>
            <th scope="row">
              {title}
              <span class="quiet small block">{about}</span>
            </th>
            {CHOICES.map((choice) => (
              <td key={choice.title}>
                <input
                  type="radio"
                  name={`${id}-${area}`}
                  aria-label={`${title}: ${choice.title}`}
                  checked={levels.value[area] === choice.level}
                  onChange={() => choose(area, choice.level)}
                />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Scope = Token['scopes'][number];

export function scopesOf(levels: Levels): Scope[] {
  return Object.entries(levels).map(([area, level]) => `${level}:${area}` as Scope);
}
