import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { notify } from '../../parts/toast.tsx';
import { bodyOf, CLUSTER_FIELDS, ClusterFields, ClusterName, useClusterFields } from './cluster-fields.tsx';
import './clusters.css';

const READ_UID = "kubectl get namespace kube-system -o jsonpath='{.metadata.uid}'";

export function ImportClusterPage() {
  const { org, whyNot } = useOrg();
  const { route } = useLocation();
  const values = useClusterFields();
  const uid = useSignal('');
  const create = useAction(async () => {
    const body = { ...bodyOf(values), name: values.name.value, uid: uid.value.trim() };
    const cluster = await api.call('POST /orgs/{org}/clusters', { path: { org }, body });
    notify({ kind: 'ok', text: `The cluster ${cluster.name} was imported.` });
    route(orgPath(org, `/clusters/${cluster.id}`));
  });
  const isDetailWrong = CLUSTER_FIELDS.some(
    (name) => name !== 'name' && name !== 'uid' && create.fieldError(name) !== undefined,
  );
  return (
    <Page
      title="Import a cluster"
      within={org}
      lead="A name and its UID are enough. Then its page leads to kubectl get pods in three more steps."
    >
      <Form
        action={create}
        verb="Import cluster"
        fields={CLUSTER_FIELDS}
        whyNot={whyNot('can_import_clusters', 'import clusters')}
        onCancel={() => route(orgPath(org, '/clusters'))}
      >
        <ClusterName values={values} action={create} />
        <TextField
          label="UID"
          value={uid}
          isRequired
          isMono
          hint="The UUID of its kube-system namespace. This command shows it:"
          error={create.fieldError('uid')}
        />
        <CodeBlock text={READ_UID} label="Copy the command" />
        <details class="cluster-more" open={isDetailWrong || undefined}>
          <summary>More details</summary>
          <div class="stack">
            <ClusterFields values={values} action={create} />
          </div>
        </details>
      </Form>
    </Page>
  );
}
