import { useSignal } from '@preact/signals';
import type { Item } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { pageData } from '../../data/page-data.ts';
import { useResource } from '../../data/resource.ts';
import { Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { notify } from '../../parts/toast.tsx';
import { MePage } from './me-page.tsx';

type Email = Item<'GET /user/emails'>;

export function EmailsPage() {
  const emails = useResource('GET /user/emails');
  const isAdding = useSignal(false);
  const removed = useSignal<Email | undefined>(undefined);
  const { emailConfirmation } = pageData.features;
  return (
    <MePage
      title="Email addresses"
      lead="You can sign in with a verified address instead of your username."
      isStale={emails.isStale}
      actions={
        <span data-key="n">
          <Button kind="main" icon="plus" onClick={() => (isAdding.value = true)}>
            Add addresses
          </Button>
        </span>
      }
    >
      <Show of={emails}>
        {(all) => (
          <>
            {emailConfirmation && all.some((email) => !email.verified) && (
              <p class="note">
                Addresses are verified by the link in an email, which works for a day. To get another link, remove the
                address and add it again.
              </p>
            )}
            <Table
              caption="Email addresses"
              rows={all}
              keyOf={(email) => email.email}
              columns={[
                { key: 'address', title: 'Address', cell: (email) => <bdi class="strong">{email.email}</bdi> },
                { key: 'state', title: 'State', cell: (email) => <EmailState email={email} /> },
                {
                  key: 'remove',
                  title: '',
                  isNumber: true,
                  cell: (email) => (
                    <Button
                      label={`Remove ${email.email}`}
                      disabledBecause={email.primary ? 'The primary address cannot be removed.' : undefined}
                      onClick={() => (removed.value = email)}
                    >
                      Remove
                    </Button>
                  ),
                },
              ]}
            />
          </>
        )}
      </Show>
      {isAdding.value && <AddAddresses onClose={() => (isAdding.value = false)} />}
      {removed.value && (
        <Confirm
          title={`Remove ${removed.value.email}?`}
          verb="Remove address"
          done={`The address ${removed.value.email} was removed.`}
          change={() => api.call('DELETE /user/emails', { body: { emails: [removed.value?.email ?? ''] } })}
          onClose={() => (removed.value = undefined)}
        >
          <p>You cannot sign in with it any more. Another user can add it to their account.</p>
        </Confirm>
      )}
    </MePage>
  );
}

function EmailState({ email }: { email: Email }) {
  return (
    <span class="line">
      {email.primary && <Chip tone="mark">primary</Chip>}
      {email.verified ? <Chip tone="ok">verified</Chip> : <Chip tone="warn">not verified</Chip>}
    </span>
  );
}

function AddAddresses({ onClose }: { onClose: () => void }) {
  const text = useSignal('');
  const add = useAction(async () => {
    const emails = text.value.split(/[\s,;]+/).filter((one) => one !== '');
    await api.call('POST /user/emails', { body: { emails } });
    notify({ kind: 'ok', text: emails.length === 1 ? 'The address was added.' : 'The addresses were added.' });
  });
  return (
    <FormDialog title="Add email addresses" verb="Add" action={add} fields={['emails']} onClose={onClose}>
      <TextField
        label="Email addresses"
        value={text}
        rows={3}
        isRequired
        autoFocus
        hint="One on each line. If one of them cannot be added, none is."
        error={add.fieldError('emails')}
      />
    </FormDialog>
  );
}
