import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { makeChange } from '../../data/make-change.ts';
import { notifyUndoable } from '../../data/undo.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { chosenExpiry, ExpiryField, previewedExpiry, useExpiry } from '../../parts/expiry.tsx';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Impact } from '../../parts/impact.tsx';
import { type Assignment, assignmentWords, type NewAssignment, plannedEnd, plannedUpdate } from './assignment.ts';

const MAX_REASON = 1000;

interface ChangeProps {
  readonly org: string;
  readonly assignment: Assignment;
  readonly onClose: () => void;
}

/** Another end, or another reason. Everything else about an assignment stays as it is. */
export function ChangeAssignment({ org, assignment, onClose }: ChangeProps) {
  const { id, expires_at: end } = assignment;
  const expiry = useExpiry('', end ?? undefined);
  const began = useSignal(choiceOf(expiry)).peek();
  const reason = useSignal(assignment.reason);
  const isOtherEnd = choiceOf(expiry) !== began;
  const save = useAction(async () => {
    await api.call('PATCH /authz/assignments/{id}', {
      path: { id },
      query: { org },
      body: { reason: reason.value.trim(), ...(isOtherEnd && { expires_at: chosenExpiry(expiry) }) },
    });
    notifyUndoable('The assignment was changed.', () =>
      makeChange(org, { action: 'assignment.update', id, ...(isOtherEnd && { expires_at: end }) }, assignment),
    );
  });
  return (
    <FormDialog
      title={`Change ${assignmentWords(assignment)}`}
      verb="Save assignment"
      action={save}
      fields={['expires_at', 'reason']}
      onClose={onClose}
      disabledBecause={isOtherEnd || reason.value.trim() !== assignment.reason ? undefined : 'Nothing has changed.'}
    >
      <ExpiryField choice={expiry} error={save.fieldError('expires_at')} />
      <TextField label="Reason" value={reason} maxLength={MAX_REASON} error={save.fieldError('reason')} />
      <Impact
        org={org}
        changes={isOtherEnd ? [plannedUpdate(assignment, previewedExpiry(expiry).expires_at ?? null)] : undefined}
        hint="Choose another end, and this shows for whom that changes something."
      />
    </FormDialog>
  );
}

export function EndAssignment({ org, assignment, onClose }: ChangeProps) {
  const { id, to } = assignment;
  return (
    <Confirm
      title={`End ${assignmentWords(assignment)}?`}
      verb="End assignment"
      done={`The assignment to ${to.name} was ended.`}
      change={() => api.call('DELETE /authz/assignments/{id}', { path: { id }, query: { org } })}
      undo={() => api.call('POST /authz/assignments', { query: { org }, body: newAgain(assignment) })}
      onClose={onClose}
    >
      <p>{`${to.name} loses what the role grants there, unless it comes from elsewhere too.`}</p>
      <Impact org={org} changes={[plannedEnd(assignment)]} />
    </Confirm>
  );
}

/** The same assignment as a new one, with another ID. */
function newAgain({ role, to, on, namespaces, reason, expires_at }: Assignment): NewAssignment {
  return {
    role: { id: role.id },
    to: { type: to.type, id: to.id },
    ...(on.type !== 'organization' && {
      on: on.type === 'cluster_set' ? { type: on.type, name: on.name } : { type: on.type, id: on.id },
    }),
    ...(namespaces && { namespaces }),
    reason,
    expires_at,
  };
}

function choiceOf({ hours, exact }: ReturnType<typeof useExpiry>): string {
  return `${hours.value} ${exact.value}`;
}
