import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { makeChanges } from '../../data/make-change.ts';
import { orgPath } from '../../data/org.ts';
import { Card, Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import type { Explanation, Remedy } from './proof.ts';

interface RemediesProps {
  readonly org: string;
  readonly user: string;
  readonly explanation: Explanation;
}

/** Where a remedy is in the page, so that a picture can lead there. */
export function remedyId(place: number): string {
  return `remedy-${place + 1}`;
}

/** How to allow it, what grants the least first. What the caller may do themselves is one click away. */
export function Remedies({ org, user, explanation }: RemediesProps) {
  const { remedies = [], remedies_note: note = '' } = explanation;
  const chosen = useSignal<Remedy | undefined>(undefined);
  const takeBack = useRef<() => Promise<void>>(undefined);
  if (remedies.length === 0 && note === '') return null;
  return (
    <Card title="How to allow it">
      {note !== '' && <p class="quiet">{note}</p>}
      {remedies.length > 0 && (
        <ol class="remedies" aria-label="How to allow it, the least first">
          {remedies.map((remedy, place) => (
            <li key={remedy.sentence} id={remedyId(place)} tabIndex={-1}>
              <span class="stack tight">
                <span>{remedy.sentence}</span>
                <Effect user={user} remedy={remedy} />
              </span>
              {remedy.allowed ? (
                <Button onClick={() => (chosen.value = remedy)} label={`Apply: ${remedy.sentence}`}>
                  Apply
                </Button>
              ) : (
                <a href={whoPath(org, remedy)}>Who can?</a>
              )}
            </li>
          ))}
        </ol>
      )}
      {chosen.value !== undefined && (
        <Confirm
          title="Grant this?"
          verb="Apply"
          kind="main"
          done="Done. This is the answer now."
          undo={async () => await takeBack.current?.()}
          change={async () => {
            takeBack.current = await makeChanges(org, chosen.value?.change.changes ?? []);
          }}
          onClose={() => (chosen.value = undefined)}
        >
          <p>{chosen.value.sentence}.</p>
          <Effect user={user} remedy={chosen.value} />
        </Confirm>
      )}
    </Card>
  );
}

function Effect({ user, remedy }: { user: string; remedy: Remedy }) {
  const { gains, others, reach, rejected_by: guardrail } = remedy;
  return (
    <span class="line">
      {guardrail && <Chip tone="bad">the guardrail {guardrail.name} would reject it</Chip>}
      {reach !== '' && <Chip tone="warn">{reach}</Chip>}
      <Chip tone={gains === 0 ? 'ok' : 'warn'}>
        {gains === 0
          ? reach === ''
            ? `${user} gains only this`
            : `no further permission for ${user}`
          : `${gains} more ${gains === 1 ? 'permission' : 'permissions'} for ${user}`}
      </Chip>
      <Chip tone={others === 0 ? 'ok' : 'warn'}>
        {others === 0 ? 'no other user' : `${others} other ${others === 1 ? 'person gains' : 'people gain'}`}
      </Chip>
    </span>
  );
}

function whoPath(org: string, { required }: Remedy): string {
  const { objectType: type, objectID, relation } = required;
  return orgPath(org, `/access/who?${new URLSearchParams({ relation, type, id: String(objectID) })}`);
}
