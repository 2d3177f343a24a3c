import { useSignal } from '@preact/signals';
import { lazy, useLocation, useRoute } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg, usePageObject } from '../../data/org.ts';
import { pageData } from '../../data/page-data.ts';
import { useResource } from '../../data/resource.ts';
import { isSiteAdmin } from '../../data/session.ts';
import { notifyUndoable } from '../../data/undo.ts';
import { useVersion } from '../../data/version.ts';
import { Phase, Tabs } from '../../parts/bits.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Impact } from '../../parts/impact.tsx';
import { Empty, Page, ShowPage } from '../../parts/page.tsx';
import { untilLoaded } from '../../shell/broken-page.ts';
import { plannedMove } from '../assignments/assignment.ts';
import { ClusterAccess } from './cluster-access.tsx';
import { ClusterAgent } from './cluster-agent.tsx';
import { ClusterFacts } from './cluster-facts.tsx';
import {
  bodyOf,
  CLUSTER_FIELDS,
  type Cluster,
  ClusterFields,
  ClusterName,
  useClusterFields,
} from './cluster-fields.tsx';
import { ClusterHistory } from './cluster-history.tsx';
import { ClusterGoverned, ClusterSteps } from './cluster-kubernetes.tsx';
import { ClusterRecord } from './cluster-record.tsx';
import { stateOf, titleOf } from './cluster-words.ts';

/** The pictures of health are as much as the rest of the page, and most visits are about something else. */
const loadHealth = async () => (await import('./cluster-health.tsx')).ClusterHealth;
const ClusterHealth = lazy(async () => ({ default: await loadHealth().catch(() => untilLoaded(loadHealth)) }));

export function ClusterPage() {
  const { org, question } = useOrg();
  const id = useRoute().params.id ?? '';
  const cluster = useResource('GET /clusters/{id}', { path: { id } });
  return (
    <ShowPage title="Cluster" within={org} of={cluster} whyNot={question('can_view_clusters', 'see the clusters')}>
      {(found) =>
        found.ownerName === org ? (
          <ClusterDetails key={id} cluster={found} etag={cluster.etag} isStale={cluster.isStale} />
        ) : (
          <Page title={titleOf(found)}>
            <Empty
              text={`This cluster belongs to ${found.ownerName}.`}
              action={<LinkButton href={orgPath(found.ownerName, `/clusters/${id}`)}>Show it there</LinkButton>}
            />
          </Page>
        )
      }
    </ShowPage>
  );
}

function ClusterDetails(props: { cluster: Cluster; etag: string | undefined; isStale: boolean }) {
  const { cluster, etag, isStale } = props;
  const { org, may: mayInOrg } = useOrg();
  const { route, query } = useLocation();
  const { whyNot } = usePageObject();
  const dialog = useSignal<'edit' | 'remove' | undefined>(undefined);
  const close = () => (dialog.value = undefined);
  const address = orgPath(org, `/clusters/${cluster.id}`);
  const tabs = [
    { href: address, title: 'Details' },
    { href: `${address}?tab=access`, title: 'Access' },
    ...(isSiteAdmin.value && pageData.features.bus
      ? [{ href: `${address}?tab=history`, title: 'Resource history' }]
      : []),
    ...(mayInOrg('can_view_audit_log')
      ? [
          { href: `${address}?tab=health`, title: 'Health' },
          { href: `${address}?tab=audit`, title: 'Audit log' },
        ]
      : []),
  ];
  const { tab = '' } = query;
  return (
    <Page
      title={titleOf(cluster)}
      within={org}
      isStale={isStale}
      lead={
        <span class="cluster-state">
          <Phase phase={cluster.status.response.phase} /> <bdi>{stateOf(cluster)}</bdi>
        </span>
      }
      actions={
        <>
          <span data-key="e">
            <Button whyNot={whyNot('can_edit', 'change this cluster')} onClick={() => (dialog.value = 'edit')}>
              Edit cluster
            </Button>
          </span>
          <Button
            kind="danger"
            whyNot={whyNot('can_remove', 'remove this cluster')}
            onClick={() => (dialog.value = 'remove')}
          >
            Remove cluster
          </Button>
        </>
      }
    >
      <Tabs label="Parts of the cluster" tabs={tabs} current={tab === '' ? address : `${address}?tab=${tab}`} />
      {tab === '' && (
        <>
          <ClusterSteps org={org} cluster={cluster} />
          <ClusterFacts cluster={cluster} />
          <ClusterGoverned cluster={cluster} />
          <ClusterAgent org={org} cluster={cluster} />
        </>
      )}
      {tab === 'health' && <ClusterHealth cluster={cluster} />}
      {tab === 'access' && <ClusterAccess org={org} cluster={cluster} />}
      {tab === 'history' && <ClusterHistory cluster={cluster} />}
      {tab === 'audit' && <ClusterRecord org={org} cluster={cluster} />}
      {dialog.value === 'edit' && <EditCluster cluster={cluster} etag={etag} onClose={close} />}
      {dialog.value === 'remove' && (
        <Confirm
          title={`Remove ${cluster.name}?`}
          verb="Remove cluster"
          typedName={cluster.name}
          done={`The cluster ${cluster.name} was removed.`}
          change={() => api.call('DELETE /clusters/{id}', { path: { id: cluster.id } })}
          onClose={close}
          onDone={() => route(orgPath(org, '/clusters'))}
        >
          <p>
            It is removed from Atrium, and its agent is rejected. The cluster itself keeps running. This cannot be
            undone.
          </p>
        </Confirm>
      )}
    </Page>
  );
}

function EditCluster(props: { cluster: Cluster; etag: string | undefined; onClose: () => void }) {
  const { cluster, etag, onClose } = props;
  const { org } = useOrg();
  const values = useClusterFields(cluster);
  const set = values.clusterSetName.value;
  const version = useVersion(etag);
  const save = useAction(async () => {
    const body = bodyOf(values, cluster);
    const path = { id: cluster.id };
    const saved = await version.save((ifMatch) => api.request('PATCH /clusters/{id}', { path, body, ifMatch }));
    const former = Object.fromEntries(
      Object.keys(body).map((name) => [name, cluster[name as keyof typeof body] ?? '']),
    );
    notifyUndoable('The cluster was saved.', () =>
      api.call('PATCH /clusters/{id}', { path, body: former, ifMatch: saved.etag }),
    );
  });
  return (
    <FormDialog
      title={`Edit ${cluster.name}`}
      verb="Save cluster"
      action={save}
      fields={CLUSTER_FIELDS}
      onClose={onClose}
    >
      <ClusterName values={values} action={save} />
      <ClusterFields values={values} action={save} />
      {set !== cluster.clusterSetName && <Impact org={org} changes={[plannedMove(cluster.id, set)]} />}
    </FormDialog>
  );
}
