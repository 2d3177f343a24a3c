import type { Signal } from '@preact/signals';
import type { Action } from '../../data/action.ts';
import { SelectField, TextField } from '../../parts/field.tsx';

const FORMATS = [
  { value: 'standard', label: 'Standard Webhooks' },
  { value: 'cloudevents', label: 'CloudEvents' },
];

export const FIELDS = ['url', 'types', 'format', 'secret'];

interface WebhookFieldsProps {
  readonly url: Signal<string>;
  readonly types: Signal<string>;
  readonly format: Signal<string>;
  readonly action: Action<[]>;
}

/** What a new webhook and one that is edited have in common. */
export function WebhookFields({ url, types, format, action }: WebhookFieldsProps) {
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
      <SelectField label="Format" value={format} choices={FORMATS} error={action.fieldError('format')} />
    </>
  );
}
