import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { GUARDED_TYPES } from '../../../../client/object-kinds.gen.ts';
import { type GuardedType, titleOf } from '../../../../client/object-kinds.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useList } from '../../data/resource.ts';
import { notifyUndoable } from '../../data/undo.ts';
import { useVersion } from '../../data/version.ts';
import { messageOf } from '../../parts/fault.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { RelationField } from '../access/relation-field.tsx';
import { inputOf } from './guardrail-input.ts';
import { type Guardrail, GuardrailState } from './guardrail-state.tsx';

const KINDS = [
  { value: 'never', label: 'These people never can' },
  { value: 'always', label: 'These people always can' },
  { value: 'at_least', label: 'At least this many people can' },
  { value: 'at_most', label: 'At most this many people can' },
] as const;
type Kind = (typeof KINDS)[number]['value'];

const TYPES = GUARDED_TYPES.map((type) => ({
  value: type,
  label: type === 'organization' ? 'the organization' : `a ${titleOf(type)}, or any`,
}));

const TRY_AFTER_MS = 300;
const FIELDS = ['name', 'description'];

interface Props {
  readonly org: string;
  readonly guardrail: Guardrail | undefined;
  /** Of the version that the form begins with. */
  readonly etag?: string | undefined;
  readonly onClose: () => void;
}

/** A guardrail as a form, with what it would say and whether it would hold. */
export function GuardrailForm({ org, guardrail, etag, onClose }: Props) {
  const kindNow = KINDS.find(({ value }) => guardrail?.[value] !== undefined)?.value ?? 'never';
  const now = guardrail?.[kindNow];
  const name = useSignal(guardrail?.name ?? '');
  const description = useSignal(guardrail?.description ?? '');
  const kind = useSignal<string>(kindNow);
  const users = useSignal((now?.users ?? []).map((user) => user.name).join(', '));
  const team = useSignal(now?.team?.name ?? '');
  const count = useSignal(String(now?.count ?? 2));
  const type = useSignal<string>(now?.object.type ?? 'organization');
  const object = useSignal(now?.object.type === 'organization' ? '' : (now?.object.name ?? ''));
  const relation = useSignal(now?.relation ?? '');
  const enforce = useSignal(guardrail?.enforce ?? true);
  const teams = useList('GET /orgs/{org}/teams', { path: { org }, query: { limit: 50 } });
  const version = useVersion(etag);
  const isCounted = kind.value === 'at_least' || kind.value === 'at_most';

  const body = () => {
    const about = {
      relation: relation.value,
      object: { type: type.value as GuardedType, ...(object.value.trim() !== '' && { name: object.value.trim() }) },
    };
    const people = {
      ...about,
      users: users.value
        .split(',')
        .map((login) => login.trim())
        .filter((login) => login !== ''),
      ...(team.value !== '' && { team: team.value }),
    };
    const statement = isCounted ? { ...about, count: Number(count.value) } : people;
    return {
      name: name.value,
      description: description.value,
      enforce: enforce.value,
      ...({ [kind.value as Kind]: statement } as { never: typeof people }),
    };
  };
  const attempt = async (): Promise<Guardrail> => {
    const query = { org, dry_run: true };
    if (!guardrail) return await api.call('POST /authz/guardrails', { query, body: body() });
    return await api.call('PUT /authz/guardrails/{id}', { path: { id: guardrail.id }, query, body: body() });
  };
  const save = useAction(async () => {
    const query = { org };
    if (!guardrail) {
      const { id, name: made } = await api.call('POST /authz/guardrails', { query, body: body() });
      notifyUndoable(`The guardrail ${made} was created.`, () =>
        api.call('DELETE /authz/guardrails/{id}', { path: { id }, query }),
      );
      return;
    }
    const path = { id: guardrail.id };
    const { data, etag: saved } = await version.save((ifMatch) =>
      api.request('PUT /authz/guardrails/{id}', { path, query, body: body(), ifMatch }),
    );
    notifyUndoable(`The guardrail ${data.name} was changed.`, () =>
      api.call('PUT /authz/guardrails/{id}', { path, query, body: inputOf(guardrail), ifMatch: saved }),
    );
  });

  const tried = useSignal<Guardrail | string | undefined>(undefined);
  const draft = JSON.stringify(body());
  const hasSubject = isCounted || team.value !== '' || users.value.trim() !== '';
  const isWhole = name.value.trim() !== '' && relation.value !== '' && hasSubject;
  useEffect(() => {
    tried.value = undefined;
    if (!isWhole) return;
    let isOver = false;
    const timer = setTimeout(async () => {
      const found = await attempt().catch((error: unknown) => messageOf(error));
      if (!isOver) tried.value = found;
    }, TRY_AFTER_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [draft]);

  return (
    <FormDialog
      title={guardrail ? `Edit ${guardrail.name}` : 'New guardrail'}
      verb={guardrail ? 'Save guardrail' : 'Create guardrail'}
      action={save}
      fields={FIELDS}
      onClose={onClose}
    >
      <TextField label="Name" value={name} isRequired autoFocus maxLength={100} error={save.fieldError('name')} />
      <TextField label="Description" value={description} error={save.fieldError('description')} />
      <SelectField label="Statement" value={kind} choices={KINDS} />
      {isCounted ? (
        <TextField label="Number of people" type="number" value={count} hint="Site administrators do not count." />
      ) : (
        <>
          <TextField label="Users" value={users} hint="Usernames, separated by commas." />
          <SelectField
            label="Team"
            value={team}
            choices={[
              { value: '', label: 'no team' },
              ...(teams.data ?? []).map((one) => ({ value: one.name, label: one.name })),
            ]}
          />
        </>
      )}
      <SelectField label="Object" value={type} choices={TYPES} onChange={() => (relation.value = '')} />
      {type.value !== 'organization' && (
        <TextField label="Name of the object" value={object} hint="Empty: any object of this type." />
      )}
      <RelationField type={type.value} relation={relation} />
      <CheckField
        label="Reject changes that would violate it"
        hint="Otherwise it is only watched."
        isChecked={enforce.value}
        onChange={(isChecked) => (enforce.value = isChecked)}
      />
      <div class="stack tight" role="status">
        {!isWhole && <p class="quiet">With a name and a subject, this shows what it says and whether it holds.</p>}
        {typeof tried.value === 'string' && <p class="quiet">{tried.value}</p>}
        {typeof tried.value === 'object' && (
          <>
            <p>
              <bdi>{tried.value.sentence}</bdi>
            </p>
            <GuardrailState guardrail={{ state: tried.value.state, enforce: true }} />
          </>
        )}
      </div>
    </FormDialog>
  );
}
