import { useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { notify } from '../../parts/toast.tsx';

type Robot = Answer<'GET /robots/{id}'>;

const GITHUB = 'https://token.actions.githubusercontent.com';
const SCOPES = [
  { value: 'write:organization', label: 'Change what belongs to the organization' },
  { value: 'read:organization', label: 'Read what belongs to the organization' },
  { value: 'all', label: 'Everything that the robot may do' },
] as const;
const LIFETIMES = [
  { value: 'PT1H', label: '1 hour' },
  { value: 'PT30M', label: '30 minutes' },
  { value: 'PT10M', label: '10 minutes' },
  { value: 'PT5M', label: '5 minutes' },
] as const;

/** One claim in each line: `repository_id=123`. A line without `=` is sent as it is, so that the server says what is wrong. */
export function claimsIn(text: string): Record<string, string> {
  const lines = text.split(/[\n,]/).map((line) => line.trim());
  return Object.fromEntries(
    lines
      .filter((line) => line !== '')
      .map((line) => {
        const at = line.indexOf('=');
        return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
      }),
  );
}

interface NewTrustRuleProps {
  readonly robot: Robot;
  readonly onClose: () => void;
  readonly onCreated: () => void;
}

export function NewTrustRule({ robot, onClose, onCreated }: NewTrustRuleProps) {
  const name = useSignal('');
  const issuer = useSignal(GITHUB);
  const audience = useSignal(location.origin);
  const claims = useSignal('');
  const scope = useSignal<string>('write:organization');
  const lifetime = useSignal<string>('PT1H');
  const create = useAction(async () => {
    await api.call('POST /robots/{id}/trust_rules', {
      path: { id: robot.id },
      body: {
        name: name.value,
        issuer: issuer.value,
        audience: audience.value,
        claims: claimsIn(claims.value),
        scopes: [scope.value as (typeof SCOPES)[number]['value']],
        lifetime: lifetime.value,
      },
    });
    onCreated();
    notify({ kind: 'ok', text: `The trust rule ${name.value} was created.` });
  });
  return (
    <FormDialog
      title={`New trust rule for ${robot.name}`}
      verb="Create trust rule"
      action={create}
      fields={['name', 'issuer', 'audience', 'claims', 'scopes', 'lifetime']}
      onClose={onClose}
    >
      <TextField label="Name" value={name} isRequired autoFocus error={create.fieldError('name')} />
      <TextField
        label="Issuer"
        value={issuer}
        isRequired
        hint="Exactly as tokens say it. For an issuer that this server cannot reach, use atrium robot trust create --jwks."
        error={create.fieldError('issuer')}
      />
      <TextField label="Audience" value={audience} isRequired error={create.fieldError('audience')} />
      <TextField
        label="Claims"
        value={claims}
        isRequired
        hint="Separated by commas, such as repository_id=123456789, ref=refs/heads/main. Bind to IDs: names can be given away."
        error={create.fieldError('claims')}
      />
      <SelectField label="May" value={scope} choices={SCOPES} error={create.fieldError('scopes')} />
      <SelectField
        label="Issued tokens work for"
        value={lifetime}
        choices={LIFETIMES}
        error={create.fieldError('lifetime')}
      />
    </FormDialog>
  );
}
