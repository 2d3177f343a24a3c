import { useSignal } from '@preact/signals';
import { api } from '../../data/api.ts';
import { useOrg } from '../../data/org.ts';
import { useList, useResource } from '../../data/resource.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { ShareRing } from '../../parts/share-bar.tsx';
import { Table } from '../../parts/table.tsx';

/** Whether members need a second factor, and whom that would concern. For those who may edit the organization. */
export function OrgSecondFactor() {
  const { org, may } = useOrg();
  const mayEdit = may('can_edit') === true;
  const state = useResource(mayEdit ? 'GET /orgs/{org}/second_factor' : undefined, { path: { org } });
  const lacking = useList(mayEdit ? 'GET /orgs/{org}/second_factor/members' : undefined, {
    path: { org },
    query: { missing: true, limit: 10 },
  });
  const isChanging = useSignal(false);
  const isRequired = state.data?.required;
  if (isRequired === undefined || lacking.data === undefined) return null;
  const total = state.data?.without ?? 0;
  const all = state.data?.members ?? 0;
  const names = (lacking.data ?? []).map(({ login }) => login);
  return (
    <Card title="Second factor">
      <div class="share-row">
        <ShareRing part={all - total} all={all} tone={total === 0 ? 'ok' : 'warn'} />
        <Table
          caption="Members by second factor"
          rows={[
            { name: 'With a second factor', count: all - total },
            { name: 'Without', count: total },
          ]}
          keyOf={({ name }) => name}
          columns={[
            { key: 'name', title: 'Second factor', cell: ({ name }) => name },
            { key: 'count', title: 'Members', cell: ({ count }) => count, isNumber: true },
          ]}
        />
      </div>
      <p>
        {isRequired
          ? 'Members need a second factor to sign in.'
          : 'Members can have a second factor, and do not need one.'}{' '}
        {total === 0 ? 'All of them have one.' : `${total} of them ${total === 1 ? 'has' : 'have'} none: `}
        <bdi>{names.join(', ')}</bdi>
        {total > names.length && ', …'}
      </p>
      <div>
        <Button onClick={() => (isChanging.value = true)}>
          {isRequired ? 'Stop requiring it' : 'Require a second factor'}
        </Button>
      </div>
      {isChanging.value && (
        <Confirm
          title={isRequired ? 'Stop requiring a second factor?' : 'Require a second factor?'}
          verb={isRequired ? 'Stop requiring it' : 'Require it'}
          done="The organization was saved."
          change={() => api.call('PUT /orgs/{org}/second_factor', { path: { org }, body: { required: !isRequired } })}
          onClose={() => (isChanging.value = false)}
        >
          <p>
            {isRequired
              ? 'Members who have one still need it to sign in.'
              : 'Members without one can do nothing in the console until they have added one. Tokens keep working.'}
          </p>
        </Confirm>
      )}
    </Card>
  );
}
