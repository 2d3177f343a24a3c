import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { useQueryFields } from '../../data/address.ts';
import { Card, Facts } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { notify } from '../../parts/toast.tsx';
import { When } from '../../parts/when.tsx';
import { StateMark } from '../marketplace/state-mark.tsx';
import { DeliveryPicture } from './delivery-picture.tsx';
import { callsOf, type Delivery, type Place, useDeliveries, type Webhook } from './webhook-place.ts';
import { answerInWords, DELIVERY_STATES } from './webhook-words.ts';

const STATES = [
  { value: '', label: 'All' },
  ...Object.entries(DELIVERY_STATES).map(([value, { label }]) => ({ value, label })),
];
/** What a field for a time takes: minutes. */
const MINUTES = 16;

interface Props {
  readonly place: Place;
  readonly webhook: Webhook;
}

/** What was sent in the last 30 days, or will be; each with its attempts. */
export function WebhookDeliveries({ place, webhook }: Props) {
  const { org, whyNot } = place;
  const { state } = useQueryFields({ state: '' });
  const deliveries = useDeliveries(org, webhook.id, state.value);
  const opened = useSignal<string | undefined>(undefined);
  const isResending = useSignal(false);
  const open = deliveries.data?.find(({ id }) => id === opened.value);
  return (
    <Card
      title="Deliveries"
      actions={
        <Button
          whyNot={whyNot('send events again')}
          disabledBecause={webhook.active ? undefined : 'Activate the webhook first.'}
          onClick={() => (isResending.value = true)}
        >
          Redeliver since
        </Button>
      }
    >
      <div class="filters" data-filter>
        <SelectField label="State" value={state} choices={STATES} />
      </div>
      <Show of={deliveries} whyNot={place.question}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              text={
                state.value === ''
                  ? 'Nothing was sent in the last 30 days that you may see.'
                  : 'No delivery is in this state.'
              }
              action={state.value !== '' && <Button onClick={() => (state.value = '')}>Clear filter</Button>}
            />
          ) : (
            <div class="stack">
              <DeliveryPicture deliveries={all} hasMore={deliveries.hasMore} />
              <Table
                caption="Deliveries"
                rows={all}
                keyOf={({ id }) => id}
                onOpen={({ id }) => (opened.value = id)}
                total={deliveries.hasMore ? deliveries.total : undefined}
                hasMore={deliveries.hasMore}
                onMore={deliveries.loadMore}
                columns={[
                  { key: 'type', title: 'Type', cell: ({ type }) => <code>{type}</code> },
                  { key: 'state', title: 'State', cell: (one) => <StateMark words={DELIVERY_STATES[one.state]} /> },
                  { key: 'last', title: 'Last attempt', cell: (one) => lastOf(one), isMinor: true },
                  {
                    key: 'count',
                    title: 'Attempts',
                    cell: ({ attempts }) => attempts.length,
                    isNumber: true,
                    isMinor: true,
                  },
                  { key: 'at', title: 'Created', cell: (one) => <When at={one.created_at} />, isMinor: true },
                ]}
              />
            </div>
          )
        }
      </Show>
      {open && (
        <DeliveryDialog place={place} webhook={webhook} delivery={open} onClose={() => (opened.value = undefined)} />
      )}
      {isResending.value && <RedeliverSince org={org} webhook={webhook} onClose={() => (isResending.value = false)} />}
    </Card>
  );
}

function lastOf({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  return last === undefined ? '' : answerInWords(last);
}

interface DeliveryProps extends Props {
  readonly delivery: Delivery;
  readonly onClose: () => void;
}

function DeliveryDialog({ place, webhook, delivery, onClose }: DeliveryProps) {
  const { attempts, state } = delivery;
  const again = useAction(async () => {
    await callsOf(place.org, webhook.id).redeliver(delivery.id);
    notify({ kind: 'ok', text: 'The event is sent again.' });
  });
  return (
    <Dialog title={`Delivery of ${delivery.type}`} size="wide" onClose={onClose}>
      <div class="line">
        <StateMark words={DELIVERY_STATES[state]} />
        {state === 'withheld' && <span class="quiet">{webhook.created_by.name} may not see the event any more.</span>}
      </div>
      <Facts
        of={[
          { name: 'Event, and webhook-id', value: <code>{delivery.event}</code> },
          { name: 'Delivery', value: <code>{delivery.id}</code> },
          { name: 'Created', value: <When at={delivery.created_at} /> },
          ...(state === 'pending'
            ? [{ name: 'Next attempt', value: <When at={delivery.next_attempt_at} never="soon" /> }]
            : []),
        ]}
      />
      {attempts.length === 0 ? (
        <p class="quiet">There was no attempt.</p>
      ) : (
        <section class="stack tight">
          <h3>Attempts</h3>
          <ol>
            {attempts.map((attempt, index) => (
              <li key={index}>
                {answerInWords(attempt)} after {attempt.duration_ms} ms, <When at={attempt.at} />
              </li>
            ))}
          </ol>
        </section>
      )}
      <Fault error={again.error} />
      <div class="line end">
        <Button onClick={onClose}>Close</Button>
        <Button
          kind="main"
          whyNot={place.whyNot('send events again')}
          isBusy={again.isRunning}
          busyLabel="Sending"
          disabledBecause={webhook.active ? undefined : 'Activate the webhook first.'}
          onClick={() => void again.run()}
        >
          Redeliver
        </Button>
      </div>
    </Dialog>
  );
}

interface SinceProps {
  readonly org: string | undefined;
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

function RedeliverSince({ org, webhook, onClose }: SinceProps) {
  const { id, created_at: created, last_delivery_at: last } = webhook;
  const since = useSignal((last ?? created).slice(0, MINUTES));
  const resend = useAction(async () => {
    const minute = since.value.slice(0, MINUTES);
    // No event is kept from before the creation, so its minute means its second.
    const from = minute === created.slice(0, MINUTES) ? created : `${minute}:00Z`;
    const { queued } = await callsOf(org, id).redeliverSince(from);
    notify({ kind: 'ok', text: queued === 1 ? 'One event is sent again.' : `${queued} events are sent again.` });
  });
  return (
    <FormDialog title="Redeliver since a time" verb="Redeliver" action={resend} fields={['since']} onClose={onClose}>
      <p>
        All events since then are sent, also those that the receiver has accepted, or that happened while the webhook
        was not active.
      </p>
      <TextField
        label="Since (UTC)"
        type="datetime-local"
        value={since}
        isRequired
        error={resend.fieldError('since')}
      />
    </FormDialog>
  );
}
