import { useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { Card } from '../../parts/bits.tsx';
import { TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Impact } from '../../parts/impact.tsx';
import { UserPicker } from '../../parts/user-picker.tsx';
import { linesOf } from './provider-mappings.ts';

type Preview = Answer<'POST /admin/providers/{provider}/preview'>;

/** What a sign-in with some groups would change, and what that gives to and takes from whom. */
export function ProviderPreview({ provider }: { provider: string }) {
  const username = useSignal('');
  const groups = useSignal('');
  const found = useSignal<Preview | undefined>(undefined);
  const ask = useAction(async () => {
    const body = { username: username.value, groups: linesOf(groups.value) };
    found.value = await api.call('POST /admin/providers/{provider}/preview', { path: { provider }, body });
  });
  return (
    <Card title="Preview">
      <p class="quiet">What the saved mappings do when a user signs in with these groups. Nothing is changed.</p>
      <Form action={ask} verb="Preview" fields={['username', 'groups']}>
        <UserPicker label="Person" value={username} error={ask.fieldError('username')} />
        <TextField
          label="Groups"
          value={groups}
          rows={3}
          isMono
          hint="One on each line."
          error={ask.fieldError('groups')}
        />
      </Form>
      {found.value && <Found preview={found.value} />}
    </Card>
  );
}

function Found({ preview: { organizations, missing, ignored } }: { preview: Preview }) {
  return (
    <div class="stack" role="status">
      {organizations.length === 0 && <p>No membership would change.</p>}
      {organizations.map(({ organization, changes }) => (
        <section key={organization} class="stack tight">
          <h3>
            <bdi>{organization}</bdi>
          </h3>
          <p>{`${changes.length} ${changes.length === 1 ? 'membership' : 'memberships'} would change.`}</p>
          <Impact org={organization} changes={changes} />
        </section>
      ))}
      {missing.length > 0 && <p class="note warn">{`These teams do not exist: ${missing.join(', ')}`}</p>}
      {ignored.length > 0 && <p class="quiet">{`Groups without a mapping: ${ignored.join(', ')}`}</p>}
    </div>
  );
}
