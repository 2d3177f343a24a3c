import { useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { together, useResource } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { MePage } from './me-page.tsx';

type Linked = Answer<'GET /user/linked_accounts'>[number];

export function LinkedAccountsPage() {
  const linked = useResource('GET /user/linked_accounts');
  const providers = useResource('GET /user/providers');
  const unlinked = useSignal<Linked | undefined>(undefined);
  const link = useAction(async (provider: string) => {
    const { url } = await api.call('POST /user/linked_accounts', { body: { provider } });
    location.assign(url);
  });
  const buttons = (providers.data ?? []).map(({ name, display_name }) => (
    <Button key={name} isBusy={link.isRunning} onClick={() => void link.run(name)}>
      {`Link ${display_name}`}
    </Button>
  ));
  return (
    <MePage
      title="Linked accounts"
      lead="Accounts at providers that you can sign in with."
      isStale={linked.isStale}
      actions={buttons}
    >
      <Fault error={link.error} />
      <Show of={together(linked, providers)}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              text={
                buttons.length === 0
                  ? 'A site administrator has to add a provider before you can link an account.'
                  : 'You have not linked an account yet. Link one, and you can sign in with it.'
              }
            />
          ) : (
            <Table
              caption="Linked accounts"
              rows={all}
              keyOf={({ id }) => String(id)}
              columns={[
                { key: 'provider', title: 'Provider', cell: (one) => <bdi>{one.provider_display_name}</bdi> },
                { key: 'email', title: 'Email', cell: (one) => <bdi>{one.email}</bdi> },
                { key: 'used', title: 'Last used', cell: (one) => <When at={one.last_used_at} /> },
                { key: 'created', title: 'Linked', cell: (one) => <When at={one.created_at} />, isMinor: true },
                {
                  key: 'unlink',
                  title: '',
                  cell: (one) => <Button onClick={() => (unlinked.value = one)}>Unlink</Button>,
                },
              ]}
            />
          )
        }
      </Show>
      {unlinked.value && (
        <Confirm
          title={`Unlink ${unlinked.value.provider_display_name}?`}
          verb="Unlink account"
          done="The account was unlinked."
          change={() => api.call('DELETE /user/linked_accounts/{id}', { path: { id: unlinked.value?.id ?? 0n } })}
          onClose={() => (unlinked.value = undefined)}
        >
          <p>You can no longer sign in with it, and sessions that were opened with it end.</p>
        </Confirm>
      )}
    </MePage>
  );
}
