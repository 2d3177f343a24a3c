import { useList, useResource } from '../../data/resource.ts';
import { Card, Chip } from '../../parts/bits.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { MarketplaceOnly } from '../admin/admin-only.tsx';
import type { Summary } from './marketplace-words.ts';
import { Secrets } from './secrets.tsx';
import '../admin/admin.css';

export function MarketplacePage() {
  return (
    <MarketplaceOnly title="Marketplaces">
      <Marketplaces />
    </MarketplaceOnly>
  );
}

function Marketplaces() {
  const summary = useResource('GET /admin/marketplace/summary');
  return (
    <Page
      title="Marketplaces"
      within="Administration"
      lead="How each marketplace proves its identity, and which callers were rejected."
      isStale={summary.isStale}
    >
      <Show of={summary}>
        {(found) => (
          <>
            <Card title="Marketplaces">
              <MarketplaceTable summary={found} />
            </Card>
            <Secrets marketplaces={found.marketplaces} />
            <Strangers />
            <EventCounts summary={found} />
          </>
        )}
      </Show>
    </Page>
  );
}

const DAY_S = 86_400;

function MarketplaceTable({ summary }: { summary: Summary }) {
  const { marketplaces, ranges_age_seconds: age } = summary;
  return (
    <Table
      caption="Marketplaces"
      rows={marketplaces}
      keyOf={({ marketplace }) => marketplace}
      columns={[
        { key: 'name', title: 'Name', cell: ({ marketplace }) => <span class="strong">{marketplace}</span> },
        {
          key: 'proof',
          title: 'Proves itself by',
          cell: ({ proven_by: proof, secrets }) =>
            proof === 'secret' ? <SecretCount count={secrets} /> : <RangesAge seconds={age} />,
        },
        {
          key: 'last',
          title: 'Last delivery',
          cell: ({ last_delivery_at: at }) => <When at={at} />,
          isMinor: true,
        },
      ]}
    />
  );
}

function SecretCount({ count }: { count: number }) {
  if (count === 0) return <Chip tone="bad">no live secret: every delivery is rejected</Chip>;
  return <span>{count === 1 ? 'one live secret' : `${count} live secrets`}</span>;
}

/** Marketplaces that have no secret send from addresses that they publish. */
function RangesAge({ seconds }: { seconds: number | null }) {
  if (seconds === null) return <Chip tone="warn">its address; no list of addresses was read yet</Chip>;
  const at = new Date(Date.now() - seconds * 1000).toISOString();
  return (
    <span>
      its address; the list was confirmed{' '}
      {seconds > DAY_S ? (
        <Chip tone="warn">
          <When at={at} />
        </Chip>
      ) : (
        <When at={at} />
      )}
    </span>
  );
}

function Strangers() {
  const strangers = useList('GET /admin/marketplace/strangers', { query: { limit: 50 } });
  return (
    <Card title="Rejected callers">
      <p class="quiet">
        Requests that were refused and only counted, by day and address. If a customer is among them, the secret or the
        address list is wrong.
      </p>
      <Show of={strangers} rows={2}>
        {(all) =>
          all.length === 0 ? (
            <p class="quiet">None so far.</p>
          ) : (
            <Table
              caption="Rejected callers"
              rows={all}
              keyOf={(one) => [one.day, one.marketplace, one.reason, one.source].join(' ')}
              hasMore={strangers.hasMore}
              onMore={strangers.loadMore}
              columns={[
                { key: 'day', title: 'Day (UTC)', cell: ({ day }) => day },
                { key: 'source', title: 'Address', cell: ({ source }) => <code>{source}</code> },
                { key: 'times', title: 'Requests', cell: ({ times }) => times, isNumber: true },
                { key: 'marketplace', title: 'Marketplace', cell: (one) => one.marketplace, isMinor: true },
                { key: 'reason', title: 'Reason', cell: ({ reason }) => <code>{reason}</code>, isMinor: true },
                { key: 'last', title: 'Last', cell: (one) => <When at={one.last_at} />, isMinor: true },
              ]}
            />
          )
        }
      </Show>
    </Card>
  );
}

/** What the server tells the receiver of events, if there is one. */
function EventCounts({ summary: { events, oldest_event_at: oldest } }: { summary: Summary }) {
  return (
    <Card title="Events to your receiver">
      <p>
        {events.sent} sent, {events.waiting} waiting, {events.dead} given up.
        {oldest !== null && (
          <>
            {' '}
            The oldest that waits was made <When at={oldest} />.
          </>
        )}
      </p>
      {events.dead > 0 && (
        <p class="note warn">
          The receiver at MARKETPLACE_EVENTS_URL did not accept{' '}
          {events.dead === 1 ? 'one event' : `${events.dead} events`} in any attempt. Look at its log.
        </p>
      )}
    </Card>
  );
}
