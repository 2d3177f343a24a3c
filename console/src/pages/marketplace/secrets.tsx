import { useSignal } from '@preact/signals';
import type { Item } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useResource } from '../../data/resource.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { ShownSecret } from '../../parts/secret.tsx';
import { Table } from '../../parts/table.tsx';
import { notify } from '../../parts/toast.tsx';
import { When } from '../../parts/when.tsx';
import type { Summary } from './marketplace-words.ts';

type Secret = Item<'GET /admin/marketplace/secrets'>;
type WithSecret = 'CloudB' | 'CloudC';

/** A secret is changed without a gap: add the new one, change it at the marketplace, retire the old one. */
export function Secrets({ marketplaces }: { marketplaces: Summary['marketplaces'] }) {
  const secrets = useResource('GET /admin/marketplace/secrets');
  const isAdding = useSignal(false);
  const shown = useSignal<string | undefined>(undefined);
  const retired = useSignal<Secret | undefined>(undefined);
  const withSecret = marketplaces.filter((one) => one.proven_by === 'secret').map((one) => one.marketplace);
  return (
    <Card
      title="Secrets"
      actions={
        <span data-key="n">
          <Button icon="plus" onClick={() => (isAdding.value = true)}>
            Add secret
          </Button>
        </span>
      }
    >
      <p class="quiet">
        To change one without a gap: add the new secret, change it at the marketplace, then retire the old one.
      </p>
      <Show of={secrets} rows={2}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              text="There are no secrets, so every delivery that needs one is rejected."
              command="atrium marketplace secret add cloudB"
            />
          ) : (
            <SecretTable secrets={all} onRetire={(secret) => (retired.value = secret)} />
          )
        }
      </Show>
      {isAdding.value && (
        <AddSecret
          marketplaces={withSecret}
          onClose={() => (isAdding.value = false)}
          onCreated={(secret) => (shown.value = secret)}
        />
      )}
      {shown.value !== undefined && (
        <ShownSecret
          title="The new secret"
          secret={shown.value}
          copyLabel="Copy the secret"
          commands={[]}
          onClose={() => (shown.value = undefined)}
        />
      )}
      {retired.value && (
        <Confirm
          title={`Retire a secret of ${retired.value.marketplace}?`}
          verb="Retire secret"
          done="The secret was retired."
          change={() =>
            api.call('DELETE /admin/marketplace/secrets/{fingerprint}', {
              path: { fingerprint: retired.value?.fingerprint ?? '' },
            })
          }
          onClose={() => (retired.value = undefined)}
        >
          <p>
            Deliveries that come with the secret <code>{retired.value.fingerprint}</code> are rejected from now on. This
            cannot be undone.
          </p>
          {isOnly(retired.value, secrets.data ?? []) && (
            <p class="note warn">
              It is the only one of {retired.value.marketplace}: without a secret, all its deliveries are refused.
            </p>
          )}
        </Confirm>
      )}
    </Card>
  );
}

function SecretTable({ secrets, onRetire }: { secrets: readonly Secret[]; onRetire: (secret: Secret) => void }) {
  return (
    <Table
      caption="Secrets"
      rows={secrets}
      keyOf={({ marketplace, fingerprint }) => `${marketplace} ${fingerprint}`}
      columns={[
        { key: 'fingerprint', title: 'Fingerprint', cell: (one) => <code>{one.fingerprint}</code> },
        { key: 'marketplace', title: 'Marketplace', cell: (one) => one.marketplace },
        {
          key: 'since',
          title: 'Since',
          cell: (one) =>
            one.source === 'settings' ? <span class="quiet">in the settings</span> : <When at={one.added_at} />,
          isMinor: true,
        },
        {
          key: 'retire',
          title: '',
          isNumber: true,
          cell: (one) => (
            <Button
              label={`Retire ${one.fingerprint}`}
              disabledBecause={
                one.source === 'settings' ? 'It is in the settings of the server, and is changed there.' : undefined
              }
              onClick={() => onRetire(one)}
            >
              Retire
            </Button>
          ),
        },
      ]}
    />
  );
}

function isOnly(secret: Secret, all: readonly Secret[]): boolean {
  return all.filter(({ marketplace }) => marketplace === secret.marketplace).length === 1;
}

interface AddSecretProps {
  readonly marketplaces: readonly string[];
  readonly onClose: () => void;
  readonly onCreated: (secret: string) => void;
}

function AddSecret({ marketplaces, onClose, onCreated }: AddSecretProps) {
  const marketplace = useSignal(marketplaces[0] ?? '');
  const own = useSignal('');
  const add = useAction(async () => {
    const { secret } = await api.call('POST /admin/marketplace/secrets', {
      body: {
        marketplace: marketplace.value as WithSecret,
        secret: own.value === '' ? undefined : own.value,
      },
    });
    own.value = '';
    if (secret === undefined) notify({ kind: 'ok', text: `A secret of ${marketplace.value} was added.` });
    else onCreated(secret);
  });
  return (
    <FormDialog title="Add a secret" verb="Add secret" action={add} fields={['secret']} onClose={onClose}>
      <SelectField
        label="Marketplace"
        value={marketplace}
        choices={marketplaces.map((name) => ({ value: name, label: name }))}
        error={add.fieldError('marketplace')}
      />
      <TextField
        label="Secret"
        type="password"
        value={own}
        autoComplete="off"
        hint="Leave it empty, and the server creates one and shows it once."
        error={add.fieldError('secret')}
      />
    </FormDialog>
  );
}
