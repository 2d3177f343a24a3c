import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useList } from '../../data/resource.ts';
import { SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { notify } from '../../parts/toast.tsx';
import { ObjectPicker } from '../access/object-picker.tsx';
import { RelationField } from '../access/relation-field.tsx';
import { reviewPath } from './review-words.ts';

type Kind = 'access' | 'team' | 'robot_tokens' | 'unused';

const KINDS: readonly { readonly value: Kind; readonly label: string }[] = [
  { value: 'access', label: 'Who can do something on an object' },
  { value: 'team', label: 'What a team holds' },
  { value: 'robot_tokens', label: 'Robots with old tokens' },
  { value: 'unused', label: 'Not used, and ending it changes nothing else' },
];
const DUE = [7, 14, 30, 90].map((days) => ({ value: String(days), label: `in ${days} days` }));
const UNDECIDED = [
  { value: 'keep', label: 'stays' },
  { value: 'end', label: 'ends' },
];
const DAY_MS = 86_400_000;
const FIELDS = ['name', 'question', 'question.namespace', 'reviewers', 'due_at'];

interface Props {
  readonly org: string;
  readonly kind: Kind;
  readonly onClose: () => void;
}

/** A question, who decides, and what happens to undecided access. Leads to the review. */
export function StartReview({ org, kind: first, onClose }: Props) {
  const { route } = useLocation();
  const name = useSignal('');
  const kind = useSignal<string>(first);
  const type = useSignal('cluster');
  const object = useSignal('');
  const relation = useSignal('can_connect');
  const namespace = useSignal('');
  const team = useSignal('');
  const days = useSignal('90');
  const reviewers = useSignal('');
  const due = useSignal('14');
  const undecided = useSignal('keep');
  const teams = useList(kind.value === 'team' ? 'GET /orgs/{org}/teams' : undefined, {
    path: { org },
    query: { limit: 50 },
  });
  const question = () => {
    if (kind.value === 'access') {
      const about = { relation: relation.value, object: { type: type.value, id: BigInt(object.value || 0) } };
      const inside = type.value === 'cluster' ? namespace.value.trim() : '';
      return inside === '' ? about : { ...about, namespace: inside };
    }
    return kind.value === 'team' ? { team: { name: team.value } } : { days: Number(days.value) };
  };
  const start = useAction(async () => {
    const named = reviewers.value
      .split(',')
      .map((login) => login.trim())
      .filter((login) => login !== '');
    const body = {
      ...(name.value.trim() !== '' && { name: name.value.trim() }),
      question: { kind: kind.value as Kind, ...question() },
      ...(named.length > 0 && { reviewers: named }),
      due_at: new Date(Date.now() + Number(due.value) * DAY_MS).toISOString(),
      undecided: undecided.value as 'keep',
    };
    const { id } = await api.call('POST /authz/reviews', { query: { org }, body });
    notify({ kind: 'ok', text: 'The review was started.' });
    route(reviewPath(org, id));
  });
  const missing = kind.value === 'access' ? object.value === '' : kind.value === 'team' && team.value === '';
  return (
    <FormDialog
      title="Start a review"
      verb="Start review"
      action={start}
      fields={FIELDS}
      disabledBecause={missing ? 'Choose what to review first.' : undefined}
      onClose={onClose}
    >
      <SelectField label="Question" value={kind} choices={KINDS} error={start.fieldError('question')} />
      {kind.value === 'access' && (
        <>
          <RelationField type={type.value} relation={relation} />
          <ObjectPicker org={org} type={type} id={object} />
          {type.value === 'cluster' && (
            <TextField
              label="Namespace"
              value={namespace}
              hint="Optional: only access in this namespace."
              error={start.fieldError('question.namespace')}
            />
          )}
        </>
      )}
      {kind.value === 'team' && (
        <SelectField
          label="Team"
          value={team}
          choices={[
            { value: '', label: 'Choose a team' },
            ...(teams.data ?? []).map((one) => ({ value: one.name, label: one.name })),
          ]}
        />
      )}
      {(kind.value === 'robot_tokens' || kind.value === 'unused') && (
        <TextField
          label="Days"
          type="number"
          value={days}
          hint={kind.value === 'unused' ? 'Not used for so many days.' : 'Tokens that are older than so many days.'}
        />
      )}
      <TextField
        label="Name"
        value={name}
        maxLength={100}
        hint="By default, the question."
        error={start.fieldError('name')}
      />
      <TextField
        label="Reviewers"
        value={reviewers}
        hint="Usernames of members, separated by commas. Without any, the owners decide."
        error={start.fieldError('reviewers')}
      />
      <SelectField label="Due" value={due} choices={DUE} error={start.fieldError('due_at')} />
      <SelectField label="Undecided access" value={undecided} choices={UNDECIDED} />
    </FormDialog>
  );
}
