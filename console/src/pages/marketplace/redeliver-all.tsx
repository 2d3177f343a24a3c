import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Answer, Input } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Loading } from '../../parts/page.tsx';

const REDELIVER = 'POST /admin/marketplace/deliveries/redeliver';
type Filter = Exclude<Input<typeof REDELIVER>['body'], { readonly text: string }>;
type Retried = Answer<typeof REDELIVER>['deliveries'][number];

const MAX_LISTED = 20;

interface RedeliverAllProps {
  readonly filter: Filter;
  readonly disabledBecause?: string | undefined;
  readonly onResult: (retried: readonly Retried[]) => void;
}

/** Counts first, asks, and then retries everything that is unfinished and matches. */
export function RedeliverAll({ filter, disabledBecause, onResult }: RedeliverAllProps) {
  const isOpen = useSignal(false);
  return (
    <>
      <Button disabledBecause={disabledBecause} onClick={() => (isOpen.value = true)}>
        Redeliver all that match
      </Button>
      {isOpen.value && <RedeliverDialog filter={filter} onResult={onResult} onClose={() => (isOpen.value = false)} />}
    </>
  );
}

interface RedeliverDialogProps extends Pick<RedeliverAllProps, 'filter' | 'onResult'> {
  readonly onClose: () => void;
}

function RedeliverDialog({ filter, onResult, onClose }: RedeliverDialogProps) {
  const total = useSignal<number | undefined>(undefined);
  const done = useSignal(0);
  const count = useAction(async () => {
    total.value = (await api.call(REDELIVER, { body: { ...filter, most: 0 } })).left;
  });
  const retry = useAction(async () => {
    const retried: Retried[] = [];
    try {
      // The server retries as many in one request as it can answer in time.
      for (let left = 1; left > 0; ) {
        const answer = await api.call(REDELIVER, { body: { ...filter, after: retried.at(-1)?.id } });
        retried.push(...answer.deliveries);
        done.value = retried.length;
        left = answer.deliveries.length === 0 ? 0 : answer.left;
      }
    } finally {
      onResult(retried);
    }
  });
  useEffect(() => void count.run(), []);
  return (
    <Dialog title="Redeliver all that match?" onClose={onClose}>
      <form
        class="stack"
        onSubmit={async (event) => {
          event.preventDefault();
          if (total.value && (await retry.run())) onClose();
        }}
      >
        {total.value === undefined && count.error === undefined && <Loading rows={1} />}
        {total.value !== undefined && <p>{inWords(total.value)}</p>}
        {retry.isRunning && (
          <p role="status" class="quiet">
            {done.value} of {total.value} retried
          </p>
        )}
        <Fault error={count.error ?? retry.error} />
        <div class="line end">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="main"
            type="submit"
            isBusy={retry.isRunning}
            busyLabel="Redelivering"
            disabledBecause={total.value ? undefined : 'There is nothing to retry.'}
          >
            Redeliver
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function inWords(total: number): string {
  if (total === 0) return 'No unfinished delivery matches. What is done, or could not be understood, is not retried.';
  const which = total === 1 ? 'One unfinished delivery matches.' : `${total} unfinished deliveries match.`;
  return `${which} Each is processed again, oldest first, and recorded in the audit log.`;
}

/** What became of them, with links to those that need more. */
export function RedeliveryOutcome({ retried }: { retried: readonly Retried[] }) {
  const inState = (...states: readonly string[]) => retried.filter(({ state }) => states.includes(state));
  const [refused, failed] = [inState('refused'), inState('received', 'dead')];
  const counts = [
    `${inState('done').length} done`,
    ...(refused.length > 0 ? [`${refused.length} refused again`] : []),
    ...(failed.length > 0 ? [`${failed.length} failed again`] : []),
  ];
  const open = [...refused, ...failed];
  return (
    <div class={`note ${open.length > 0 ? 'warn' : 'ok'} stack tight`} role="status">
      <p class="strong">
        {retried.length} retried: {counts.join(', ')}.
      </p>
      {open.length > 0 && (
        <p class="line">
          {open.slice(0, MAX_LISTED).map(({ id, reason }) => (
            <a key={String(id)} href={`/admin/deliveries/${id}`}>
              {String(id)}: {reason}
            </a>
          ))}
          {open.length > MAX_LISTED && <span>and {open.length - MAX_LISTED} more</span>}
        </p>
      )}
    </div>
  );
}
