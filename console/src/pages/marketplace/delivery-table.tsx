import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { DELIVERY_STATES, type Delivery, reasonInWords, shortSubject } from './marketplace-words.ts';
import { StateMark } from './state-mark.tsx';
import '../admin/admin.css';

interface DeliveryTableProps {
  readonly deliveries: readonly Delivery[];
  readonly hasMore?: boolean | undefined;
  readonly onMore?: (() => void) | undefined;
}

export function DeliveryTable({ deliveries, hasMore, onMore }: DeliveryTableProps) {
  return (
    <Table
      caption="Deliveries"
      rows={deliveries}
      keyOf={({ id }) => String(id)}
      hrefOf={({ id }) => `/admin/deliveries/${id}`}
      hasMore={hasMore}
      onMore={onMore}
      columns={[
        {
          key: 'subject',
          title: 'About',
          cell: ({ subject, id }) => (
            <bdi class="cut delivery-subject" title={subject}>
              {shortSubject(subject) || `Delivery ${id}`}
            </bdi>
          ),
        },
        { key: 'state', title: 'State', cell: ({ state }) => <StateMark words={DELIVERY_STATES[state]} /> },
        {
          key: 'reason',
          title: 'What happened',
          cell: (delivery) => (
            <span class="cut delivery-reason" title={delivery.message ?? delivery.reason}>
              {reasonInWords(delivery)}
            </span>
          ),
          isMinor: true,
        },
        { key: 'event', title: 'Event', cell: (delivery) => <code>{delivery.event_type || '—'}</code>, isMinor: true },
        { key: 'from', title: 'Marketplace', cell: ({ marketplace }) => marketplace, isMinor: true },
        { key: 'at', title: 'Received', cell: ({ last_at }) => <When at={last_at} />, isMinor: true },
      ]}
    />
  );
}
