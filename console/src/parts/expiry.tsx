import { type Signal, useSignal } from '@preact/signals';
import { useAction } from '../data/action.ts';
import type { WhyNotQuestion } from '../data/org.ts';
import { serverNow } from '../data/server-time.ts';
import { notifyUndoable } from '../data/undo.ts';
import { Chip } from './bits.tsx';
import { Button } from './button.tsx';
import { capital } from './capital.ts';
import { Confirm } from './confirm.tsx';
import { SelectField, TextField } from './field.tsx';
import { FormDialog } from './form.tsx';
import { Impact, type PlannedChange } from './impact.tsx';
import { relativeTime } from './when.tsx';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const SOON_MS = 14 * 24 * HOUR_MS;
const EXACT = 'exact';
const NEVER = '';
const ENDS = [
  { value: NEVER, label: 'never' },
  { value: '4', label: 'in 4 hours' },
  { value: '24', label: 'in a day' },
  { value: '168', label: 'in 7 days' },
  { value: '720', label: 'in 30 days' },
  { value: '2160', label: 'in 90 days' },
  { value: EXACT, label: 'at an exact time …' },
] as const;

/** What is chosen in a field for the end of something. */
export interface ExpiryChoice {
  readonly hours: Signal<string>;
  readonly exact: Signal<string>;
}

/** Begins with the end that is there already, if there is one. */
export function useExpiry(hours: (typeof ENDS)[number]['value'] = NEVER, present?: string): ExpiryChoice {
  return {
    hours: useSignal<string>(present === undefined ? hours : EXACT),
    exact: useSignal(present === undefined ? '' : localTime(present)),
  };
}

/** As a field for a date and a time takes it. */
function localTime(at: string): string {
  const moment = new Date(at);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}

/** Null: it does not end. A caller who adds something leaves that out, so that what is there already keeps its end. */
export function chosenExpiry({ hours, exact }: ExpiryChoice, now = serverNow()): string | null {
  if (hours.value === EXACT) return exact.value === '' ? '' : new Date(exact.value).toISOString();
  return hours.value === NEVER ? null : new Date(now + Number(hours.value) * HOUR_MS).toISOString();
}

/** The same for a preview, which need not ask again for each second that passes. */
export function previewedExpiry(choice: ExpiryChoice): { readonly expires_at?: string } {
  const end = chosenExpiry(choice, Math.floor(serverNow() / MINUTE_MS) * MINUTE_MS);
  return end ? { expires_at: end } : {};
}

export function ExpiryField({ choice, error }: { choice: ExpiryChoice; error: string | undefined }) {
  const isExact = choice.hours.value === EXACT;
  return (
    <>
      <SelectField
        label="Expires"
        value={choice.hours}
        choices={ENDS}
        hint={
          choice.hours.value === NEVER ? undefined : 'It ends by itself. The first request after that moment is denied.'
        }
        error={isExact ? undefined : error}
      />
      {isExact && <TextField label="Exact time" type="datetime-local" value={choice.exact} isRequired error={error} />}
    </>
  );
}

/** "expires in 3 days", with the exact time on hover. Nothing if it does not end. */
export function Expires({ at }: { at: string | undefined }) {
  if (at === undefined) return null;
  return (
    <Chip tone={Date.parse(at) - serverNow() < SOON_MS ? 'warn' : 'quiet'}>
      <time dateTime={at} title={new Date(at).toISOString()}>
        expires {relativeTime(at)}
      </time>
    </Chip>
  );
}

interface RenewalProps {
  readonly at: string | undefined;
  /** What ends, such as "the membership of dan". */
  readonly what: string;
  readonly whyNot: WhyNotQuestion | undefined;
  readonly change: (expiresAt: string | null) => Promise<unknown>;
  readonly org: string;
  /** The same change, to show what it would do. */
  readonly planned: PlannedChange;
}

/** When something ends, and the buttons that change that. Nothing if it does not end. */
export function Renewal({ at, what, whyNot, change, org, planned }: RenewalProps) {
  const dialog = useSignal<'renew' | 'keep' | undefined>(undefined);
  const close = () => (dialog.value = undefined);
  if (at === undefined) return null;
  return (
    <span class="line">
      <Expires at={at} />
      <Button label={`Renew ${what}`} whyNot={whyNot} onClick={() => (dialog.value = 'renew')}>
        Renew
      </Button>
      <Button label={`Make ${what} permanent`} whyNot={whyNot} onClick={() => (dialog.value = 'keep')}>
        Make permanent
      </Button>
      {dialog.value === 'renew' && (
        <Renew what={what} at={at} change={change} org={org} planned={planned} onClose={close} />
      )}
      {dialog.value === 'keep' && (
        <Confirm
          title={`Make ${what} permanent?`}
          verb="Make permanent"
          done={`${capital(what)} no longer expires.`}
          change={() => change(null)}
          undo={() => change(at)}
          onClose={close}
        >
          <p>It then has no end.</p>
          <Impact org={org} changes={[{ ...planned, expires_at: null }]} />
        </Confirm>
      )}
    </span>
  );
}

type RenewProps = Omit<RenewalProps, 'at' | 'whyNot'> & { readonly at: string; readonly onClose: () => void };

function Renew({ what, at, change, org, planned, onClose }: RenewProps) {
  const choice = useExpiry('720');
  const renew = useAction(async () => {
    await change(chosenExpiry(choice));
    notifyUndoable(`${capital(what)} was renewed.`, () => change(at));
  });
  return (
    <FormDialog title={`Renew ${what}`} verb="Renew" action={renew} fields={['expires_at']} onClose={onClose}>
      <ExpiryField choice={choice} error={renew.fieldError('expires_at')} />
      <Impact org={org} changes={[{ ...planned, expires_at: null, ...previewedExpiry(choice) }]} />
    </FormDialog>
  );
}
