import { useQueryFields } from '../../data/address.ts';
import { unlessEmpty } from '../../data/filters.ts';
import { orgPath, useOrgName } from '../../data/org.ts';
import { useList } from '../../data/resource.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { RequestTable } from './request-table.tsx';
import { STATE_CHOICES } from './request-words.ts';

export function RequestsPage() {
  const org = useOrgName();
  const { state, by, whose } = useQueryFields({ state: '', by: '', whose: '' });
  const requests = useList('GET /authz/requests', {
    query: {
      org,
      state: unlessEmpty(state.value),
      by: unlessEmpty(by.value),
      ...(whose.value === 'me' && { for_me: true }),
      limit: 50,
    },
  });
  const isFiltered = [state, by, whose].some(({ value }) => value !== '');
  const clear = () => {
    state.value = '';
    by.value = '';
    whose.value = '';
  };
  return (
    <Page
      title="Requests"
      within={org}
      lead="Access that members ask for, for a while. Users who could give it decide."
      isStale={requests.isStale}
      actions={
        <>
          <LinkButton href={orgPath(org, '/requests/rules')}>Request rules</LinkButton>
          <LinkButton kind="main" href={orgPath(org, '/requests/new')}>
            Ask for access
          </LinkButton>
        </>
      }
    >
      <div class="filters" data-filter>
        <SelectField
          label="Show"
          value={whose}
          choices={[
            { value: '', label: 'All that you can see' },
            { value: 'me', label: 'What you can decide' },
          ]}
        />
        <SelectField label="State" value={state} choices={STATE_CHOICES} />
        <TextField label="Requester" type="search" value={by} placeholder="dan or robot:deploy" />
      </div>
      <Show of={requests}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              text={isFiltered ? 'No request is like this.' : 'There are no requests.'}
              action={isFiltered && <Button onClick={clear}>Clear filters</Button>}
              command={isFiltered ? undefined : `atrium request RELATION OBJECT --for 4h --because TEXT --org ${org}`}
            />
          ) : (
            <RequestTable caption="Access requests" of={requests} rows={all} />
          )
        }
      </Show>
    </Page>
  );
}
