import { useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';

type Robot = Answer<'GET /robots/{id}'>;
type Explanation = Answer<'POST /robots/{id}/trust_rules/explain'>;

/** Says claim by claim what each trust rule makes of a token. The server neither keeps it nor uses it up. */
export function TryToken({ robot, onClose }: { robot: Robot; onClose: () => void }) {
  const token = useSignal('');
  const found = useSignal<Explanation | undefined>(undefined);
  const attempt = useAction(async () => {
    const body = { token: token.value };
    found.value = await api.call('POST /robots/{id}/trust_rules/explain', { path: { id: robot.id }, body });
  });
  return (
    <Dialog title="Try a token" onClose={onClose} size="wide">
      <Form verb="Try the token" action={attempt} fields={['token']}>
        <TextField
          label="Token of the build platform or cluster"
          value={token}
          isRequired
          autoFocus
          hint="It is neither stored nor used up."
          error={attempt.fieldError('token')}
        />
      </Form>
      {found.value && <Verdicts of={found.value} />}
      <div class="line end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

function Verdicts({ of: { rules } }: { of: Explanation }) {
  if (rules.length === 0) return <p>No: this robot has no trust rules.</p>;
  return (
    <div class="stack" role="status">
      {rules.map((rule) => (
        <div key={String(rule.id)} class="stack tight">
          <h3>
            <bdi>{rule.name}</bdi>{' '}
            <Chip tone={rule.accepted ? 'ok' : 'bad'}>{rule.accepted ? 'accepts it' : 'does not accept it'}</Chip>
          </h3>
          <ul>
            {rule.checks.map(({ what, claim, wanted, got, holds }) => (
              <li key={claim ?? what}>
                <Chip tone={holds ? 'ok' : 'bad'}>{holds ? 'right' : 'wrong'}</Chip> {claim ?? what}:{' '}
                <bdi>{holds ? (got ?? wanted) : `wanted ${wanted}, got ${got ?? 'nothing'}`}</bdi>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}
