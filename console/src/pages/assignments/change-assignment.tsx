import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { chosenExpiry, ExpiryField, previewedExpiry, useExpiry } from '../../parts/expiry.tsx';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Impact } from '../../parts/impact.tsx';
import { notify } from '../../parts/toast.tsx';
import { type Assignment, assignmentWords, plannedEnd, plannedUpdate } from './assignment.ts';

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
    notify({ kind: 'ok', text: 'The assignment was changed.' });
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
      onClose={onClose}
    >
      <p>{`${to.name} loses what the role grants there, unless it comes from elsewhere too.`}</p>
      <Impact org={org} changes={[plannedEnd(assignment)]} />
    </Confirm>
  );
}

function choiceOf({ hours, exact }: ReturnType<typeof useExpiry>): string {
  return `${hours.value} ${exact.value}`;
}
