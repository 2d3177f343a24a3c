import { useSignal } from '@preact/signals';
import { RawBody } from '../../../../client/client.ts';
import { writeJson } from '../../../../client/json.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useOrg } from '../../data/org.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { notify } from '../../parts/toast.tsx';
import { CodeEditor } from '../roles/code-editor.tsx';
import type { Rules } from './rule-words.ts';

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

interface Props {
  readonly org: string;
  readonly rules: Rules;
  readonly etag: string | undefined;
}

/** All rules as one document, to copy them or to write many. */
export function RulesEditor({ org, rules, etag }: Props) {
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
