import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { useList } from '../../data/resource.ts';
import { serverNow } from '../../data/server-time.ts';
import { Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { notify } from '../../parts/toast.tsx';
import { When } from '../../parts/when.tsx';
import { bodyOf, CONTRACT_FIELDS, ContractFields, useContractFields } from './contract-fields.tsx';

export function ContractsPage() {
  const { org, whyNot, question } = useOrg();
  const contracts = useList('GET /orgs/{org}/contracts', { path: { org }, query: { limit: 50 } });
  const isCreating = useSignal(false);
  const create = (
    <Button
      kind="main"
      icon="plus"
      whyNot={whyNot('can_create_contracts', 'create contracts')}
      onClick={() => (isCreating.value = true)}
    >
      New contract
    </Button>
  );
  return (
    <Page
      title="Contracts"
      within={org}
      lead="What the organization has bought, for how long, and for which clusters."
      isStale={contracts.isStale}
      actions={<span data-key="n">{create}</span>}
    >
      <Show of={contracts} whyNot={question('can_view_contracts', 'see the contracts')}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              text="There are no contracts yet."
              action={create}
              command={`atrium contract create NAME --org ${org}`}
            />
          ) : (
            <Table
              caption="Contracts"
              rows={all}
              keyOf={(contract) => String(contract.id)}
              hrefOf={(contract) => orgPath(org, `/contracts/${contract.id}`)}
              total={contracts.total}
              hasMore={contracts.hasMore}
              onMore={contracts.loadMore}
              columns={[
                { key: 'name', title: 'Name', cell: (contract) => <bdi>{contract.name}</bdi> },
                { key: 'product', title: 'Product', cell: (contract) => <bdi>{contract.product}</bdi> },
                { key: 'state', title: 'State', cell: (contract) => <ContractState contract={contract} /> },
                { key: 'end', title: 'Ends', cell: (contract) => <When at={contract.end} /> },
                {
                  key: 'clusters',
                  title: 'Clusters',
                  cell: (contract) => contract.clusters.length,
                  isNumber: true,
                  isMinor: true,
                },
              ]}
            />
          )
        }
      </Show>
      {isCreating.value && <NewContract org={org} onClose={() => (isCreating.value = false)} />}
    </Page>
  );
}

interface StateProps {
  readonly contract: { readonly start: string; readonly end: string | null; readonly revoked: boolean };
}

export function ContractState({ contract: { start, end, revoked } }: StateProps) {
  const now = serverNow();
  if (revoked) return <Chip tone="bad">revoked</Chip>;
  if (end !== null && Date.parse(end) < now) return <Chip tone="warn">ended</Chip>;
  if (Date.parse(start) > now) return <Chip tone="info">not started</Chip>;
  return <Chip tone="ok">active</Chip>;
}

function NewContract({ org, onClose }: { org: string; onClose: () => void }) {
  const { route } = useLocation();
  const values = useContractFields();
  const create = useAction(async () => {
    const contract = await api.call('POST /orgs/{org}/contracts', { path: { org }, body: bodyOf(values) });
    notify({ kind: 'ok', text: `The contract ${contract.name} was created.` });
    route(orgPath(org, `/contracts/${contract.id}`));
  });
  return (
    <FormDialog title="New contract" verb="Create contract" action={create} fields={CONTRACT_FIELDS} onClose={onClose}>
      <ContractFields values={values} action={create} />
    </FormDialog>
  );
}
