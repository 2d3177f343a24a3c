import type { Signal } from '@preact/signals';
import type { Action } from '../../data/action.ts';
import { SelectField, TextField } from '../../parts/field.tsx';

const FORMATS = [
  { value: 'standard', label: 'Standard Webhooks' },
  { value: 'cloudevents', label: 'CloudEvents' },
];

export const FIELDS = ['name', 'url', 'types', 'format', 'secret'];

interface WebhookFieldsProps {
  readonly name: Signal<string>;
  /** A new one may have none: then it is called like its host. */
  readonly isNamed: boolean;
  readonly url: Signal<string>;
  readonly types: Signal<string>;
  readonly format: Signal<string>;
  readonly action: Action<[]>;
}

/** What a new webhook and one that is edited have in common. */
export function WebhookFields({ name, isNamed, url, types, format, action }: WebhookFieldsProps) {
  return (
    <>
      <TextField
        label="URL"
        value={url}
        isRequired
        autoFocus
        autoComplete="off"
        placeholder="https://hooks.example.com/atrium"
        error={action.fieldError('url')}
      />
      <TextField
        label="Types"
        value={types}
        isRequired
        autoComplete="off"
        hint="What it hears of: *, kinds such as team.*, or actions such as role.update; separated by commas."
        error={action.fieldError('types')}
      />
      <TextField
        label="Name"
        value={name}
        isRequired={isNamed}
        autoComplete="off"
        hint={isNamed ? undefined : 'Optional: without one, it has the name of its host.'}
        error={action.fieldError('name')}
      />
      <SelectField label="Format" value={format} choices={FORMATS} error={action.fieldError('format')} />
    </>
  );
}
