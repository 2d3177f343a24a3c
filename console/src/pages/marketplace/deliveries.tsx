import { useSignal } from '@preact/signals';
import type { Item } from '../../../../client/client.ts';
import { useQueryFields } from '../../data/address.ts';
import { unlessEmpty, useKept, useSettled } from '../../data/filters.ts';
import { type List, useList, useResource } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { MarketplaceOnly } from '../admin/admin-only.tsx';
import { DeliverySummary } from './delivery-summary.tsx';
import { DeliveryTable } from './delivery-table.tsx';
import { DELIVERY_STATES, MARKETPLACES, needsAttention } from './marketplace-words.ts';
import { RedeliverAll, RedeliveryOutcome } from './redeliver-all.tsx';

type Delivery = Item<'GET /admin/marketplace/deliveries'>;

const ATTENTION = 'attention';
const SHOWN = [
  { value: '', label: 'Everything' },
  { value: ATTENTION, label: 'Needs attention' },
  ...Object.entries(DELIVERY_STATES).map(([value, { label }]) => ({ value, label })),
];

export function DeliveriesPage() {
  return (
    <MarketplaceOnly title="Deliveries">
      <Deliveries />
    </MarketplaceOnly>
  );
}

function Deliveries() {
  const { show, marketplace, q } = useQueryFields({ show: '', marketplace: '', q: '' });
  const search = unlessEmpty(useSettled(q.value));
  const filters = { marketplace: unlessEmpty(marketplace.value), search };
  const isAttention = show.value === ATTENTION;
  const found = useFound(filters, isAttention ? undefined : show.value);
  const troubled = useTroubled(filters, isAttention);
  const log = useKept(isAttention ? troubled : found, '');
  const summary = useResource('GET /admin/marketplace/summary');
  const retried = useSignal<Parameters<typeof RedeliveryOutcome>[0]['retried'] | undefined>(undefined);
  const isFiltered = [show, marketplace, q].some(({ value }) => value !== '');
  const clear = () => {
    for (const field of [show, marketplace, q]) field.value = '';
  };
  return (
    <Page
      title="Deliveries"
      within="Administration"
      lead="What marketplaces sent, and what became of it."
      isStale={log.isStale}
      actions={
        <RedeliverAll
          filter={{
            search,
            marketplace: filters.marketplace as Delivery['marketplace'] | undefined,
            outcome: unlessEmpty(show.value),
          }}
          disabledBecause={whyNotAll(show.value)}
          onResult={(all) => (retried.value = all)}
        />
      }
    >
      {retried.value && <RedeliveryOutcome retried={retried.value} />}
      <Show of={summary} rows={2}>
        {(counts) => <DeliverySummary summary={counts} />}
      </Show>
      <Show of={log}>
        {(all) => (
          <div class="stack">
            <div class="filters" data-filter>
              <TextField label="Search" type="search" value={q} placeholder="Application or installer" />
              <SelectField label="Show" value={show} choices={SHOWN} />
              <SelectField label="Marketplace" value={marketplace} choices={MARKETPLACES} />
            </div>
            {all.length === 0 ? (
              <Empty
                text={emptyText(isAttention, isFiltered)}
                action={isFiltered && <Button onClick={clear}>Clear filters</Button>}
                command={isFiltered ? undefined : 'atrium marketplace send cloudB FILE --secret-file SECRET'}
              />
            ) : (
              <DeliveryTable deliveries={all} hasMore={log.hasMore} onMore={log.loadMore} />
            )}
          </div>
        )}
      </Show>
    </Page>
  );
}

function whyNotAll(show: string): string | undefined {
  if (show === 'done') return 'What is done is not repeated.';
  return show === ATTENTION ? 'Choose one state under "Show" first.' : undefined;
}

function emptyText(isAttention: boolean, isFiltered: boolean): string {
  if (isAttention) return 'Nothing needs attention.';
  if (isFiltered) return 'No delivery matches the filter.';
  return 'Nothing was delivered yet. Register the address of this server at a marketplace, or send a test.';
}

interface Filters {
  readonly marketplace: string | undefined;
  readonly search: string | undefined;
}

function useFound({ marketplace, search }: Filters, outcome: string | undefined): List<Delivery> {
  return useList(outcome === undefined ? undefined : 'GET /admin/marketplace/deliveries', {
    query: {
      search,
      marketplace: marketplace as Delivery['marketplace'] | undefined,
      outcome: unlessEmpty(outcome ?? ''),
      limit: 50,
    },
  });
}

/** What was given up, what waits too long, and the rejections that an operator can do something about. */
function useTroubled(filters: Filters, isWanted: boolean): List<Delivery> {
  const lists = [
    useFound(filters, isWanted ? 'dead' : undefined),
    useFound(filters, isWanted ? 'received' : undefined),
    useFound(filters, isWanted ? 'refused' : undefined),
  ];
  const isComplete = lists.every(({ data }) => data !== undefined);
  const all = lists.flatMap(({ data = [] }) => data).filter((delivery) => needsAttention(delivery));
  return {
    data: isComplete ? all.sort((one, other) => (one.id < other.id ? 1 : -1)) : undefined,
    total: undefined,
    error: lists.find(({ error }) => error !== undefined)?.error,
    isStale: lists.some(({ isStale }) => isStale),
    hasMore: lists.some(({ hasMore }) => hasMore),
    reload: () => {
      for (const { reload } of lists) reload();
    },
    loadMore: () => {
      for (const { hasMore, loadMore } of lists) if (hasMore) loadMore();
    },
  };
}
