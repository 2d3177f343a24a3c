import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { notify } from '../../parts/toast.tsx';
import type { Delivery } from './marketplace-words.ts';

interface RedeliverButtonProps {
  readonly delivery: Pick<Delivery, 'id' | 'state' | 'subject' | 'reason'>;
  /** What tells it apart from others on the page. */
  readonly label?: string | undefined;
}

/** Acts on one delivery again. What it says afterwards is the new state. */
export function RedeliverButton({ delivery, label }: RedeliverButtonProps) {
  const { id, state } = delivery;
  const again = useAction(async () => {
    const { state: now, message } = await api.call('POST /admin/marketplace/deliveries/{id}/redeliver', {
      path: { id },
    });
    const kind = now === 'done' ? 'ok' : 'bad';
    notify({ kind, text: now === 'done' ? 'The delivery is done now.' : `It failed again. ${message ?? ''}` });
  });
  return (
    <>
      <Button
        kind={label === undefined && (state === 'dead' || state === 'received') ? 'main' : 'plain'}
        isBusy={again.isRunning}
        busyLabel="Redelivering"
        label={label}
        disabledBecause={whyNotAgain(delivery)}
        onClick={() => void again.run()}
      >
        Redeliver
      </Button>
      <Fault error={again.error} />
    </>
  );
}

export function whyNotAgain({ state, subject, reason }: RedeliverButtonProps['delivery']): string | undefined {
  if (state === 'done') return 'It is done. Nothing would change.';
  if (subject === '' || reason === 'malformed') return 'It could not be understood, so there is nothing to process.';
  return undefined;
}
