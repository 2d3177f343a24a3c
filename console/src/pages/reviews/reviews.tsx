import { useSignal } from '@preact/signals';
import { useQueryFields } from '../../data/address.ts';
import { unlessEmpty } from '../../data/filters.ts';
import { useOrg } from '../../data/org.ts';
import { useList } from '../../data/resource.ts';
import { Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { SelectField } from '../../parts/field.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { progressOf, reviewPath } from './review-words.ts';
import { StartReview } from './start-review.tsx';

const STATES = [
  { value: '', label: 'All' },
  { value: 'open', label: 'Open' },
  { value: 'closed', label: 'Closed' },
];

/** `?start=unused` opens the form with that question. */
export function ReviewsPage() {
  const { org, whyNot } = useOrg();
  const { state, start } = useQueryFields({ state: '', start: '' });
  const isStarting = useSignal(false);
  const reviews = useList('GET /authz/reviews', {
    query: { org, state: unlessEmpty(state.value) as 'open' | undefined, limit: 50 },
  });
  const mayStart = whyNot('can_delete', 'start an access review');
  const open = (
    <Button kind="main" icon="plus" whyNot={mayStart} onClick={() => (isStarting.value = true)}>
      Start a review
    </Button>
  );
  const close = () => {
    isStarting.value = false;
    start.value = '';
  };
  return (
    <Page
      title="Access reviews"
      within={org}
      lead="Access that exists, item by item: reviewers keep or end each, and the result can be proved."
      isStale={reviews.isStale}
      actions={<span data-key="n">{open}</span>}
    >
      <div class="filters" data-filter>
        <SelectField label="State" value={state} choices={STATES} />
      </div>
      <Show of={reviews}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              text="There are no reviews that you can see. One could ask who can connect to a cluster."
              action={open}
              command={`atrium review start --team TEAM --due 30d --org ${org}`}
            />
          ) : (
            <Table
              caption="Access reviews"
              rows={all}
              keyOf={({ id }) => String(id)}
              hrefOf={({ id }) => reviewPath(org, id)}
              total={reviews.total}
              hasMore={reviews.hasMore}
              onMore={reviews.loadMore}
              columns={[
                { key: 'name', title: 'Review', cell: ({ name }) => <bdi>{name}</bdi> },
                {
                  key: 'state',
                  title: 'State',
                  cell: (review) => <Chip tone={review.state === 'open' ? 'info' : 'quiet'}>{review.state}</Chip>,
                },
                { key: 'progress', title: 'Items', cell: (review) => progressOf(review) },
                { key: 'due', title: 'Due', cell: (review) => <When at={review.closed_at ?? review.due_at} /> },
                {
                  key: 'by',
                  title: 'Started by',
                  cell: (review) => <bdi>{review.started_by.name}</bdi>,
                  isMinor: true,
                },
              ]}
            />
          )
        }
      </Show>
      {(isStarting.value || (start.value !== '' && !mayStart)) && (
        <StartReview org={org} kind={start.value === 'unused' ? 'unused' : 'access'} onClose={close} />
      )}
    </Page>
  );
}
