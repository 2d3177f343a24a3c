import { type Signal, useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { useResource } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { When } from '../../parts/when.tsx';
import './as-of.css';

type Changes = NonNullable<Answer<'GET /authz/objects/{objectType}/{objID}/explain'>['changed_since']>;

const inWords = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** `at` of a question: absent while the page shows the present. */
export function atOf(at: Signal<string>): { readonly at?: string } {
  return at.value === '' ? {} : { at: at.value };
}

/** Chooses the moment that a page is about. It is in the address as RFC 3339, and empty for now. */
export function AsOfField({ at }: { at: Signal<string> }) {
  const typed = useSignal(at.value.slice(0, 16));
  if (at.value === '' && typed.peek() !== '' && isMoment(typed.peek())) typed.value = '';
  return (
    <div class="as-of-field">
      <TextField
        label="As of (UTC)"
        type="datetime-local"
        value={typed}
        onInput={() => {
          if (typed.value === '') at.value = '';
          else if (isMoment(typed.value)) at.value = `${typed.value.slice(0, 16)}:00Z`;
        }}
      />
    </div>
  );
}

/** What has changed since, for answers that do not bring it along. Asked only if the caller may know it. */
export function useChangesSince(org: string, at: Signal<string>, mayKnow: boolean): Changes | undefined {
  const isAsked = mayKnow && at.value !== '';
  const { data } = useResource(
    isAsked ? 'GET /authz/changes' : undefined,
    isAsked ? { query: { org, since: at.value } } : undefined,
  );
  return data;
}

/** Says that the page shows the past, and what has changed since. */
export function AsOfBanner({ at, changes: data }: { at: Signal<string>; changes: Changes | undefined }) {
  if (at.value === '') return null;
  const moment = new Date(at.value);
  return (
    <section class="as-of" aria-label="A past moment">
      <p role="status">
        {Number.isNaN(moment.getTime()) ? 'This is not a time.' : `As of ${sentence(moment)} UTC.`}
        {data && ` ${data.total} ${data.total === 1 ? 'change' : 'changes'} since.`}
      </p>
      <Button onClick={() => (at.value = '')}>Back to now</Button>
      {data && data.entries.length > 0 && (
        <details>
          <summary>What has changed since</summary>
          <ol class="bullets">
            {data.entries.map((entry) => (
              <li key={`${entry.at}${entry.action}${entry.object.id}${entry.user?.id}`}>
                <When at={entry.at} /> <bdi>{entry.actor.name}</bdi> <span class="mono">{entry.action}</span>{' '}
                <bdi>{entry.object.name || `${entry.object.type}:${entry.object.id}`}</bdi>
                {entry.user && (
                  <>
                    {' '}
                    (<bdi>{entry.user.name}</bdi>)
                  </>
                )}
              </li>
            ))}
          </ol>
          {data.total > data.entries.length && <p class="quiet">Only the newest are listed.</p>}
        </details>
      )}
    </section>
  );
}

function sentence(moment: Date): string {
  return inWords.format(moment).replace(',', '');
}

function isMoment(text: string): boolean {
  return !Number.isNaN(Date.parse(`${text}Z`));
}
