import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg, usePageObject } from '../../data/org.ts';
import { useList, useResource } from '../../data/resource.ts';
import { notifyUndoable } from '../../data/undo.ts';
import { Icon } from '../../icons/icon.tsx';
import { Card, Facts } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { capital } from '../../parts/capital.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { SelectField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { hasNotHappened, When } from '../../parts/when.tsx';
import type { Cluster } from './cluster-fields.tsx';
import './clusters.css';

const WAYS = [
  { value: 'webhook', label: 'Its API server asks Atrium about every request' },
  { value: 'agent', label: 'An agent keeps its RoleBindings true' },
  { value: 'none', label: 'Kubernetes decides alone' },
] as const;
type Way = (typeof WAYS)[number]['value'];

/** What the server says of a silent cluster. The head of the page says it, too, with a time that can be read. */
const SILENT = /^no heartbeat since /;

interface OfCluster {
  readonly org: string;
  readonly cluster: Cluster;
}

/** The way from a cluster that is known by name to `kubectl get pods`: what is done, and what to do next. */
export function ClusterSteps({ org, cluster }: OfCluster) {
  const { whyNot } = usePageObject();
  const isChoosing = useSignal(false);
  const connectors = useList('GET /authz/objects/{objectType}/{objID}/principals', {
    path: { objectType: 'cluster', objID: cluster.id },
    query: { org, relation: 'can_connect', limit: 1 },
  });
  const { name, heartbeatAt, endpoint, caBundle = '' } = cluster;
  const way = wayOf(cluster);
  const count = connectors.total;
  const holders =
    count === undefined ? 'those who hold connect' : count === 1 ? '1 user or robot' : `${count} users and robots`;
  const hasReported = !hasNotHappened(heartbeatAt);
  const isReachable = endpoint !== '' && caBundle !== '';
  const image = '--image registry.example.com/atrium';
  const steps: readonly Step[] = [
    { title: 'Registered', isDone: true, body: <p>It has a name and its UID.</p> },
    {
      title: hasReported ? 'Agent seen' : 'Install the agent',
      isDone: hasReported,
      body: hasReported ? (
        <p>
          It last reported <When at={heartbeatAt} />.
        </p>
      ) : (
        <>
          <p>
            This creates a robot for the agent, and prints what kubectl applies in the cluster. Name your own image of
            Atrium instead of the example:
          </p>
          <CodeBlock text={`atrium kube agent ${name} ${image} \\\n  | kubectl apply -f -`} label="Copy the command" />
          <p class="quiet small">
            The command needs <code>atrium login {location.origin}</code> once. No command line or no image at hand? A
            token and one curl make the cluster report: <a href="#heartbeat">Heartbeat</a>.
          </p>
        </>
      ),
    },
    {
      title: 'Who may connect',
      isDone: way !== 'none',
      body: (
        <>
          <p>
            {way === 'none'
              ? `Kubernetes decides alone. Once Atrium governs it, ${holders} can connect: they may open shells in its pods.`
              : `${WORDS[way]} ${holders} can connect: they may open shells in its pods.`}{' '}
            <a href={orgPath(org, `/clusters/${cluster.id}?tab=access`)}>Who has access</a>
          </p>
          <Button
            whyNot={whyNot('can_administer', 'decide who governs this cluster')}
            onClick={() => (isChoosing.value = true)}
          >
            Choose who decides
          </Button>
          {way === 'webhook' && (
            <>
              <p>This prints the files and flags of the API server:</p>
              <CodeBlock text={`atrium kube server-config ${name}`} label="Copy the command" />
            </>
          )}
        </>
      ),
    },
    {
      title: 'kubeconfig',
      isDone: isReachable && way !== 'none',
      body: isReachable ? (
        <CodeBlock
          text={`atrium kube config ${name}\nkubectl --context atrium-${org}-${name} get pods`}
          label="Copy the commands"
        />
      ) : (
        <>
          <p>Its address and its certificates are not known. An agent with --endpoint reports them, or set them:</p>
          <CodeBlock
            text={`atrium cluster edit ${name} \\\n  --endpoint https://API-SERVER:6443 --ca-bundle ca.crt`}
            label="Copy the command"
          />
        </>
      ),
    },
  ];
  const left = steps.filter(({ isDone }) => !isDone).length;
  return (
    <Card title="From here to kubectl get pods">
      <p class="quiet">{left === 0 ? 'All 4 steps are done.' : `${4 - left} of 4 steps done.`}</p>
      <ol class="cluster-steps">
        {steps.map(({ title, isDone, body }) => (
          <li key={title} class={isDone ? 'done' : ''}>
            {isDone ? <Icon name="check" size={16} /> : <span class="open-step" aria-hidden="true" />}
            <div>
              <h3>
                {title} <span class="only-read">{isDone ? '(done)' : '(to do)'}</span>
              </h3>
              {body}
            </div>
          </li>
        ))}
      </ol>
      {isChoosing.value && <ChooseWay cluster={cluster} holders={holders} onClose={() => (isChoosing.value = false)} />}
    </Card>
  );
}

