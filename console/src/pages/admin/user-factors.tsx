import { useSignal } from '@preact/signals';
import { api } from '../../data/api.ts';
import { useResource } from '../../data/resource.ts';
import { Card, Chip, Facts } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Show } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';

/** What a user has besides a password, and what helps if they have lost it. Few come for this, so it waits. */
export function UserFactors({ login }: { login: string }) {
  const isOpen = useSignal(false);
  if (isOpen.value) return <OpenFactors login={login} />;
  return (
    <Card title="Second factors" actions={<Button onClick={() => (isOpen.value = true)}>Show second factors</Button>}>
      <p class="quiet">Passkeys, authenticator apps, and what to do if they are lost.</p>
    </Card>
  );
}

function OpenFactors({ login }: { login: string }) {
  const factors = useResource('GET /admin/users/{username}/factors', { path: { username: login } });
  const isRemoving = useSignal(false);
  const hasNone = factors.data && factors.data.passkeys.length === 0 && factors.data.totp === undefined;
  return (
    <Card
      title="Second factors"
      actions={
        <Button disabledBecause={hasNone ? 'They have none.' : undefined} onClick={() => (isRemoving.value = true)}>
          Remove all factors
        </Button>
      }
    >
      <Show of={factors} rows={2}>
        {({ passkeys, totp, recovery_codes: codes, required }) => (
          <>
            {required && hasNone && <Chip tone="warn">required, but missing</Chip>}
            <Facts
              of={[
                {
                  name: 'Passkeys',
                  value: passkeys.length === 0 ? 'none' : passkeys.map(({ name }) => name).join(', '),
                },
                {
                  name: 'Authenticator app',
                  value: totp ? (
                    <span>
                      since <When at={totp.created_at} />
                    </span>
                  ) : (
                    'none'
                  ),
                },
                ...(codes ? [{ name: 'Recovery codes left', value: String(codes.left) }] : []),
              ]}
            />
          </>
        )}
      </Show>
      {isRemoving.value && (
        <Confirm
          title={`Remove all second factors of ${login}?`}
          verb="Remove all factors"
          done={`The second factors of ${login} were removed.`}
          change={() => api.call('DELETE /admin/users/{username}/factors', { path: { username: login } })}
          onClose={() => (isRemoving.value = false)}
        >
          <p>
            For a user who has lost them: be sure that it is this user who asks. Their sessions end, and their password
            alone is enough until they add a new one.
          </p>
        </Confirm>
      )}
    </Card>
  );
}
