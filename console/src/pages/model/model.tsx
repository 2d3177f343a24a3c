import { useSignal } from '@preact/signals';
import { useResource } from '../../data/resource.ts';
import { Card, Chip } from '../../parts/bits.tsx';
import { TextField } from '../../parts/field.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { ModelMap } from './model-map.tsx';
import './model.css';

/** What the rules are: the text of the model, and every relation in words. */
export function ModelPage() {
  const model = useResource('GET /authz/model');
  const filter = useSignal('');
  const type = useSignal('');
  const wanted = filter.value.trim().toLowerCase();
  return (
    <Page
      title="Permission model"
      lead="The rules that every answer follows from. They are the same for all organizations."
    >
      <Show of={model} rows={10}>
        {({ text, types }) => (
          <div class="stack">
            <ModelMap text={text} chosen={type} />
            <div class="model">
              <Card title="The model">
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
                <pre class="fga" tabIndex={0}>
                  {text.split('\n').map((line, number) => (
                    <FgaLine key={number} line={line} />
                  ))}
                </pre>
              </Card>
              <div class="stack">
                <div data-filter>
                  <TextField label="Filter relations" type="search" value={filter} placeholder="Word or relation" />
                </div>
                {types.map(({ type: name, relations }) => {
                  if (type.value !== '' && type.value !== name) return null;
                  const shown = relations.filter((one) =>
                    `${name} ${one.relation} ${one.title} ${one.description}`.toLowerCase().includes(wanted),
                  );
                  if (shown.length === 0) return null;
                  return (
                    <Card key={name} title={name}>
                      <dl class="relations">
                        {shown.map((one) => (
                          <div key={one.relation}>
                            <dt>
                              {one.title} <code class="quiet">{one.relation}</code>
                              {one.catalog && <Chip tone="mark">role permission</Chip>}
                            </dt>
                            <dd class="quiet small">{one.description}</dd>
                          </div>
                        ))}
                      </dl>
                    </Card>
                  );
                })}
              </div>
            </div>
          </div>
        )}
      </Show>
    </Page>
  );
}

const KEYWORDS = /\b(model|schema|type|relations|define|or|and|but not|from)\b/g;

function FgaLine({ line }: { line: string }) {
  if (/^\s*#/.test(line)) return <span class="comment">{`${line}\n`}</span>;
  const parts = line.split(KEYWORDS);
  return (
    <span>
      {parts.map((part, place) => (place % 2 === 1 ? <b key={place}>{part}</b> : part))}
      {'\n'}
    </span>
  );
}
