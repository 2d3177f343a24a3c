import { useList } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Show } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { DELIVERY_STATES, type Delivery } from './marketplace-words.ts';
import { RedeliverButton, whyNotAgain } from './redeliver.tsx';
import { StateMark } from './state-mark.tsx';
import '../admin/admin.css';

/** What happened besides deliveries. */
export interface Happening {
  readonly key: string;
  readonly at: string;
  readonly text: string;
  readonly by: string;
}

interface TimelineProps {
  readonly subject: string;
  /** The delivery that is on the page already. */
  readonly current?: bigint | undefined;
  readonly others?: readonly Happening[] | undefined;
}

type Moment = { readonly at: string } & ({ readonly delivery: Delivery } | { readonly other: Happening });

/** All deliveries about one application or installer, the newest first. */
export function Timeline({ subject, current, others = [] }: TimelineProps) {
  const log = useList('GET /admin/marketplace/deliveries', { query: { subject, limit: 50 } });
  return (
    <Show of={log} rows={2}>
      {(about) => (
        <>
          {about.length + others.length === 0 && <p class="quiet">No delivery about it was kept.</p>}
          <ol class="timeline">{momentsOf(about, others, log.hasMore).map((moment) => itemOf(moment, current))}</ol>
          {log.hasMore && <Button onClick={log.loadMore}>Load 50 more</Button>}
        </>
      )}
    </Show>
  );
}

/** A happening that is older than the loaded deliveries waits for them. */
function momentsOf(deliveries: readonly Delivery[], others: readonly Happening[], hasMore: boolean): Moment[] {
  const oldest = hasMore ? Date.parse(deliveries.at(-1)?.received_at ?? '') : Number.NEGATIVE_INFINITY;
  const shown = others.filter(({ at }) => Date.parse(at) >= oldest).map((other) => ({ at: other.at, other }));
  // Stable: of one second, what came of a delivery is above the delivery.
  return [...shown, ...deliveries.map((delivery) => ({ at: delivery.received_at, delivery }))].sort(
    (one, other) => Math.floor(Date.parse(other.at) / 1000) - Math.floor(Date.parse(one.at) / 1000),
  );
}

function itemOf(moment: Moment, current: bigint | undefined) {
  if ('other' in moment) {
    const { key, text, by, at } = moment.other;
    return (
      <li key={key}>
        <span class="strong">{text}</span>
        {by !== '' && (
          <span class="quiet small">
            by <bdi>{by}</bdi>
          </span>
        )}
        <span class="quiet small">
          <When at={at} />
        </span>
      </li>
    );
  }
  const { delivery } = moment;
  const isCurrent = delivery.id === current;
  return (
    <li key={String(delivery.id)} class={`${DELIVERY_STATES[delivery.state]?.tone} ${isCurrent ? 'current' : ''}`}>
      <DeliveryMoment delivery={delivery} isCurrent={isCurrent} canRedeliver={current === undefined} />
    </li>
  );
}

interface DeliveryMomentProps {
  readonly delivery: Delivery;
  readonly isCurrent: boolean;
  readonly canRedeliver: boolean;
}

function DeliveryMoment({ delivery, isCurrent, canRedeliver }: DeliveryMomentProps) {
  const { id, event_type: type, state, reason, times, received_at: at, last_at: last } = delivery;
  return (
    <>
      <StateMark words={DELIVERY_STATES[state]} />
      {isCurrent ? (
        <span class="strong">{type || 'Notification'}, this one</span>
      ) : (
        <a href={`/admin/deliveries/${id}`}>{type || 'Notification'}</a>
      )}
      <code class="quiet">{reason}</code>
      <span class="quiet small">
        <When at={at} />
      </span>
      {times > 1 && (
        <span class="quiet small">
          repeated, {times} times in all, last <When at={last} />
        </span>
      )}
      {canRedeliver && whyNotAgain(delivery) === undefined && (
        <RedeliverButton delivery={delivery} label={`Redeliver ${type || 'notification'} ${id}`} />
      )}
    </>
  );
}
