import { useSignal } from '@preact/signals';
import { useRoute } from 'preact-iso';
import { useQueryFields } from '../../data/address.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { Card, Chip, Facts } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { SelectField } from '../../parts/field.tsx';
import { Page, ShowPage } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { ReviewItemCard } from './review-item.tsx';
import { type FullReview, progressOf, type ReviewItem, toneOf, whatIs } from './review-words.ts';

const PAGE = 50;
const API = '/api/v1';

export function ReviewPage() {
  const { org } = useOrg();
  const { id = '' } = useRoute().params;
  const { state, item, page } = useQueryFields({ state: '', item: '', page: '' });
  const review = useResource('GET /authz/reviews/{id}', {
    path: { id },
    query: {
      org,
      ...(state.value !== '' && { state: state.value as ReviewItem['state'] }),
      ...(page.value !== '' && { page: Number(page.value) }),
      limit: PAGE,
    },
  });
  const number = Number(page.value || 1);
  const pages = Math.ceil((review.total ?? 0) / PAGE);
  return (
    <ShowPage of={review} title="Access review" within={org}>
      {(found) => (
        <Page
          title={found.name}
          within={org}
          lead={found.about === found.name ? undefined : <bdi>{found.about}</bdi>}
          isStale={review.isStale}
          actions={found.state === 'open' && <Close org={org} review={found} etag={review.etag} />}
        >
          <div class="with-panel">
            <div class="stack">
              <div class="filters" data-filter>
                <SelectField
                  label="Items"
                  value={state}
                  choices={[
                    { value: '', label: 'All' },
                    ...Object.entries(found.counts).map(([one, count]) => ({ value: one, label: `${one} (${count})` })),
                  ]}
                  onChange={() => (page.value = '')}
                />
              </div>
              {found.items.length === 0 ? (
                <p class="quiet">No item is like this.</p>
              ) : (
                <Table
                  caption="Items"
                  rows={found.items}
                  keyOf={(one) => String(one.id)}
                  onOpen={(one) => (item.value = String(one.id))}
                  selected={item.value}
                  columns={[
                    { key: 'who', title: 'Who', cell: ({ principal }) => <bdi>{principal.name}</bdi> },
                    { key: 'what', title: 'Access', cell: (one) => <bdi>{whatIs(one)}</bdi> },
                    { key: 'state', title: 'State', cell: (one) => <ItemState of={one} /> },
                    { key: 'by', title: 'Decided by', cell: (one) => <bdi>{one.decided_by?.name}</bdi>, isMinor: true },
                  ]}
                />
              )}
              {pages > 1 && (
                <div class="line">
                  <Button
                    disabledBecause={number > 1 ? undefined : 'This is the first page.'}
                    onClick={() => (page.value = String(number - 1))}
                  >
                    Previous
                  </Button>
                  <span>
                    Page {number} of {pages}
                  </span>
                  <Button
                    disabledBecause={number < pages ? undefined : 'This is the last page.'}
                    onClick={() => (page.value = String(number + 1))}
                  >
                    Next
                  </Button>
                </div>
              )}
            </div>
            <div class="panel stack">
              {item.value === '' ? (
                <Card title="Item">
                  <p class="quiet">Choose an item to see why the access is there, and what ending it changes.</p>
                </Card>
              ) : (
                <ReviewItemCard key={item.value} org={org} review={found} item={item.value} />
              )}
              <Result org={org} review={found} />
            </div>
          </div>
        </Page>
      )}
    </ShowPage>
  );
}

function ItemState({ of: { state, present } }: { of: ReviewItem }) {
  return (
    <span class="line">
      <Chip tone={toneOf(state)}>{state}</Chip>
      {state === 'open' && !present && <Chip tone="quiet">ended otherwise</Chip>}
    </span>
  );
}

function Result({ org, review }: { org: string; review: FullReview }) {
  const { id, record, state, due_at, closed_at, closed_by, reviewers, undecided, left_out: leftOut } = review;
  const file = (name: string) => `${API}/authz/reviews/${id}/${name}?${new URLSearchParams({ org })}`;
  return (
    <Card title="Review">
      <Facts
        of={[
          { name: 'Progress', value: progressOf(review) },
          { name: 'As of', value: <When at={review.started_at} /> },
          { name: 'Started by', value: <bdi>{review.started_by.name}</bdi> },
          {
            name: 'Reviewers',
            value: <bdi>{reviewers.length === 0 ? 'the owners' : reviewers.map(({ name }) => name).join(', ')}</bdi>,
          },
          state === 'open'
            ? { name: 'Due', value: <When at={due_at} /> }
            : { name: 'Closed', value: <When at={closed_at} /> },
          ...(state === 'closed' ? [{ name: 'Closed by', value: <bdi>{closed_by?.name ?? 'the due date'}</bdi> }] : []),
          { name: 'Undecided access', value: undecided === 'keep' ? 'stays' : 'ends' },
          ...(leftOut > 0 ? [{ name: 'Left out', value: `${leftOut} site administrators` }] : []),
        ]}
      />
      <p class="line">
        <a href={file('csv')} download>
          Download CSV
        </a>
        {record && (
          <a href={file('record')} download>
            Download record
          </a>
        )}
      </p>
      {record && (
        <>
          <p class={`verdict ${record.verified ? 'yes' : 'no'}`}>
            <strong>{record.verified ? 'Verified' : 'Not verified'}</strong>
            <span>
              {record.verified
                ? 'The record has the hash that the audit log names.'
                : 'The record is not what the audit log names.'}
            </span>
          </p>
          <p class="small">
            SHA-256 <code class="mono">{record.sha256}</code>, in <a href={orgPath(org, '/audit')}>entry</a>{' '}
            {String(record.close.id)} of the audit log.
          </p>
        </>
      )}
    </Card>
  );
}

function Close({ org, review, etag }: { org: string; review: FullReview; etag: string | undefined }) {
  const { whyNot } = useOrg();
  const isAsked = useSignal(false);
  const { id, counts, undecided, name } = review;
  const left = Number(counts.open ?? 0);
  return (
    <>
      <Button whyNot={whyNot('can_delete', 'close an access review')} onClick={() => (isAsked.value = true)}>
        Close review
      </Button>
      {isAsked.value && (
        <Confirm
          title={`Close the review ${name}?`}
          verb="Close review"
          done="The review was closed, and has a record."
          change={() =>
            api.call('POST /authz/reviews/{id}/close', { path: { id }, query: { org, limit: PAGE }, ifMatch: etag })
          }
          onClose={() => (isAsked.value = false)}
        >
          <p>
            {left === 0
              ? 'Everything is decided.'
              : `${left} ${left === 1 ? 'item is' : 'items are'} not decided: that access ${undecided === 'keep' ? 'stays' : 'ends'}.`}{' '}
            A closed review cannot be changed.
          </p>
        </Confirm>
      )}
    </>
  );
}
