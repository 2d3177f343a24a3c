import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Answer } from '../../../../client/client.ts';
import { RawBody } from '../../../../client/client.ts';
import { ApiError } from '../../../../client/errors.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useOrg } from '../../data/org.ts';
import { useRetries } from '../../data/resource.ts';
import { notifyUndoable } from '../../data/undo.ts';
import { Card, Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { CheckField } from '../../parts/field.tsx';
import { Impact } from '../../parts/impact.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { notify } from '../../parts/toast.tsx';
import { CodeEditor } from './code-editor.tsx';
import { RoleTabs } from './role-tabs.tsx';

type Plan = Answer<'PUT /authz/roles/import'>;

/** All custom roles as one document: edit it, review what would change, apply exactly that. */
export function RoleCodePage() {
  const { org, whyNot, question } = useOrg();
  const loaded = useSignal<{ text: string; etag: string | undefined } | undefined>(undefined);
  const text = useSignal('');
  const isPruning = useSignal(false);
  /** The reviewed plan, and the text that it is about. */
  const plan = useSignal<{ text: string; isPruning: boolean; plan: Plan } | undefined>(undefined);
  const failed = useSignal<unknown>(undefined);

  async function load(): Promise<void> {
    failed.value = undefined;
    try {
      const reply = await api.request('GET /authz/roles/export', { query: { org, format: 'yaml' } });
      const document = String(reply.data);
      loaded.value = { text: document, etag: reply.etag };
      text.value = document;
      plan.value = undefined;
    } catch (error) {
      failed.value = error;
    }
  }
  useEffect(() => void load(), [org]);
  useRetries(failed.value, () => void load());

  const send = (isDryRun: boolean) =>
    api.call('PUT /authz/roles/import', {
      query: { org, dry_run: String(isDryRun), prune: String(isPruning.value) },
      body: new RawBody(text.value, 'application/yaml'),
      ...(isDryRun ? {} : { ifMatch: loaded.value?.etag }),
    });
  const review = useAction(async () => {
    plan.value = { text: text.value, isPruning: isPruning.value, plan: await send(true) };
  });
  const apply = useAction(async () => {
    const former = loaded.value?.text ?? '';
    const { changes } = await send(false);
    await load();
    const text = changes.length === 1 ? '1 role was changed.' : `${changes.length} roles were changed.`;
    // A role that is created again has lost its assignments to single users.
    if (changes.some(({ kind }) => kind === 'delete')) notify({ kind: 'ok', text });
    else
      notifyUndoable(
        text,
        takingBack(
          former,
          changes.some(({ kind }) => kind === 'create'),
          loaded.value?.etag,
        ),
      );
  });
  const takingBack = (document: string, prune: boolean, ifMatch: string | undefined) => async () => {
    const body = new RawBody(document, 'application/yaml');
    await api.call('PUT /authz/roles/import', { query: { org, prune: String(prune) }, body, ifMatch });
    await load();
  };
  const isReviewed = plan.value?.text === text.value && plan.value?.isPruning === isPruning.value;
  const problem = problemOf(review.error ?? apply.error);
  return (
    <Page
      title="Roles as code"
      within={org}
      lead="All custom roles of the organization as one document. Keep it in version control, and apply it from CI with atrium role apply."
    >
      <RoleTabs />
      {loaded.value === undefined || failed.value !== undefined ? (
        <Show
          of={{ data: undefined, error: failed.value, reload: () => void load() }}
          whyNot={question('can_view_roles', 'see the roles')}
          rows={8}
        >
          {() => null}
        </Show>
      ) : (
        <div class="with-panel">
          <CodeEditor
            label="Role document"
            original={loaded.value.text}
            problem={problem}
            onChange={(changed) => {
              text.value = changed;
            }}
          />
          <div class="panel stack">
            <Card title="What would change">
              {plan.value === undefined || !isReviewed ? (
                <p class="quiet">Edit the document, then review it. Nothing is changed by a review.</p>
              ) : (
                <PlanList plan={plan.value.plan} />
              )}
            </Card>
            <Impact
              org={org}
              changes={
                isReviewed ? [{ action: 'roles.import', document: text.value, prune: isPruning.value }] : undefined
              }
              hint="After a review, this shows who gains and who loses."
            />
            <CheckField
              label="Delete roles that are not in the document"
              hint="Otherwise they stay as they are."
              isChecked={isPruning.value}
              onChange={(isOn) => (isPruning.value = isOn)}
            />
            <Fault error={review.error ?? apply.error} />
            <div class="line">
              <Button isBusy={review.isRunning} busyLabel="Reviewing" onClick={() => void review.run()}>
                Review changes
              </Button>
              <Button
                kind="main"
                isBusy={apply.isRunning}
                busyLabel="Applying"
                whyNot={whyNot('can_edit_roles', 'change roles')}
                disabledBecause={
                  !isReviewed
                    ? 'Review the changes first.'
                    : plan.value?.plan.changes.length === 0
                      ? 'Nothing would change.'
                      : undefined
                }
                onClick={() => void apply.run()}
              >
                Apply
              </Button>
            </div>
          </div>
        </div>
      )}
    </Page>
  );
}

const KINDS = { create: ['new', 'ok'], update: ['changed', 'info'], delete: ['deleted', 'bad'] } as const;

function PlanList({ plan }: { plan: Plan }) {
  if (plan.changes.length === 0) return <p>Nothing would change.</p>;
  return (
    <ul class="stack">
      {plan.changes.map(({ role, kind, words }) => (
        <li key={role} class="stack tight">
          <span class="line">
            <bdi class="strong">{role}</bdi>
            <Chip tone={KINDS[kind][1]}>{KINDS[kind][0]}</Chip>
          </span>
          <ul class="bullets">
            {words.map((word) => (
              <li key={word}>{word}</li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

/** The server names the line of a mistake in its message. */
function problemOf(error: unknown): { line: number; message: string } | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const line = /\bline (\d+)/.exec(`${error.message} ${error.errors.map(({ message }) => message).join(' ')}`)?.[1];
  return line === undefined ? undefined : { line: Number(line), message: error.message };
}
