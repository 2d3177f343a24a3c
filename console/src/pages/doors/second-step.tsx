import { useSignal } from '@preact/signals';
import { ApiError } from '../../../../client/errors.ts';
import { api } from '../../data/api.ts';
import { hasPasskeys, showPasskey } from '../../data/passkey.ts';
import { signedInAs } from '../../data/session.ts';
import { Button } from '../../parts/button.tsx';
import { messageOf } from '../../parts/fault.tsx';
import { TextField } from '../../parts/field.tsx';

interface SecondStepProps {
  readonly methods: readonly string[];
  /** The first step is too long ago. */
  readonly onExpired: () => void;
}

type Way = 'totp' | 'passkey' | 'recovery_code';

/** After the right password, or a provider's word, for a user who has a second factor. */
export function SecondStep({ methods, onExpired }: SecondStepProps) {
  const ways = methods.filter((one) => one !== 'passkey' || hasPasskeys()) as Way[];
  const way = useSignal<Way>(ways[0] ?? 'recovery_code');
  const code = useSignal('');
  const isRunning = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);

  async function finish(): Promise<void> {
    isRunning.value = true;
    problem.value = undefined;
    try {
      const body = await proof();
      if (body !== undefined) signedInAs(await api.call('POST /user/signin/factor', { body }));
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'sign_in_expired') onExpired();
      else problem.value = describe(error);
    } finally {
      isRunning.value = false;
    }
  }

  async function proof() {
    if (way.value === 'totp') return { code: code.value };
    if (way.value === 'recovery_code') return { recovery_code: code.value };
    const options = await api.call('POST /user/signin/passkey/options', { body: { second_step: true } });
    const passkey = await showPasskey(options);
    return passkey && { passkey };
  }

  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void finish();
      }}
    >
      {way.value === 'passkey' ? (
        <>
          <p>The first step is done. Now use your passkey.</p>
          {problem.value !== undefined && (
            <p class="problem" role="alert">
              {problem.value}
            </p>
          )}
        </>
      ) : (
        <TextField
          key={way.value}
          label={way.value === 'totp' ? 'Code of your authenticator app' : 'Recovery code'}
          value={code}
          autoComplete={way.value === 'totp' ? 'one-time-code' : 'off'}
          isRequired
          autoFocus
          hint={way.value === 'totp' ? 'Six digits.' : 'One that you have not used yet.'}
          error={problem.value}
        />
      )}
      <Button kind="main" type="submit" isBusy={isRunning.value} busyLabel="Signing in">
        {way.value === 'passkey' ? 'Use a passkey' : 'Sign in'}
      </Button>
      {ways
        .filter((other) => other !== way.value)
        .map((other) => (
          <p key={other}>
            <button
              type="button"
              class="link-button"
              onClick={() => {
                way.value = other;
                code.value = '';
                problem.value = undefined;
              }}
            >
              {WORDS[other]}
            </button>
          </p>
        ))}
    </form>
  );
}

const WORDS: Readonly<Record<Way, string>> = {
  totp: 'Use the authenticator app instead',
  passkey: 'Use a passkey instead',
  recovery_code: 'Use a recovery code instead',
};

function describe(error: unknown): string {
  if (!(error instanceof ApiError)) return messageOf(error);
  if (error.reason === 'wrong_code') return 'This code is wrong, or it was used before.';
  if (error.reason === 'wrong_passkey') return 'This passkey was not accepted.';
  if (error.status === 429) return `Too many wrong codes. Try again in ${error.retryAfter ?? 60} s.`;
  return messageOf(error);
}
