import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { useVersion } from '../../data/version.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Form } from '../../parts/form.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { notify } from '../../parts/toast.tsx';
import { changedFields, ORG_FIELDS, OrgFields, useOrgFields } from './org-fields.tsx';
import { OrgSecondFactor } from './org-second-factor.tsx';

export function OrgSettingsPage() {
  const { org } = useOrg();
  const details = useResource('GET /orgs/{org}', { path: { org } });
  return (
    <Page title="Settings" within={org}>
      <Show of={details}>{(found) => <Settings key={org} details={found} etag={details.etag} />}</Show>
    </Page>
  );
}

function Settings({ details, etag }: { details: Answer<'GET /orgs/{org}'>; etag: string | undefined }) {
  const { org, whyNot, may } = useOrg();
  const { route } = useLocation();
  const values = useOrgFields(details);
  const isDeleting = useSignal(false);
  const version = useVersion(etag);
  const save = useAction(async () => {
    const body = changedFields(values, details);
    const saved = await version.save((ifMatch) => api.call('PATCH /orgs/{org}', { path: { org }, body, ifMatch }));
    notify({ kind: 'ok', text: 'The organization was saved.' });
    if (saved.name !== org) route(orgPath(saved.name, '/settings'));
  });
  return (
    <div class="stack wide">
      <Form
        action={save}
        verb="Save organization"
        fields={ORG_FIELDS}
        whyNot={whyNot('can_edit', 'change the organization')}
      >
        <OrgFields
          values={values}
          action={save}
          isNameReadOnly={may('can_delete') === false}
          nameHint="Renaming breaks links and scripts that use the old name. Only owners can do it."
        />
      </Form>
      <OrgSecondFactor />
      <Card title="Delete the organization">
        <p>Deletes its teams, roles, clusters, contracts and robot accounts. This cannot be undone.</p>
        <div>
          <Button
            kind="danger"
            whyNot={whyNot('can_delete', 'delete the organization')}
            onClick={() => (isDeleting.value = true)}
          >
            Delete organization
          </Button>
        </div>
      </Card>
      {isDeleting.value && (
        <Confirm
          title={`Delete ${org}?`}
          verb="Delete organization"
          typedName={org}
          done={`The organization ${org} was deleted.`}
          change={() => api.call('DELETE /orgs/{org}', { path: { org } })}
          onClose={() => (isDeleting.value = false)}
          onDone={() => route('/')}
        >
          <p>Everything that it owns is deleted with it, and its members lose access. The audit log stays.</p>
        </Confirm>
      )}
    </div>
  );
}
