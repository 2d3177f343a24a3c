import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { useQueryFields } from '../../data/address.ts';
import { api } from '../../data/api.ts';
import { useOrg } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { useVersion } from '../../data/version.ts';
import { Card, Chip, Facts } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { notify } from '../../parts/toast.tsx';
import { type RuleDraft, RuleForm } from './rule-form.tsx';
import { durationWords, forWhat, type RequestRule, type Rules, whoApproves, whoMayAsk } from './rule-words.ts';
import { RulesEditor } from './rules-editor.tsx';

/** The rules in the order in which they are tried, each with a form; experts edit them as JSON. */
export function RequestRulesPage() {
  const { org, question } = useOrg();
  const { view } = useQueryFields({ view: '' });
  const rules = useResource('GET /orgs/{org}/request_rules', { path: { org } });
  const isJson = view.value === 'json';
  return (
    <Page
      title="Request rules"
      within={org}
      lead="What can be requested, for how long, and who approves it. The first rule that matches decides; what matches none cannot be requested."
      isStale={rules.isStale}
      actions={
        <Button onClick={() => (view.value = isJson ? '' : 'json')}>{isJson ? 'Show as forms' : 'Edit as JSON'}</Button>
      }
    >
      <Show of={rules} whyNot={question('can_view_roles', 'see the request rules')}>
        {(found) => (
          <>
            {found.length === 0 && <NoRules />}
            {isJson ? (
              <RulesEditor key={rules.etag} org={org} rules={found} etag={rules.etag} />
            ) : (
              <RuleList org={org} rules={found} etag={rules.etag} />
            )}
          </>
        )}
      </Show>
    </Page>
  );
}

function NoRules() {
  return (
    <Card title="No rules yet">
      <p>
        Without rules, everything that a role or a team other than Owners gives can be requested for 7 days, with one
        approval. With the first rule, only what the rules allow can be requested.
      </p>
    </Card>
  );
}

interface ListProps {
  readonly org: string;
  readonly rules: Rules;
  readonly etag: string | undefined;
}

/** What is open: the form for a new rule, or one of a rule. Names of rules are unique, places change. */
type Open = { readonly name: string | undefined; readonly verb: 'edit' | 'remove' };

function RuleList({ org, rules, etag }: ListProps) {
  const { whyNot } = useOrg();
  const open = useSignal<Open | undefined>(undefined);
  const close = () => (open.value = undefined);
  const cannot = whyNot('can_delete', 'change the request rules');
  const put = (body: readonly RuleDraft[], ifMatch = etag) =>
    api.call('PUT /orgs/{org}/request_rules', { path: { org }, body, ifMatch });
  const move = useAction(async (from: number) => {
    const [before, rule] = rules.slice(from - 1, from + 1);
    if (before && rule) await put(rules.toSpliced(from - 1, 2, rule, before));
  });
  const place = rules.findIndex(({ name }) => name === open.value?.name);
  const rule = rules[place];
  return (
    <div class="stack">
      <Fault error={move.error} />
      {rules.map((one, index) => (
        <Card key={one.name} title={`${index + 1}. ${one.name}`}>
          <RuleFacts rule={one} />
          <div class="line">
            <Button
              label={`Edit ${one.name}`}
              whyNot={cannot}
              onClick={() => (open.value = { name: one.name, verb: 'edit' })}
            >
              Edit
            </Button>
            {index > 0 && (
              <Button label={`Move ${one.name} up`} whyNot={cannot} onClick={() => void move.run(index)}>
                Move up
              </Button>
            )}
            <Button
              kind="danger"
              label={`Remove ${one.name}`}
              whyNot={cannot}
              onClick={() => (open.value = { name: one.name, verb: 'remove' })}
            >
              Remove
            </Button>
          </div>
        </Card>
      ))}
      <div>
        <Button
          kind="main"
          icon="plus"
          whyNot={cannot}
          onClick={() => (open.value = { name: undefined, verb: 'edit' })}
        >
          Add rule
        </Button>
      </div>
      {open.value?.verb === 'edit' && (
        <EditRule org={org} rules={rules} etag={etag} name={open.value.name} put={put} onClose={close} />
      )}
      {open.value?.verb === 'remove' && rule && (
        <Confirm
          title={`Remove the request rule ${rule.name}?`}
          verb="Remove rule"
          done="The rule was removed."
          change={() => put(rules.toSpliced(place, 1))}
          onClose={close}
        >
          <p>
            {rules.length === 1
              ? 'It is the last one. Without rules, everything but what owners have can be requested.'
              : 'What it matches is decided by the rules after it.'}
          </p>
        </Confirm>
      )}
    </div>
  );
}

interface EditProps extends ListProps {
  /** Of the rule as it was when the form was opened. Undefined: a new one. */
  readonly name: string | undefined;
  readonly put: (rules: readonly RuleDraft[], ifMatch: string | undefined) => Promise<unknown>;
  readonly onClose: () => void;
}

function EditRule({ org, rules, etag, name, put, onClose }: EditProps) {
  const version = useVersion(etag);
  const found = rules.findIndex((one) => one.name === name);
  const place = found < 0 ? rules.length : found;
  return (
    <RuleForm
      org={org}
      rule={rules[place]}
      place={place}
      onClose={onClose}
      save={async (rule) => {
        await version.save((ifMatch) => put([...rules.slice(0, place), rule, ...rules.slice(place + 1)], ifMatch));
        notify({ kind: 'ok', text: `The rule ${rule.name} was saved.` });
      }}
    />
  );
}

function RuleFacts({ rule }: { rule: RequestRule }) {
  const { allow, longest, break_glass: breakGlass } = rule;
  return (
    <Facts
      of={[
        { name: 'Who may ask', value: <bdi>{whoMayAsk(rule)}</bdi> },
        { name: 'For what', value: <bdi>{forWhat(rule)}</bdi> },
        ...(allow
          ? [
              { name: 'At most for', value: durationWords(longest) },
              { name: 'Approval', value: <bdi>{whoApproves(rule)}</bdi> },
              ...(breakGlass ? [{ name: 'Emergency', value: <Chip tone="warn">break glass</Chip> }] : []),
            ]
          : [{ name: 'Requests', value: <Chip tone="bad">rejected</Chip> }]),
      ]}
    />
  );
}
