import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Answer } from '../../../../client/client.ts';
import { api } from '../../data/api.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Loading } from '../../parts/page.tsx';
import { type CredentialSummary, cloudOf } from './credential-kinds.ts';

type Buckets = Answer<'POST /user/clouds/{cloud}/buckets'>;

const MAX_SHOWN = 20;

/** Lists the buckets that the credential can see, or says what the cloud answered. Asks only once: clouds count. */
export function CredentialTest({ credential, onClose }: { credential: CredentialSummary; onClose: () => void }) {
  const buckets = useSignal<Buckets | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    const input = {
      path: { cloud: cloudOf(credential.type) ?? '' },
      // The route demands a cluster; with a credential it does not use it.
      body: { credential: credential.name, cluster_uid: 'none' },
      signal: controller.signal,
    };
    api.call('POST /user/clouds/{cloud}/buckets', input).then(
      (answer) => (buckets.value = answer),
      (fault) => {
        if (!controller.signal.aborted) error.value = fault;
      },
    );
    return () => controller.abort();
  }, []);
  return (
    <Dialog title={`Test ${credential.name}`} onClose={onClose}>
      {error.value !== undefined ? (
        <Fault error={error.value} />
      ) : buckets.value === undefined ? (
        <>
          <p>Asking the cloud for its buckets. This takes up to ten seconds.</p>
          <Loading rows={2} />
        </>
      ) : (
        <Found names={buckets.value.names} />
      )}
      <div class="line end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

function Found({ names }: { names: readonly string[] }) {
  const count = names.length === 1 ? '1 bucket' : `${names.length} buckets`;
  return (
    <div class="stack tight" role="status">
      <p class="strong">The credential works.</p>
      <p>{names.length === 0 ? 'It sees no buckets.' : `It sees ${count}:`}</p>
      <ul class="bullets">
        {names.slice(0, MAX_SHOWN).map((name) => (
          <li key={name}>
            <code>{name}</code>
          </li>
        ))}
      </ul>
      {names.length > MAX_SHOWN && <p class="quiet">and {names.length - MAX_SHOWN} more</p>}
    </div>
  );
}
