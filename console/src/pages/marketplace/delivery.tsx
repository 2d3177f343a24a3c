import { useRoute } from 'preact-iso';
import type { Answer } from '../../../../client/client.ts';
import { useResource } from '../../data/resource.ts';
import { Card, Facts } from '../../parts/bits.tsx';
import { CodeBlock, Copy } from '../../parts/copy.tsx';
import { Page, ShowPage } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { MarketplaceOnly } from '../admin/admin-only.tsx';
import { jsonText } from './json-text.ts';
import { DELIVERY_STATES, reasonInWords, shortSubject } from './marketplace-words.ts';
import { RedeliverButton } from './redeliver.tsx';
import { StateMark } from './state-mark.tsx';
import { SubjectLink } from './subject-link.tsx';
import { Timeline } from './timeline.tsx';

type Delivery = Answer<'GET /admin/marketplace/deliveries/{id}'>;

export function DeliveryPage() {
  const id = useRoute().params.id ?? '';
  return (
    <MarketplaceOnly title={`Delivery ${id}`}>
      <Loaded key={id} id={id} />
    </MarketplaceOnly>
  );
}

function Loaded({ id }: { id: string }) {
  const delivery = useResource('GET /admin/marketplace/deliveries/{id}', { path: { id } });
  return (
    <ShowPage title={`Delivery ${id}`} within="Deliveries" of={delivery}>
      {(found) => <Details delivery={found} isStale={delivery.isStale} />}
    </ShowPage>
  );
}

function Details({ delivery, isStale }: { delivery: Delivery; isStale: boolean }) {
  const { id, state, reason, subject, marketplace, notification } = delivery;
  return (
    <Page
      title={shortSubject(subject) || `Delivery ${id}`}
      within="Deliveries"
      lead={`${delivery.event_type || 'A notification'} of ${marketplace}`}
      isStale={isStale}
      actions={<RedeliverButton delivery={delivery} />}
    >
      <Card>
        <div class="line">
          <StateMark words={DELIVERY_STATES[state]} />
          <code>{reason}</code>
          {delivery.status !== null && <span class="quiet">answered with {delivery.status}</span>}
        </div>
        <p>{reasonInWords(delivery)}</p>
        {delivery.message && (
          <p class={state === 'done' ? 'quiet' : 'note warn'}>
            <bdi>{delivery.message}</bdi>
          </p>
        )}
        <Facts
          of={[
            { name: 'Delivery', value: String(id) },
            { name: 'First received', value: <When at={delivery.received_at} /> },
            {
              name: 'Sent by the marketplace',
              value: delivery.times === 1 ? 'once' : `${delivery.times} times`,
            },
            { name: 'Failed attempts to process it', value: String(delivery.attempts) },
            { name: 'Finished', value: <When at={delivery.done_at} never="not yet" /> },
            { name: 'Came from', value: delivery.source },
            {
              name: 'Request',
              value: delivery.request_id && <Copy text={delivery.request_id} label="Copy the request ID" />,
            },
          ]}
        />
      </Card>
      <Card title="Notification">
        {notification === null || notification === undefined ? (
          <p class="quiet">It was unreadable, or too large to keep.</p>
        ) : (
          <CodeBlock text={jsonText(notification)} label="Copy the notification" />
        )}
        <p class="quiet small">Secrets were removed before it was stored.</p>
      </Card>
      {subject !== '' && (
        <Card title="Everything about this subject">
          <SubjectLink delivery={delivery} />
          <Timeline subject={subject} current={id} />
        </Card>
      )}
    </Page>
  );
}
