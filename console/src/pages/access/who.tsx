import { useSignal } from '@preact/signals';
import { useQueryFields } from '../../data/address.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { askedName, objectPath, principalKey } from '../../data/principal.ts';
import { useList } from '../../data/resource.ts';
import { MarkedName } from '../../parts/marked-name.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { AccessTabs } from './access-tabs.tsx';
import { AsOfBanner, AsOfField, atOf, useChangesSince } from './as-of.tsx';
import { ObjectPicker } from './object-picker.tsx';
import { groupsOf, type Holder, reasonsOf } from './reason-groups.ts';
import { RelationField } from './relation-field.tsx';
import { TimeStrip } from './time-strip.tsx';
import './access.css';

/** All users who may do something with an object, with a link to why. */
export function WhoPage() {
  const { org, question } = useOrg();
  const { relation, type, id, at } = useQueryFields({ relation: '', type: 'cluster', id: '', at: '' });
  const isComplete = relation.value !== '' && id.value !== '';
  const people = useList(
    isComplete ? 'GET /authz/objects/{objectType}/{objID}/principals' : undefined,
    isComplete
      ? {
          path: { objectType: type.value, objID: id.value },
          query: { org, relation: relation.value, limit: 50, reason: true, ...atOf(at) },
        }
      : undefined,
  );
  const changes = useChangesSince(org, at, people.data !== undefined);
  const whyPath = (user: string) =>
    orgPath(
      org,
      `/access/why?${new URLSearchParams({ user, relation: relation.value, type: type.value, id: id.value, ...atOf(at) })}`,
    );
  return (
    <Page
      title="Who can"
      within={org}
      lead={`All users and robots that hold a permission on an object, as of ${at.value === '' ? 'this' : 'a past'} moment.`}
      isStale={people.isStale}
    >
      <AccessTabs />
      <form class="question" onSubmit={(event) => event.preventDefault()}>
        <span>Who may</span>
        <RelationField type={type.value} relation={relation} />
        <ObjectPicker org={org} type={type} id={id} />
      </form>
      <AsOfField at={at} />
      <TimeStrip org={org} at={at} isAsked={isComplete} />
      <AsOfBanner at={at} changes={changes} />
      {isComplete && (
        <Show of={people} whyNot={question('can_view_members', 'see who can')}>
          {(all) =>
            all.length === 0 ? (
              <Empty text="No user that you may see holds this permission." />
            ) : (
              <WhoTable org={org} all={all} people={people} whyPath={whyPath} />
            )
          }
        </Show>
      )}
    </Page>
  );
}

interface WhoTableProps {
  readonly org: string;
  readonly all: readonly Holder[];
  readonly people: { readonly total: number | undefined; readonly hasMore: boolean; readonly loadMore: () => void };
  readonly whyPath: (user: string) => string;
}

/** The people, and how many of them can for which reason. A click on a reason shows only those. */
function WhoTable({ org, all, people, whyPath }: WhoTableProps) {
  const chosen = useSignal('');
  const groups = groupsOf(all);
  const group = groups.find(({ key }) => key === chosen.value);
  return (
    <>
      <ul class="line reasons" aria-label="By reason">
        {groups.map(({ key, label, people: some }) => (
          <li key={key}>
            <button
              type="button"
              class="chip"
              aria-pressed={key === group?.key}
              onClick={() => (chosen.value = key === group?.key ? '' : key)}
            >
              by {label}: {some.length}
              {people.hasMore && '+'}
            </button>
          </li>
        ))}
      </ul>
      <Table
        caption="People who can"
        rows={group?.people ?? all}
        keyOf={principalKey}
        hrefOf={(person) => objectPath(org, person) ?? ''}
        total={group ? undefined : people.total}
        hasMore={people.hasMore}
        onMore={people.loadMore}
        columns={[
          { key: 'name', title: 'Name', cell: (person) => <MarkedName of={person} /> },
          { key: 'through', title: 'Through', cell: (person) => <bdi>{reasonsOf(person)}</bdi> },
          {
            key: 'why',
            title: 'Why',
            cell: (person) => <a href={whyPath(askedName(person))}>Why?</a>,
          },
        ]}
      />
    </>
  );
}
