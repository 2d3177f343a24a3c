import { useQueryFields } from '../../data/address.ts';
import { unlessEmpty, useKept, useSettled } from '../../data/filters.ts';
import { useList } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { MarketplaceOnly } from '../admin/admin-only.tsx';
import { MARKETPLACES, SUBSCRIPTION_STATES, type Subscription, shortSubject } from './marketplace-words.ts';
import { StateMark } from './state-mark.tsx';

const STATES = [
  { value: '', label: 'All' },
  ...Object.entries(SUBSCRIPTION_STATES).map(([value, { label }]) => ({ value, label })),
];

export function SubscriptionsPage() {
  return (
    <MarketplaceOnly title="Subscriptions">
      <Subscriptions />
    </MarketplaceOnly>
  );
}

function Subscriptions() {
  const { q, state, marketplace } = useQueryFields({ q: '', state: '', marketplace: '' });
  const query = {
    q: unlessEmpty(useSettled(q.value)),
    state: unlessEmpty(state.value) as Subscription['state'] | undefined,
    marketplace: unlessEmpty(marketplace.value) as Subscription['marketplace'] | undefined,
    limit: 50,
  };
  const subscriptions = useKept(useList('GET /admin/marketplace/subscriptions', { query }), '');
  const isFiltered = [q, state, marketplace].some(({ value }) => value !== '');
  const clear = () => {
    for (const field of [q, state, marketplace]) field.value = '';
  };
  return (
    <Page
      title="Subscriptions"
      within="Administration"
      lead="What customers bought at marketplaces, as the marketplaces reported it."
      isStale={subscriptions.isStale}
    >
      <Show of={subscriptions}>
        {(all) => (
          <div class="stack">
            <div class="filters" data-filter>
              <TextField label="Search" type="search" value={q} placeholder="Application" />
              <SelectField label="State" value={state} choices={STATES} />
              <SelectField label="Marketplace" value={marketplace} choices={MARKETPLACES} />
            </div>
            {all.length === 0 ? (
              <Empty
                text={
                  isFiltered
                    ? 'No subscription matches the filter.'
                    : 'There are no subscriptions yet. A marketplace announces each one with a notification.'
                }
                action={isFiltered && <Button onClick={clear}>Clear filters</Button>}
              />
            ) : (
              <Table
                caption="Subscriptions"
                rows={all}
                keyOf={({ id }) => String(id)}
                hrefOf={({ id }) => `/admin/subscriptions/${id}`}
                hasMore={subscriptions.hasMore}
                onMore={subscriptions.loadMore}
                columns={[
                  {
                    key: 'application',
                    title: 'Application',
                    cell: ({ application_id: id }) => (
                      <bdi class="cut" title={id}>
                        {shortSubject(id)}
                      </bdi>
                    ),
                  },
                  { key: 'state', title: 'State', cell: (one) => <StateMark words={SUBSCRIPTION_STATES[one.state]} /> },
                  { key: 'marketplace', title: 'Marketplace', cell: (one) => one.marketplace, isMinor: true },
                  { key: 'created', title: 'Announced', cell: (one) => <When at={one.created_at} />, isMinor: true },
                  { key: 'changed', title: 'Changed', cell: (one) => <When at={one.updated_at} />, isMinor: true },
                ]}
              />
            )}
          </div>
        )}
      </Show>
    </Page>
  );
}
