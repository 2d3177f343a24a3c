import { useSignal } from '@preact/signals';
import { PLACE_TYPES, PRINCIPAL_TYPES } from '../../../../client/object-kinds.gen.ts';
import { type Action, useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { notifyUndoable } from '../../data/undo.ts';
import { chosenExpiry, ExpiryField, previewedExpiry, useExpiry } from '../../parts/expiry.tsx';
import { SelectField, TextField, useFirst } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Impact } from '../../parts/impact.tsx';
import { Show } from '../../parts/page.tsx';
import { errorAt } from './assign-errors.ts';
import { type Given, type NewAssignment, plannedCreate } from './assignment.ts';
import { type Target, TargetField, useTarget } from './target.tsx';
import './assignments.css';

const FIELDS = ['role', 'to', 'on', 'expires_at', 'reason'] as const;
const MAX_REASON = 1000;

interface AssignProps {
  readonly org: string;
  readonly given: Given;
  readonly onClose: () => void;
}

/** Assigns a role: which, to whom, on what, until when and why. The page that opened it has chosen a part of that. */
export function Assign({ org, given, onClose }: AssignProps) {
  const roles = useResource(given.role ? undefined : 'GET /authz/roles', { query: { org } });
  const role = useFirst(roles.data ?? []);
  const to = useTarget(org, 'user', given.to !== undefined);
  const on = useTarget(org, 'organization', given.on !== undefined);
  const reason = useSignal('');
  const expiry = useExpiry();
  const roleId = given.role?.id ?? (role.value === '' ? undefined : BigInt(role.value));
  const problem =
    roleId === undefined
      ? 'There is no role to assign.'
      : !given.to && !to.isComplete
        ? 'Choose to whom first.'
        : !given.on && !on.isComplete
          ? 'Choose on what first.'
          : undefined;
  const body: NewAssignment = {
    role: { id: roleId ?? 0n },
    to: given.to ? { type: given.to.type, id: given.to.id } : referenceTo(to),
    ...(given.on
      ? { on: { type: given.on.type, id: given.on.id } }
      : on.type.value !== 'organization' && { on: referenceTo(on) }),
  };
  const assign = withErrors(
    useAction(async () => {
      const made = await api.call('POST /authz/assignments', {
        query: { org },
        body: { ...body, reason: reason.value.trim(), expires_at: chosenExpiry(expiry) },
      });
      notifyUndoable(`The role ${made.role.name} was assigned to ${made.to.name}.`, () =>
        api.call('DELETE /authz/assignments/{id}', { path: { id: made.id }, query: { org } }),
      );
    }),
    body,
    given,
  );
  const isPreviewed = problem === undefined && (given.to || to.isKnown) && (given.on || on.isKnown);
  return (
    <FormDialog
      title={titleFor(given)}
      verb="Assign role"
      action={assign}
      fields={FIELDS}
      onClose={onClose}
      disabledBecause={problem}
    >
      {!given.role && (
        <Show of={roles} rows={1}>
          {(all) =>
            all.length === 0 ? (
              <p class="quiet">
                The organization has no role yet. <a href={orgPath(org, '/roles/new')}>Create one first.</a>
              </p>
            ) : (
              <SelectField
                label="Role"
                value={role}
                choices={all.map(({ id, name }) => ({ value: String(id), label: name }))}
                error={assign.fieldError('role')}
              />
            )
          }
        </Show>
      )}
      {given.role && <Problem text={assign.fieldError('role')} />}
      {given.to ? (
        <Problem text={assign.fieldError('to')} />
      ) : (
        <TargetField label="To" types={PRINCIPAL_TYPES} target={to} error={assign.fieldError('to')} />
      )}
      {given.on ? (
        <Problem text={assign.fieldError('on')} />
      ) : (
        <TargetField label="On" types={PLACE_TYPES} target={on} error={assign.fieldError('on')} />
      )}
      <ExpiryField choice={expiry} error={assign.fieldError('expires_at')} />
      <TextField
        label="Reason"
        value={reason}
        maxLength={MAX_REASON}
        placeholder="On call this week"
        error={assign.fieldError('reason')}
      />
      <Impact
        org={org}
        changes={isPreviewed ? [plannedCreate({ ...body, ...previewedExpiry(expiry) })] : undefined}
        hint="Choose to whom and on what, and this shows who gains what."
        unchanged="What the role gives there is held already, such as through a team. It stays if that ends."
      />
    </FormDialog>
  );
}

/** What is wrong with something that the page has chosen has no field to stand at. */
function Problem({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

function referenceTo({ type, name }: Target): NewAssignment['to'] {
  return { type: type.value, name: name.value.trim() };
}

function titleFor({ role, to, on }: Given): string {
  if (role) return `Assign ${role.name}`;
  return to ? `Assign a role to ${to.name}` : `Assign a role on ${on?.name ?? ''}`;
}

/** An error is at the field that mends it. */
function withErrors(action: Action<[]>, body: NewAssignment, given: Given): Action<[]> {
  return { ...action, fieldError: (field) => errorAt(field, action.error, body, given) ?? action.fieldError(field) };
}
