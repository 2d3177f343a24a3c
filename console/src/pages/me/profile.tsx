import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { type Me, me, signedInAs } from '../../data/session.ts';
import { Avatar, Card, Chip, Facts } from '../../parts/bits.tsx';
import { TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/toast.tsx';
import { When } from '../../parts/when.tsx';
import { MePage } from './me-page.tsx';
import { MyData } from './my-data.tsx';

const FIELDS = ['full_name', 'language', 'location', 'website', 'description'] as const;

export function ProfilePage() {
  return (
    <MePage title="Profile" lead="How other users see you, and where you can be found.">
      {me.value && <ProfileDetails user={me.value} />}
    </MePage>
  );
}

function ProfileDetails({ user }: { user: Me }) {
  const values = {
    full_name: useSignal(user.full_name),
    language: useSignal(user.language),
    location: useSignal(user.location),
    website: useSignal(user.website),
    description: useSignal(user.description),
  };
  const save = useAction(async () => {
    const body = Object.fromEntries(FIELDS.map((field) => [field, values[field].value.trim()]));
    signedInAs(await api.call('PATCH /user', { body }));
    notify({ kind: 'ok', text: 'Your profile was saved.' });
  });
  return (
    <div class="stack wide">
      <Card>
        <div class="line">
          <Avatar url={user.avatar_url} size={40} />
          <bdi class="strong">{user.login}</bdi>
          {user.is_admin && <Chip tone="mark">site administrator</Chip>}
        </div>
        <Facts
          of={[
            { name: 'Primary email address', value: user.email },
            { name: 'Account created', value: <When at={user.created} /> },
            { name: 'Last signed in', value: <When at={user.last_login} /> },
          ]}
        />
      </Card>
      <Form action={save} verb="Save profile" fields={FIELDS}>
        <TextField
          label="Full name"
          value={values.full_name}
          autoComplete="name"
          maxLength={100}
          error={save.fieldError('full_name')}
        />
        <TextField
          label="Location"
          value={values.location}
          autoComplete="off"
          maxLength={100}
          error={save.fieldError('location')}
        />
        <TextField
          label="Website"
          value={values.website}
          autoComplete="url"
          hint="An address that starts with https:// or http://."
          maxLength={255}
          error={save.fieldError('website') && 'This must be an http or https URL.'}
        />
        <TextField
          label="Language"
          value={values.language}
          autoComplete="language"
          hint="A language tag such as en or de-CH, for programs that use it. The console is in English."
          error={save.fieldError('language') && 'This must be a language tag, such as en or de-CH.'}
        />
        <TextField
          label="About you"
          value={values.description}
          rows={4}
          maxLength={1000}
          error={save.fieldError('description')}
        />
      </Form>
      <MyData />
    </div>
  );
}