interface Step {
  readonly title: string;
  readonly isDone: boolean;
  readonly body: ComponentChildren;
}

const WORDS: Readonly<Record<Way, string>> = {
  webhook: 'Its API server asks Atrium about every request.',
  agent: 'An agent keeps its RoleBindings as Atrium says.',
  none: 'Kubernetes decides alone.',
};

function ChooseWay({ cluster, holders, onClose }: { cluster: Cluster; holders: string; onClose: () => void }) {
  const way = useSignal<string>(wayOf(cluster));
  const save = useAction(async () => {
    const auth = WAYS.find(({ value }) => value === way.value)?.value ?? 'none';
    await api.call('PATCH /clusters/{id}', { path: { id: cluster.id }, body: { kubernetes: { auth } } });
    const former = wayOf(cluster);
    notifyUndoable(`${cluster.name}: ${WORDS[auth]}`, () =>
      api.call('PATCH /clusters/{id}', { path: { id: cluster.id }, body: { kubernetes: { auth: former } } }),
    );
  });
  return (
    <FormDialog title={`Who decides in ${cluster.name}?`} verb="Save" action={save} fields={[]} onClose={onClose}>
      <SelectField label="Way" value={way} choices={WAYS} />
      {way.value !== 'none' && <p>{capital(holders)} will be able to connect: they may open shells in its pods.</p>}
    </FormDialog>
  );
}

/** Which way the cluster is governed, what was asked lately, and what its agent did. */
export function ClusterGoverned({ cluster }: { cluster: Cluster }) {
  const { question } = useOrg();
  const reviews = useResource('GET /clusters/{id}/reviews', { path: { id: cluster.id } });
  const { message } = cluster.status.response;
  const way = wayOf(cluster);
  return (
    <Card title="Requests in the cluster">
      <Show of={reviews} whyNot={question('can_view_clusters', 'see the reviews')} rows={3}>
        {({ since, allowed, refused, people }) => (
          <>
            <Facts
              of={[
                { name: 'Who decides', value: WORDS[way] },
                ...(way === 'webhook'
                  ? [
                      { name: 'Allowed', value: String(allowed) },
                      { name: 'Refused', value: String(refused) },
                      { name: 'Counted since', value: <When at={since} /> },
                    ]
                  : []),
                ...(message === '' || SILENT.test(message)
                  ? []
                  : [{ name: 'Last message of the agent', value: <bdi>{message}</bdi> }]),
              ]}
            />
            {people.length > 0 && (
              <Table
                caption="Who asked lately"
                rows={people}
                keyOf={({ user }) => `${user.type}:${user.id}`}
                columns={[
                  { key: 'user', title: 'Who', cell: ({ user }) => <bdi>{user.name}</bdi> },
                  { key: 'allowed', title: 'Allowed', cell: (one) => String(one.allowed) },
                  { key: 'refused', title: 'Refused', cell: (one) => String(one.refused) },
                  { key: 'last', title: 'Last', cell: (one) => <When at={one.last_at} /> },
                ]}
              />
            )}
          </>
        )}
      </Show>
    </Card>
  );
}

function wayOf({ kubernetes }: Cluster): Way {
  return kubernetes?.auth ?? 'none';
}
