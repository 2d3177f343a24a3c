import { useSignal } from '@preact/signals';
import type { Item } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useResource } from '../../data/resource.ts';
import { Phase } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { notify } from '../../parts/toast.tsx';
import { When } from '../../parts/when.tsx';
import { MePage } from './me-page.tsx';

type Cluster = Item<'GET /user/clusters'>;

export function MyClustersPage() {
  const clusters = useResource('GET /user/clusters');
  const isImporting = useSignal(false);
  const removed = useSignal<Cluster | undefined>(undefined);
  const importOne = (
    <Button kind="main" icon="plus" onClick={() => (isImporting.value = true)}>
      Import a cluster
    </Button>
  );
  return (
    <MePage
      title="Clusters"
      lead="Clusters that belong to you alone. Other users do not see them; those of organizations are on the organization's page."
      isStale={clusters.isStale}
      actions={<span data-key="n">{importOne}</span>}
    >
      <Show of={clusters}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              text="You own no cluster. Import one for yourself, or import it into an organization to share it."
              action={importOne}
            />
          ) : (
            <Table
              caption="Your clusters"
              rows={all}
              keyOf={(cluster) => String(cluster.id)}
              columns={[
                {
                  key: 'name',
                  title: 'Name',
                  cell: (cluster) => <bdi class="strong">{cluster.displayName || cluster.name}</bdi>,
                },
                { key: 'phase', title: 'Phase', cell: (cluster) => <Phase phase={cluster.status.response.phase} /> },
                { key: 'provider', title: 'Provider', cell: (cluster) => cluster.provider, isMinor: true },
                { key: 'version', title: 'Kubernetes', cell: (cluster) => cluster.orchestratorVersion, isMinor: true },
                { key: 'nodes', title: 'Nodes', cell: (cluster) => cluster.nodeCount, isNumber: true, isMinor: true },
                { key: 'age', title: 'Imported', cell: (cluster) => <When at={cluster.createdAt} />, isMinor: true },
                {
                  key: 'remove',
                  title: '',
                  isNumber: true,
                  cell: (cluster) => (
                    <Button label={`Remove ${cluster.name}`} onClick={() => (removed.value = cluster)}>
                      Remove
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Show>
      {isImporting.value && <ImportCluster onClose={() => (isImporting.value = false)} />}
      {removed.value && (
        <Confirm
          title={`Remove the cluster ${removed.value.name}?`}
          verb="Remove cluster"
          typedName={removed.value.name}
          done={`The cluster ${removed.value.name} was removed.`}
          change={() => api.call('DELETE /clusters/{id}', { path: { id: removed.value?.id ?? 0n } })}
          onClose={() => (removed.value = undefined)}
        >
          <p>The cluster is removed from Atrium. The cluster itself keeps running.</p>
        </Confirm>
      )}
    </MePage>
  );
}

const FIELDS = ['name', 'uid', 'displayName', 'provider', 'endpoint'] as const;

function ImportCluster({ onClose }: { onClose: () => void }) {
  const values = {
    name: useSignal(''),
    uid: useSignal(''),
    displayName: useSignal(''),
    provider: useSignal(''),
    endpoint: useSignal(''),
  };
  const add = useAction(async () => {
    const { name, uid, displayName, provider, endpoint } = values;
    const body = {
      name: name.value.trim(),
      uid: uid.value.trim(),
      displayName: displayName.value.trim(),
      provider: provider.value.trim(),
      endpoint: endpoint.value.trim(),
    };
    const cluster = await api.call('POST /user/clusters', { body });
    notify({ kind: 'ok', text: `The cluster ${cluster.name} was imported.` });
  });
  return (
    <FormDialog title="Import a cluster" verb="Import cluster" action={add} fields={FIELDS} onClose={onClose}>
      <TextField label="Name" value={values.name} isRequired autoFocus error={add.fieldError('name')} />
      <TextField
        label="UID"
        value={values.uid}
        isRequired
        isMono
        hint="That of its namespace kube-system: kubectl get ns kube-system -o jsonpath={.metadata.uid}"
        error={add.fieldError('uid')}
      />
      <TextField label="Display name" value={values.displayName} error={add.fieldError('displayName')} />
      <TextField
        label="Provider"
        value={values.provider}
        hint="Such as AKS, EKS, GKE or Generic."
        error={add.fieldError('provider')}
      />
      <TextField label="Endpoint" value={values.endpoint} error={add.fieldError('endpoint')} />
    </FormDialog>
  );
}
