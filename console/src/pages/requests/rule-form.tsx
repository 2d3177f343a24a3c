import { type Signal, useSignal } from '@preact/signals';
import { typeNamed } from '../../../../client/object-kinds.ts';
import { useAction } from '../../data/action.ts';
import { RELATION_TITLES } from '../../data/relations.gen.ts';
import { useList } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { longestChoices, objectText, type RequestRule, type RuleObject, verbOf } from './rule-words.ts';

/** What a form sends: an object that was typed has a name only. */
export type RuleDraft = Omit<RequestRule, 'match'> & {
  readonly match: Omit<RequestRule['match'], 'objects'> & {
    readonly objects?: readonly (Omit<RuleObject, 'id'> & { readonly id?: bigint })[];
  };
};

interface Props {
  readonly org: string;
  /** Undefined: a new one. */
  readonly rule: RequestRule | undefined;
  /** Its place among the rules, by which the server names it in errors. */
  readonly place: number;
  readonly save: (rule: RuleDraft) => Promise<void>;
  readonly onClose: () => void;
}

const ALLOW_CHOICES = [
  { value: 'true', label: 'They can be made' },
  { value: 'false', label: 'They are rejected' },
];
const APPROVAL_CHOICES = [
  { value: '0', label: 'None: granted immediately' },
  { value: '1', label: '1' },
  { value: '2', label: '2' },
  { value: '3', label: '3' },
];
const FIELDS = [
  ...['name', 'match.relations', 'match.objects', 'match.cluster_sets', 'match.roles', 'match.requesters'],
  ...['longest', 'approvals', 'approvers'],
];

/** One request rule as a form, with exactly what a rule can say. */
export function RuleForm({ org, rule, place, save, onClose }: Props) {
  const { match } = rule ?? { match: {} as RequestRule['match'] };
  const name = useSignal(rule?.name ?? '');
  const requesters = useSignal(match.requesters ?? '');
  const relations = useSignal<readonly string[]>(match.relations ?? []);
  const objects = useSignal((match.objects ?? []).map(objectText).join('\n'));
  const sets = useSignal((match.cluster_sets ?? []).join('\n'));
  const roles = useSignal((match.roles ?? []).join('\n'));
  const allow = useSignal(String(rule?.allow ?? true));
  const longest = useSignal(rule?.longest ?? 'P7D');
  const approvals = useSignal(String(rule?.approvals ?? 1));
  const approvers = useSignal(
    typeof rule?.approvers === 'object' ? `team:${rule.approvers.team}` : (rule?.approvers ?? ''),
  );
  const isEmergency = useSignal(rule?.break_glass ?? false);
  const teams = useList('GET /orgs/{org}/teams', { path: { org }, query: { limit: 50 } });
  const teamNames = [...new Set([...(teams.data ?? []).map((team) => team.name), ...teamsOf(rule)])];

  const action = useAction(async () => {
    await save({
      name: name.value,
      match: {
        ...(relations.value.length > 0 && { relations: relations.value }),
        ...listed(
          'objects',
          linesOf(objects.value).map((line) => objectOf(line, match.objects ?? [])),
        ),
        ...listed('cluster_sets', linesOf(sets.value)),
        ...listed('roles', linesOf(roles.value)),
        ...(requesters.value !== '' && { requesters: requesters.value }),
      },
      ...{ longest: longest.value, approvals: Number(approvals.value), allow: allow.value === 'true' },
      ...(approvers.value === 'manager' && { approvers: 'manager' as const }),
      ...(approvers.value.startsWith('team:') && { approvers: { team: approvers.value.slice('team:'.length) } }),
      ...(isEmergency.value && { break_glass: true }),
    });
  });
  const errorOf = (field: string) => action.fieldError(`[${place}].${field}`);
  return (
    <FormDialog
      title={rule ? `Edit ${rule.name}` : 'New request rule'}
      verb="Save rule"
      action={action}
      fields={FIELDS.map((field) => `[${place}].${field}`)}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        isRequired
        autoFocus
        maxLength={100}
        hint="The audit log names it."
        error={errorOf('name')}
      />
      <SelectField
        label="Who may ask"
        value={requesters}
        choices={[
          { value: '', label: 'All members' },
          ...teamNames.map((team) => ({ value: team, label: `Members of the team ${team}` })),
        ]}
        error={errorOf('match.requesters')}
      />
      <RelationsField relations={relations} error={errorOf('match.relations')} />
      <TextField
        label="Objects"
        value={objects}
        rows={2}
        placeholder="cluster:prod"
        hint="One per line, as TYPE:NAME. With no object and no set, on everything."
        error={errorOf('match.objects')}
      />
      <TextField
        label="Sets of clusters"
        value={sets}
        rows={2}
        hint="One name per line: or on a cluster in one of these sets."
        error={errorOf('match.cluster_sets')}
      />
      <TextField
        label="Roles"
        value={roles}
        rows={2}
        hint="One name per line. Empty: through any role or team."
        error={errorOf('match.roles')}
      />
      <SelectField label="Requests that match" value={allow} choices={ALLOW_CHOICES} />
      {allow.value === 'true' && (
        <>
          <SelectField
            label="At most for"
            value={longest}
            choices={longestChoices(rule?.longest ?? 'P7D')}
            error={errorOf('longest')}
          />
          <SelectField
            label="Approvals needed"
            value={approvals}
            choices={APPROVAL_CHOICES}
            error={errorOf('approvals')}
          />
          {approvals.value !== '0' && (
            <SelectField
              label="Who approves"
              value={approvers}
              choices={[
                { value: '', label: 'Users who could make the change' },
                { value: 'manager', label: 'Only the manager of the requester' },
                ...teamNames.map((team) => ({ value: `team:${team}`, label: `Only members of the team ${team}` })),
              ]}
              hint="Approvers must be able to make the change themselves, and a requester never approves."
              error={errorOf('approvers')}
            />
          )}
          <CheckField
            label="Break glass"
            hint="In an emergency, requesters can take access without an approval for at most an hour. All owners are told."
            isChecked={isEmergency.value}
            onChange={(isOn) => (isEmergency.value = isOn)}
          />
          <p class="quiet small">Every request needs a reason.</p>
        </>
      )}
    </FormDialog>
  );
}

