import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Answer } from '../../../../client/client.ts';
import type { Action } from '../../data/action.ts';
import { SelectField, TextField } from '../../parts/field.tsx';

type Org = Answer<'GET /orgs/{org}'>;
type Visibility = 'public' | 'limited' | 'private';
type Values = Readonly<
  Record<'username' | 'full_name' | 'description' | 'website' | 'location' | 'visibility', Signal<string>>
>;

export const ORG_FIELDS = ['username', 'full_name', 'description', 'website', 'location'] as const;

/** The details of an organization, while they are being edited. */
export function useOrgFields(org?: Org): Values {
  const signals = {
    username: useSignal(org?.name ?? ''),
    full_name: useSignal(org?.full_name ?? ''),
    description: useSignal(org?.description ?? ''),
    website: useSignal(org?.website ?? ''),
    location: useSignal(org?.location ?? ''),
    visibility: useSignal(org?.visibility ?? 'private'),
  };
  return useMemo(() => signals, []);
}

/** Only what differs, so that other users' changes of the rest stay. */
export function changedFields(values: Values, org: Org) {
  const before: Readonly<Record<string, string>> = { ...org, username: org.name } as never;
  return Object.fromEntries(
    Object.entries(values)
      .filter(([key, { value }]) => before[key] !== value)
      .map(([key, { value }]) => [key, value]),
  );
}

export function bodyOf(values: Values) {
  const { username, full_name, description, website, location, visibility } = values;
  return {
    username: username.value,
    full_name: full_name.value,
    description: description.value,
    website: website.value,
    location: location.value,
    visibility: visibility.value as Visibility,
  };
}

export function OrgFields(props: { values: Values; action: Action<[]>; nameHint?: string; isNameReadOnly?: boolean }) {
  const { values, action, nameHint, isNameReadOnly } = props;
  return (
    <>
      <TextField
        label="Name"
        value={values.username}
        isRequired
        isReadOnly={isNameReadOnly}
        hint={nameHint}
        error={action.fieldError('username')}
      />
      <TextField label="Full name" value={values.full_name} error={action.fieldError('full_name')} />
      <TextField label="Description" value={values.description} rows={3} error={action.fieldError('description')} />
      <TextField label="Website" type="url" value={values.website} error={action.fieldError('website')} />
      <TextField label="Location" value={values.location} error={action.fieldError('location')} />
      <SelectField
        label="Visibility"
        value={values.visibility}
        choices={[
          { value: 'private', label: 'Private: members only' },
          { value: 'limited', label: 'Limited: signed-in users' },
          { value: 'public', label: 'Public' },
        ]}
      />
    </>
  );
}
