import { type Signal, signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { RawBody } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { notify } from '../../parts/toast.tsx';
import { type CredentialKind, type CredentialSummary, KINDS, kindOf } from './credential-kinds.ts';

const RAW = 'raw';
const PROVIDERS = [
  ...KINDS.map(({ type, title }) => ({ value: type, label: title })),
  { value: RAW, label: 'Raw JSON' },
];

/** What was typed into the fields of each cloud, so that changing the cloud loses nothing. */
type Typed = ReadonlyMap<string, Signal<string>>;

interface CredentialFormProps {
  /** The credential that is replaced; without it, a new one is created. */
  readonly replaced?: CredentialSummary | undefined;
  readonly onClose: () => void;
}

/** A form for each cloud that we know, and raw JSON for everything else. Secrets are typed anew, never read back. */
export function CredentialForm({ replaced, onClose }: CredentialFormProps) {
  const provider = useSignal(replaced ? (kindOf(replaced.type)?.type ?? RAW) : 'Aws');
  const name = useSignal(replaced?.name ?? '');
  const json = useSignal(replaced ? JSON.stringify({ name: replaced.name, type: replaced.type }, undefined, 2) : '');
  const typed = useMemo(emptyFields, []);
  const kind = kindOf(provider.value);
  const save = useAction(async () => {
    const text = kind === undefined ? readSpec(json.value, replaced?.name) : specOf(kind, name.value.trim(), typed);
    const body = new RawBody(text);
    if (replaced) await api.call('PUT /user/credentials', { body });
    else await api.call('POST /user/credentials', { body });
    notify({ kind: 'ok', text: replaced ? 'The credential was replaced.' : 'The credential was stored.' });
  });
  return (
    <FormDialog
      title={replaced ? `Replace ${replaced.name}` : 'New cloud credential'}
      verb={replaced ? 'Replace credential' : 'Store credential'}
      action={save}
      fields={['name']}
      onClose={onClose}
    >
      <SelectField label="Provider" value={provider} choices={PROVIDERS} onChange={save.clear} />
      {kind === undefined ? (
        <TextField
          label="Credential"
          value={json}
          rows={12}
          isMono
          isRequired
          hint="A JSON object with a name, a type and the fields of the cloud. It is kept as it is, long numbers too."
          error={save.fieldError('name')}
        />
      ) : (
        <>
          <TextField
            label="Name"
            value={name}
            isRequired
            isReadOnly={replaced !== undefined}
            autoFocus={replaced === undefined}
            autoComplete="off"
            hint={replaced ? undefined : 'Letters, digits, ".", "_" and "-".'}
            error={save.fieldError('name')}
          />
          <KindFields key={kind.type} kind={kind} typed={typed} />
        </>
      )}
    </FormDialog>
  );
}

function KindFields({ kind, typed }: { kind: CredentialKind; typed: Typed }) {
  return (
    <>
      {kind.fields.map(({ key, label, isSecret, isOptional, rows, hint }) => (
        <TextField
          key={key}
          label={isOptional ? `${label} (optional)` : label}
          value={fieldOf(typed, kind, key)}
          type={isSecret ? 'password' : 'text'}
          rows={rows}
          isMono={rows !== undefined}
          isRequired={!isOptional}
          autoComplete="off"
          hint={hint}
        />
      ))}
    </>
  );
}

function emptyFields(): Typed {
  return new Map(KINDS.flatMap(({ type, fields }) => fields.map(({ key }) => [`${type} ${key}`, signal('')])));
}

function fieldOf(typed: Typed, { type }: CredentialKind, key: string): Signal<string> {
  return typed.get(`${type} ${key}`) ?? signal('');
}

function specOf(kind: CredentialKind, name: string, typed: Typed): string {
  const said = kind.fields.flatMap(({ key }) => {
    const text = fieldOf(typed, kind, key).value.trim();
    return text === '' ? [] : [[key, text] as const];
  });
  return JSON.stringify({ name, type: kind.type, [kind.block]: Object.fromEntries(said) });
}

/** Says what is wrong with it before it is sent. The text itself is sent, so that no number changes. */
function readSpec(text: string, name: string | undefined): string {
  let spec: unknown;
  try {
    spec = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  const said = (spec as { name?: unknown } | null)?.name;
  if (typeof said !== 'string') throw new Error('The credential must be an object with a name.');
  if (name !== undefined && said !== name) throw new Error(`The name must stay ${name}.`);
  return text;
}
