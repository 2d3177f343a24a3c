import { useLocation } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath } from '../../data/org.ts';
import { Form } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { notify } from '../../parts/toast.tsx';
import { bodyOf, ORG_FIELDS, OrgFields, useOrgFields } from './org-fields.tsx';

export function NewOrgPage() {
  const { route } = useLocation();
  const values = useOrgFields();
  const create = useAction(async () => {
    const org = await api.call('POST /orgs', { body: bodyOf(values) });
    notify({ kind: 'ok', text: `The organization ${org.name} was created.` });
    route(orgPath(org.name));
  });
  return (
    <Page title="New organization" lead="You become its owner. Then add people, teams and clusters.">
      <Form action={create} verb="Create organization" fields={ORG_FIELDS}>
        <OrgFields
          values={values}
          action={create}
          nameHint="Used in addresses and commands: letters, digits, hyphens."
        />
      </Form>
    </Page>
  );
}