/** The permissions that were chosen, and one to add. */
function RelationsField({ relations, error }: { relations: Signal<readonly string[]>; error: string | undefined }) {
  const added = useSignal('');
  const all = new Set(Object.values(RELATION_TITLES).flatMap((titles) => Object.keys(titles)));
  const others = [...all].filter((one) => !relations.value.includes(one)).sort();
  return (
    <div class="stack tight">
      <SelectField
        label="Permissions"
        value={added}
        choices={[
          { value: '', label: relations.value.length === 0 ? 'All' : 'Add another one' },
          ...others.map((value) => ({ value, label: verbOf(value) })),
        ]}
        onChange={() => {
          if (added.value !== '') relations.value = [...relations.value, added.value];
          added.value = '';
        }}
        error={error}
      />
      {relations.value.length > 0 && (
        <ul class="line" aria-label="Chosen permissions">
          {relations.value.map((one) => (
            <li key={one}>
              <Button
                label={`Remove ${verbOf(one)}`}
                onClick={() => (relations.value = relations.value.filter((other) => other !== one))}
              >
                {verbOf(one)} ×
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The rule may name teams that are further down in the list of all. */
function teamsOf(rule: RequestRule | undefined): readonly string[] {
  const approvers = typeof rule?.approvers === 'object' ? [rule.approvers.team] : [];
  return [...(rule?.match.requesters === undefined ? [] : [rule.match.requesters]), ...approvers];
}

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Left out if it is empty, as the rules have it. */
function listed<Name extends string, Entry>(name: Name, entries: readonly Entry[]) {
  return (entries.length === 0 ? {} : { [name]: entries }) as { readonly [Key in Name]?: readonly Entry[] };
}

function objectOf(line: string, known: readonly RuleObject[]): Omit<RuleObject, 'id'> & { readonly id?: bigint } {
  const same = known.find((one) => objectText(one) === line);
  if (same) return same;
  const colon = line.indexOf(':');
  return { type: typeNamed(line.slice(0, Math.max(colon, 0)).trim()), name: line.slice(colon + 1).trim() };
}
