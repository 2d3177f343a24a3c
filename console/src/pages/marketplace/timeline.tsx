import { useList } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Show } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { DELIVERY_STATES, type Delivery } from './marketplace-words.ts';
import { StateMark } from './state-mark.tsx';
import '../admin/admin.css';

interface TimelineProps {
  readonly subject: string;
  /** The delivery that is on the page already. */
  readonly current?: bigint | undefined;
}

/** All deliveries about one application or installer, the newest first. */
export function Timeline({ subject, current }: TimelineProps) {
  const log = useList('GET /admin/marketplace/deliveries', { query: { subject, limit: 50 } });
  return (
    <Show of={log} rows={2}>
      {(about) => (
        <>
          {about.length === 0 && <p class="quiet">No delivery about it was kept.</p>}
          <ol class="timeline">
            {about.map((delivery) => (
              <li
                key={String(delivery.id)}
                class={`${DELIVERY_STATES[delivery.state]?.tone} ${delivery.id === current ? 'current' : ''}`}
              >
                <Moment delivery={delivery} isCurrent={delivery.id === current} />
              </li>
            ))}
          </ol>
          {log.hasMore && <Button onClick={log.loadMore}>Load 50 more</Button>}
        </>
      )}
    </Show>
  );
}

function Moment({ delivery, isCurrent }: { delivery: Delivery; isCurrent: boolean }) {
  const { id, event_type: type, state, reason, last_at: at } = delivery;
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
    </>
  );
}
