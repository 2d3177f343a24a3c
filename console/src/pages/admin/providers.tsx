import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useResource } from '../../data/resource.ts';
import { Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { notify } from '../../parts/toast.tsx';
import { AdminOnly } from './admin-only.tsx';
import { providerPath } from './provider-path.ts';

export function ProvidersPage() {
  return (
    <AdminOnly title="Sign-in providers">
      <Providers />
    </AdminOnly>
  );
}

function Providers() {
  const providers = useResource('GET /admin/providers');
  const isAdding = useSignal(false);
  const add = (
    <Button kind="main" icon="plus" onClick={() => (isAdding.value = true)}>
      New provider
    </Button>
  );
  return (
    <Page
      title="Sign-in providers"
      within="Administration"
      lead="OpenID Connect providers that people can sign in with, instead of a password."
      isStale={providers.isStale}
      actions={<span data-key="n">{add}</span>}
    >
      <Show of={providers}>
        {(all) =>
          all.length === 0 ? (
            <Empty text="There are no providers. Add one, and the sign-in page has a button for it." action={add} />
          ) : (
            <Table
              caption="Providers"
              rows={all}
              keyOf={({ name }) => name}
              hrefOf={({ name }) => providerPath(name)}
              columns={[
                { key: 'name', title: 'Name', cell: (one) => <bdi>{one.display_name}</bdi> },
                { key: 'issuer', title: 'Issuer', cell: (one) => <bdi class="quiet">{one.issuer}</bdi> },
                {
                  key: 'state',
                  title: 'State',
                  cell: ({ enabled, missing_teams: missing }) => (
                    <Chip tone={!enabled ? 'quiet' : missing.length > 0 ? 'warn' : 'ok'}>
                      {!enabled ? 'disabled' : missing.length > 0 ? 'names unknown teams' : 'enabled'}
                    </Chip>
                  ),
                },
                {
                  key: 'origin',
                  title: 'From',
                  cell: ({ origin }) => <span class="quiet">{origin}</span>,
                  isMinor: true,
                },
              ]}
            />
          )
        }
      </Show>
      {isAdding.value && <NewProvider onClose={() => (isAdding.value = false)} />}
    </Page>
  );
}

function NewProvider({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const name = useSignal('');
  const issuer = useSignal('');
  const clientId = useSignal('');
  const secret = useSignal('');
  const add = useAction(async () => {
    const body = {
      name: name.value.trim(),
      issuer: issuer.value.trim(),
      client_id: clientId.value.trim(),
      ...(secret.value !== '' && { client_secret: secret.value }),
      // No user should sign in before the rest is set.
      enabled: false,
    };
    const provider = await api.call('POST /admin/providers', { body });
    secret.value = '';
    notify({ kind: 'ok', text: `The provider ${provider.name} was added. It is disabled until you enable it.` });
    route(providerPath(provider.name));
  });
  return (
    <FormDialog
      title="New provider"
      verb="Add provider"
      action={add}
      fields={['name', 'issuer', 'client_id', 'client_secret']}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        isRequired
        autoFocus
        hint="A part of addresses, such as company. It cannot be changed later."
        error={add.fieldError('name')}
      />
      <TextField
        label="Issuer"
        type="url"
        value={issuer}
        isRequired
        placeholder="https://login.example.com/realms/company"
        error={add.fieldError('issuer')}
      />
      <TextField label="Client ID" value={clientId} isRequired autoComplete="off" error={add.fieldError('client_id')} />
      <TextField
        label="Client secret"
        type="password"
        value={secret}
        autoComplete="off"
        hint="Stored sealed, and never shown again."
        error={add.fieldError('client_secret')}
      />
    </FormDialog>
  );
}
