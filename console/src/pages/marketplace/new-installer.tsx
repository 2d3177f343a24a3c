import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { notify } from '../../parts/toast.tsx';
import { MARKETPLACES } from './marketplace-words.ts';

type Marketplace = 'CloudA' | 'CloudB' | 'CloudC';
/** The only one that tests without its secret. */
const WITH_TESTS = 'CloudC';

export function NewInstaller({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const marketplace = useSignal('CloudA');
  const days = useSignal('30');
  const isTest = useSignal(false);
  const create = useAction(async () => {
    const { id } = await api.call('POST /admin/marketplace/installers', {
      body: {
        marketplace: marketplace.value as Marketplace,
        days: Number(days.value),
        is_test: isTest.value && marketplace.value === WITH_TESTS,
      },
    });
    notify({ kind: 'ok', text: 'The installer was created. Give its ID to the customer.' });
    route(`/admin/installers/${encodeURIComponent(id)}`);
  });
  return (
    <FormDialog
      title="New installer"
      verb="Create installer"
      action={create}
      fields={['days', 'is_test']}
      onClose={onClose}
    >
      <SelectField
        label="Marketplace"
        value={marketplace}
        choices={MARKETPLACES.filter(({ value }) => value !== '')}
        error={create.fieldError('marketplace')}
      />
      <TextField
        label="Days to bind it"
        type="number"
        value={days}
        isRequired
        hint="1 to 3650. After that, it cannot be bound."
        error={create.fieldError('days')}
      />
      <CheckField
        label="For tests"
        hint="It can be bound without the secret of the marketplace."
        isChecked={isTest.value && marketplace.value === WITH_TESTS}
        disabledBecause={marketplace.value === WITH_TESTS ? undefined : `Only ${WITH_TESTS} has test installers.`}
        error={create.fieldError('is_test')}
        onChange={(isChecked) => (isTest.value = isChecked)}
      />
    </FormDialog>
  );
}
