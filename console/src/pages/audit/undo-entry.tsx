import { useSignal } from '@preact/signals';
import { ApiError } from '../../../../client/errors.ts';
import { makeChange } from '../../data/make-change.ts';
import { useResource } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import type { AuditEntry } from '../../parts/entries.tsx';
import { Impact } from '../../parts/impact.tsx';
import { Show } from '../../parts/page.tsx';
import { hasInverse, inverseOf, type Role } from './inverse.ts';

interface UndoProps {
  readonly org: string;
  readonly entry: AuditEntry;
}

/** Takes a change of access back that was made some time ago: what that would do is shown first. */
export function UndoEntry({ org, entry }: UndoProps) {
  const isOpen = useSignal(false);
  if (!hasInverse(entry)) return null;
  const close = () => (isOpen.value = false);
  return (
    <>
      <Button onClick={() => (isOpen.value = true)}>Undo this change …</Button>
      {isOpen.value &&
        (entry.action === 'role.update' ? (
          <UndoRole org={org} entry={entry} onClose={close} />
        ) : (
          <UndoDialog org={org} entry={entry} present={undefined} onClose={close} />
        ))}
    </>
  );
}

interface DialogProps extends UndoProps {
  readonly onClose: () => void;
}

/** A role may have changed since, and those changes stay. */
function UndoRole({ org, entry, onClose }: DialogProps) {
  const role = useResource('GET /authz/roles/{id}', { path: { id: entry.object.id }, query: { org } });
  const isGone = role.error instanceof ApiError && role.error.status === 404;
  if (role.data !== undefined || isGone)
    return <UndoDialog org={org} entry={entry} present={role.data} onClose={onClose} />;
  return (
    <Dialog title="Undo this change?" onClose={onClose}>
      <Show of={role} rows={2}>
        {() => null}
      </Show>
    </Dialog>
  );
}

function UndoDialog({ org, entry, present, onClose }: DialogProps & { present: Role | undefined }) {
  const inverse = inverseOf(entry, present);
  if ('problem' in inverse) {
    return (
      <Dialog title="This change cannot be undone" onClose={onClose}>
        <p>{inverse.problem}</p>
        <div class="line end">
          <Button onClick={onClose}>Close</Button>
        </div>
      </Dialog>
    );
  }
  const change = async () => {
    if ('change' in inverse) return await inverse.change(org);
    for (const one of inverse.changes) await makeChange(org, one, { reason: inverse.reason });
  };
  return (
    <Confirm
      title="Undo this change?"
      verb="Undo this change"
      kind="main"
      done="Undone. The log has a new entry about it."
      change={change}
      onClose={onClose}
    >
      <p>
        <bdi>{entry.summary}</bdi>
      </p>
      {'effect' in inverse ? <p>{inverse.effect}</p> : <Impact org={org} changes={inverse.changes} />}
    </Confirm>
  );
}
