import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { Copy } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';

interface AddAppProps {
  readonly onClose: () => void;
  /** The first second factor comes with recovery codes. */
  readonly onCodes: (codes: readonly string[]) => void;
  readonly onDone?: (() => void) | undefined;
}

/** The secret counts once the app has shown a code, so nothing happens to a user who stops halfway. */
export function AddApp({ onClose, onCodes, onDone }: AddAppProps) {
  const proposed = useSignal<Answer<'POST /user/factors/totp'> | undefined>(undefined);
  const problem = useSignal<unknown>(undefined);
  const code = useSignal('');
  const add = useAction(async () => {
    const body = { enrollment: proposed.value?.enrollment ?? '', code: code.value };
    const { recovery_codes: codes } = await api.call('PUT /user/factors/totp', { body });
    if (codes) onCodes(codes);
  });
  useEffect(() => {
    api.call('POST /user/factors/totp').then(
      (answer) => (proposed.value = answer),
      (error: unknown) => (problem.value = error),
    );
  }, []);
  return (
    <Dialog title="Add an authenticator app" onClose={onClose}>
      <Fault error={problem.value} />
      {proposed.value && (
        <Form
          action={add}
          verb="Add app"
          fields={['code']}
          onCancel={onClose}
          onDone={() => {
            onClose();
            onDone?.();
          }}
        >
          <p>Scan this with the app on your phone, then type the code that it shows.</p>
          <QrCode text={proposed.value.uri} />
          <p class="small">
            If the app cannot scan it, type this key: <Copy text={proposed.value.secret} label="Copy the key" />
          </p>
          <TextField
            label="Code"
            value={code}
            isRequired
            autoFocus
            autoComplete="one-time-code"
            hint="Six digits."
            error={add.fieldError('code')}
          />
        </Form>
      )}
    </Dialog>
  );
}

/** Drawn here: the secret in it must not travel to another service. Dark on light in any theme, as scanners need it. */
function QrCode({ text }: { text: string }) {
  const code = useSignal<{ readonly size: number; readonly path: string } | undefined>(undefined);
  useEffect(() => {
    // A user who cannot load it types the key.
    import('uqr').then(
      ({ encode }) => {
        const { size, data } = encode(text, { border: 2 });
        const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
        code.value = { size, path: dark.join('') };
      },
      () => undefined,
    );
  }, [text]);
  if (code.value === undefined) return null;
  const { size, path } = code.value;
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      width={200}
      height={200}
      role="img"
      aria-label="QR code with the key for the authenticator app"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
