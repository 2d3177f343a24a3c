import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Answer } from '../../../../client/client.ts';
import { api } from '../../data/api.ts';
import { Card } from '../../parts/bits.tsx';
import { Fault } from '../../parts/fault.tsx';
import { bodyOf, type Draft } from './role-draft.ts';

type Changes = Answer<'POST /authz/roles/preview'>['changes'];

const DEBOUNCE_MS = 200;
const SHOWN_PEOPLE = 20;

interface RolePreviewProps {
  readonly org: string;
  readonly roleId: bigint | undefined;
  readonly draft: Draft;
  readonly isChanged: boolean;
  readonly canPreview: boolean;
  readonly isDeletion?: boolean | undefined;
}

/** Who gains and who loses, asked of the server while the role is being edited. */
export function RolePreview({ org, roleId, draft, isChanged, canPreview, isDeletion }: RolePreviewProps) {
  const changes = useSignal<Changes | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const key = JSON.stringify([draft, isChanged]);
  useEffect(() => {
    if (!isChanged || !canPreview) {
      changes.value = undefined;
      error.value = undefined;
      return;
    }
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      const body = isDeletion
        ? { id: roleId, delete: true }
        : { ...bodyOf({ ...draft, name: draft.name || 'new role' }), id: roleId };
      try {
        const answer = await api.call('POST /authz/roles/preview', { query: { org }, body, signal: controller.signal });
        changes.value = answer.changes;
        error.value = undefined;
      } catch (fault) {
        if (!controller.signal.aborted) error.value = fault;
      }
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key, org, roleId, canPreview, isDeletion]);
  return (
    <Card title={isDeletion ? 'What changes if you delete it' : 'What changes if you save'}>
      <div role="status">
        {error.value !== undefined ? (
          <Fault error={error.value} />
        ) : (
          <ChangeList changes={changes.value} isChanged={isChanged} />
        )}
      </div>
    </Card>
  );
}

function ChangeList({ changes, isChanged }: { changes: Changes | undefined; isChanged: boolean }) {
  if (!isChanged) return <p class="quiet">Change something, and this shows who gains and who loses.</p>;
  if (changes === undefined) return <p class="quiet">Asking the server.</p>;
  if (changes.length === 0) return <p>Nobody gains or loses anything.</p>;
  return (
    <div class="stack">
      {changes.slice(0, SHOWN_PEOPLE).map(({ user, gains, loses }) => (
        <div key={String(user.id)} class="stack tight change">
          <bdi class="strong">{user.name}</bdi>
          <ul>
            {gains.map(({ namespace, action }) => (
              <li key={`+${namespace}${action}`} class="gain">
                <span aria-hidden="true">+</span> <span class="only-read">gains</span> {action}
              </li>
            ))}
            {loses.map(({ namespace, action }) => (
              <li key={`-${namespace}${action}`} class="loss">
                <span aria-hidden="true">−</span> <span class="only-read">loses</span> {action}
              </li>
            ))}
          </ul>
        </div>
      ))}
      {changes.length > SHOWN_PEOPLE && <p class="quiet">{`and ${changes.length - SHOWN_PEOPLE} more people`}</p>}
    </div>
  );
}
