import { useSignal } from '@preact/signals';
import { api } from '../../data/api.ts';
import { useOrg } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { GuardrailForm } from './guardrail-form.tsx';
import { inputOf } from './guardrail-input.ts';
import { type Guardrail, GuardrailState } from './guardrail-state.tsx';

export function GuardrailsPage() {
  const { org, whyNot, question } = useOrg();
  const guardrails = useResource('GET /authz/guardrails', { query: { org } });
  const editing = useSignal<Guardrail | 'new' | undefined>(undefined);
  const deleting = useSignal<Guardrail | undefined>(undefined);
  const mayEdit = whyNot('can_edit_roles', 'change guardrails');
  const create = (
    <Button kind="main" icon="plus" whyNot={mayEdit} onClick={() => (editing.value = 'new')}>
      New guardrail
    </Button>
  );
  return (
    <Page
      title="Guardrails"
      within={org}
      lead="Statements about access that must stay true. A change that would violate one is rejected, also if an owner makes it."
      isStale={guardrails.isStale}
      actions={<span data-key="n">{create}</span>}
    >
      <Show of={guardrails} whyNot={question('can_view_roles', 'see the guardrails')}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              text="There are no guardrails. An example: at least two people can edit roles."
              action={create}
              command={`atrium guardrail create NAME --at-least 2 --relation edit_roles --org ${org}`}
            />
          ) : (
            <Table
              caption="Guardrails"
              rows={all}
              keyOf={(guardrail) => String(guardrail.id)}
              columns={[
                {
                  key: 'name',
                  title: 'Name',
                  cell: (guardrail) => (
                    <>
                      <bdi>{guardrail.name}</bdi>
                      <bdi class="quiet small block">{guardrail.description}</bdi>
                    </>
                  ),
                },
                { key: 'sentence', title: 'Statement', cell: (guardrail) => <bdi>{guardrail.sentence}</bdi> },
                { key: 'state', title: 'State', cell: (guardrail) => <GuardrailState guardrail={guardrail} /> },
                {
                  key: 'actions',
                  title: 'Change',
                  cell: (guardrail) => (
                    <span class="line">
                      <Button
                        whyNot={mayEdit}
                        label={`Edit ${guardrail.name}`}
                        onClick={() => (editing.value = guardrail)}
                      >
                        Edit
                      </Button>
                      <Button
                        kind="danger"
                        whyNot={mayEdit}
                        label={`Delete ${guardrail.name}`}
                        onClick={() => (deleting.value = guardrail)}
                      >
                        Delete
                      </Button>
                    </span>
                  ),
                },
              ]}
            />
          )
        }
      </Show>
      {editing.value === 'new' && (
        <GuardrailForm org={org} guardrail={undefined} onClose={() => (editing.value = undefined)} />
      )}
      {typeof editing.value === 'object' && (
        <EditGuardrail org={org} of={editing.value} onClose={() => (editing.value = undefined)} />
      )}
      {deleting.value && <DeleteGuardrail org={org} of={deleting.value} onClose={() => (deleting.value = undefined)} />}
    </Page>
  );
}

/** Lists have no versions, so the one to edit is read by itself: what the form shows, and what it saves over. */
function EditGuardrail({ org, of: { id, name }, onClose }: { org: string; of: Guardrail; onClose: () => void }) {
  const { data, etag, error } = useResource('GET /authz/guardrails/{id}', { path: { id }, query: { org } });
  if (data) return <GuardrailForm org={org} guardrail={data} etag={etag} onClose={onClose} />;
  if (error === undefined) return null;
  return (
    <Dialog title={`Edit ${name}`} onClose={onClose}>
      <Fault error={error} />
    </Dialog>
  );
}

function DeleteGuardrail({ org, of, onClose }: { org: string; of: Guardrail; onClose: () => void }) {
  const { id, name, sentence } = of;
  return (
    <Confirm
      title={`Delete the guardrail ${name}?`}
      verb="Delete guardrail"
      done={`The guardrail ${name} was deleted.`}
      change={() => api.call('DELETE /authz/guardrails/{id}', { path: { id }, query: { org } })}
      undo={() => api.call('POST /authz/guardrails', { query: { org }, body: inputOf(of) })}
      onClose={onClose}
    >
      <p>
        Nothing keeps it true any more that <bdi>{sentence}</bdi>.
      </p>
    </Confirm>
  );
}
