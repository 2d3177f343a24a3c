import { useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { RawBody } from '../../../../client/client.ts';
import { writeJson } from '../../../../client/json.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useOrg } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { notify } from '../../parts/toast.tsx';
import { CodeEditor } from '../roles/code-editor.tsx';

type Rules = Answer<'GET /orgs/{org}/request_rules'>;

const EXAMPLE = `[
  {
    "name": "production",
    "match": {
      "objects": [
        {"type": "cluster", "name": "prod"}
      ]
    },
    "longest": "PT8H",
    "approvals": 2,
    "approvers": {"team": "leads"},
    "break_glass": true
  },
  {"name": "the rest", "approvers": "manager"}
]`;

/** All rules as one document, because their order counts. */
export function RequestRulesPage() {
  const { org, question } = useOrg();
  const rules = useResource('GET /orgs/{org}/request_rules', { path: { org } });
  return (
    <Page
      title="Request rules"
      within={org}
      lead="What can be requested, for how long, and who approves it. The first rule that matches decides; what matches none cannot be requested."
      isStale={rules.isStale}
    >
      <Show of={rules} whyNot={question('can_view_roles', 'see the request rules')}>
        {(found) => <RulesEditor key={rules.etag} org={org} rules={found} etag={rules.etag} />}
      </Show>
    </Page>
  );
}

function RulesEditor({ org, rules, etag }: { org: string; rules: Rules; etag: string | undefined }) {
  const original = textOf(rules);
  const text = useSignal(original);
  const { whyNot } = useOrg();
  const save = useAction(async () => {
    const body = new RawBody(text.value, 'application/json');
    const saved = await api.call('PUT /orgs/{org}/request_rules', { path: { org }, body, ifMatch: etag });
    notify({ kind: 'ok', text: saved.length === 1 ? '1 rule was saved.' : `${saved.length} rules were saved.` });
  });
  return (
    <div class="with-panel">
      <CodeEditor label="Request rules" original={original} onChange={(changed) => (text.value = changed)} />
      <div class="panel stack">
        {rules.length === 0 && (
          <Card title="No rules yet">
            <p>
              Without rules, everything that a role or a team other than Owners gives can be requested for 7 days, with
              one approval.
            </p>
          </Card>
        )}
        <Card title="For example">
          <pre class="mono small">{EXAMPLE}</pre>
        </Card>
        <Fault error={save.error} />
        <div>
          <Button
            kind="main"
            isBusy={save.isRunning}
            whyNot={whyNot('can_delete', 'change the request rules')}
            disabledBecause={text.value === original ? 'Nothing is changed yet.' : undefined}
            onClick={() => void save.run()}
          >
            Save rules
          </Button>
        </div>
      </div>
    </div>
  );
}

/** A line for each member, as people write it. */
function textOf(rules: Rules): string {
  return JSON.stringify(JSON.parse(writeJson(rules)), undefined, 2);
}
