import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg, usePageObject } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { useVersion } from '../../data/version.ts';
import { Card, Facts } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Copy } from '../../parts/copy.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Page, ShowPage } from '../../parts/page.tsx';
import { notify } from '../../parts/toast.tsx';
import { When } from '../../parts/when.tsx';
import { Assignments } from '../assignments/assignments.tsx';
import { bodyOf, CONTRACT_FIELDS, type Contract, ContractFields, useContractFields } from './contract-fields.tsx';
import { ContractState } from './contracts.tsx';

export function ContractPage() {
  const { org, question } = useOrg();
  const id = useRoute().params.id ?? '';
  const contract = useResource('GET /contracts/{id}', { path: { id } });
  return (
    <ShowPage title="Contract" within={org} of={contract} whyNot={question('can_view_contracts', 'see the contracts')}>
      {(found) => <ContractDetails contract={found} etag={contract.etag} />}
    </ShowPage>
  );
}

function ContractDetails({ contract, etag }: { contract: Contract; etag: string | undefined }) {
  const { org } = useOrg();
  const { route } = useLocation();
  const { whyNot } = usePageObject();
  const dialog = useSignal<'edit' | 'revoke' | 'delete' | undefined>(undefined);
  const close = () => (dialog.value = undefined);
  return (
    <Page
      title={contract.name}
      within={org}
      actions={
        <>
          <span data-key="e">
            <Button whyNot={whyNot('can_edit', 'change this contract')} onClick={() => (dialog.value = 'edit')}>
              Edit contract
            </Button>
          </span>
          <Button
            kind="danger"
            whyNot={whyNot('can_edit', 'revoke this contract')}
            disabledBecause={contract.revoked ? 'It is revoked already.' : undefined}
            onClick={() => (dialog.value = 'revoke')}
          >
            Revoke contract
          </Button>
          <Button
            kind="danger"
            whyNot={whyNot('can_delete', 'delete this contract')}
            onClick={() => (dialog.value = 'delete')}
          >
            Delete contract
          </Button>
        </>
      }
    >
      <Card>
        <Facts
          of={[
            { name: 'State', value: <ContractState contract={contract} /> },
            { name: 'Product', value: contract.product },
            { name: 'Starts', value: <When at={contract.start} /> },
            { name: 'Ends', value: <When at={contract.end} /> },
            { name: 'Features', value: contract.features.join(', ') },
            {
              name: 'Quota',
              value: Object.entries(contract.quota)
                .map(([kind, amount]) => `${amount} ${kind}`)
                .join(', '),
            },
            { name: 'UID', value: <Copy text={contract.uid} label="Copy the UID" /> },
          ]}
        />
      </Card>
      <Card title="Clusters">
        {contract.clusters.length === 0 ? (
          <p class="quiet">The contract names no cluster.</p>
        ) : (
          <ul class="stack tight">
            {contract.clusters.map((uid) => (
              <li key={uid}>
                <Copy text={uid} label="Copy the UID" />
              </li>
            ))}
          </ul>
        )}
      </Card>
      <Assignments
        org={org}
        given={{ on: { type: 'contract', id: contract.id, name: contract.name } }}
        title="Roles on this contract"
        empty="No role is assigned on this contract alone."
      />
      {dialog.value === 'edit' && <EditContract contract={contract} etag={etag} onClose={close} />}
      {dialog.value === 'revoke' && (
        <Confirm
          title={`Revoke the contract ${contract.name}?`}
          verb="Revoke contract"
          typedName={contract.name}
          done={`The contract ${contract.name} was revoked.`}
          change={() => api.call('PATCH /contracts/{id}', { path: { id: contract.id }, body: { revoked: true } })}
          onClose={close}
        >
          <p>It ends now, for good. A revoked contract cannot be restored.</p>
        </Confirm>
      )}
      {dialog.value === 'delete' && (
        <Confirm
          title={`Delete the contract ${contract.name}?`}
          verb="Delete contract"
          typedName={contract.name}
          done={`The contract ${contract.name} was deleted.`}
          change={() => api.call('DELETE /contracts/{id}', { path: { id: contract.id } })}
          onClose={close}
          onDone={() => route(orgPath(org, '/contracts'))}
        >
          <p>This cannot be undone.</p>
        </Confirm>
      )}
    </Page>
  );
}

function EditContract({
  contract,
  etag,
  onClose,
}: {
  contract: Contract;
  etag: string | undefined;
  onClose: () => void;
}) {
  const values = useContractFields(contract);
  const version = useVersion(etag);
  const save = useAction(async () => {
    const [path, body] = [{ id: contract.id }, bodyOf(values)];
    await version.save((ifMatch) => api.call('PATCH /contracts/{id}', { path, body, ifMatch }));
    notify({ kind: 'ok', text: 'The contract was saved.' });
  });
  return (
    <FormDialog
      title={`Edit ${contract.name}`}
      verb="Save contract"
      action={save}
      fields={CONTRACT_FIELDS}
      onClose={onClose}
    >
      <ContractFields values={values} action={save} />
    </FormDialog>
  );
}
