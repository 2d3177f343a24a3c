import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useOrg } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { SelectField, TextField, useFirst } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { heartbeatCommand } from '../../parts/heartbeat-command.ts';
import { Show } from '../../parts/page.tsx';
import { ShownSecret } from '../../parts/secret.tsx';
import { expiryOf, LIFETIMES } from '../../parts/token-lifetime.ts';
import type { Cluster } from './cluster-fields.tsx';

/** How the cluster reports that it is alive, with a token to do so. */
export function ClusterAgent({ org, cluster }: { org: string; cluster: Cluster }) {
  const { whyNot } = useOrg();
  const isCreating = useSignal(false);
  const created = useSignal<string | undefined>(undefined);
  const command = heartbeatCommand(cluster.id);
  return (
    <Card
      id="heartbeat"
      title="Heartbeat"
      actions={
        <Button
          icon="key"
          whyNot={whyNot('can_create_tokens', 'create tokens of robots')}
          onClick={() => (isCreating.value = true)}
        >
          New robot token
        </Button>
      }
    >
      <p>
        The agent of the cluster reports every half minute, with the token of a robot account, which takes the place of{' '}
        <code>$TOKEN</code>. After two minutes without a report the cluster is shown as NotConnected, after a day as
        Lost.
      </p>
      <CodeBlock text={command} label="Copy the command" />
      {isCreating.value && (
        <AgentToken
          org={org}
          cluster={cluster}
          onClose={() => (isCreating.value = false)}
          onCreated={(text) => (created.value = text)}
        />
      )}
      {created.value !== undefined && (
        <ShownSecret
          title="The new token"
          secret={created.value}
          commands={[{ title: 'Report that the cluster is alive', text: `TOKEN=${created.value}\n${command}` }]}
          onClose={() => (created.value = undefined)}
        />
      )}
    </Card>
  );
}

interface AgentTokenProps {
  readonly org: string;
  readonly cluster: Cluster;
  readonly onClose: () => void;
  readonly onCreated: (text: string) => void;
}

function AgentToken({ org, cluster, onClose, onCreated }: AgentTokenProps) {
  const robots = useResource('GET /orgs/{org}/robots', { path: { org }, query: { limit: 50 } });
  const robot = useFirst(robots.data ?? []);
  const isFirst = robots.data?.length === 0;
  const robotName = useSignal('agent');
  /** Once it is there, a second try is not about its name. */
  const made = useSignal<bigint | undefined>(undefined);
  const name = useSignal(`agent of ${cluster.name}`.slice(0, 100));
  const days = useSignal('90');
  const create = useAction(async () => {
    if (isFirst) {
      const first = { name: robotName.value, description: 'Reports for the clusters.' };
      made.value ??= (await api.call('POST /orgs/{org}/robots', { path: { org }, body: first })).id;
    }
    const body = { name: name.value, expires_at: expiryOf(days.value) };
    const token = await api.call('POST /robots/{id}/tokens', { path: { id: made.value ?? robot.value }, body });
    onCreated(token.sha1);
  });
  if (robots.data === undefined) {
    return (
      <Dialog title="New robot token" onClose={onClose}>
        <Show of={robots} rows={2}>
          {() => null}
        </Show>
      </Dialog>
    );
  }
  const isAboutRobot = isFirst && made.value === undefined;
  return (
    <FormDialog title="New robot token" verb="Create token" action={create} fields={['name']} onClose={onClose}>
      {isFirst ? (
        <TextField
          label="Robot"
          value={robotName}
          isRequired
          hint="The organization has no robot account yet, so this creates the first one. Its tokens may report for every cluster."
          error={isAboutRobot ? create.fieldError('name') : undefined}
        />
      ) : (
        <SelectField
          label="Robot"
          value={robot}
          hint="Its tokens may report for every cluster of the organization."
          choices={robots.data.map((one) => ({ value: String(one.id), label: one.name }))}
        />
      )}
      <TextField label="Name" value={name} isRequired error={isAboutRobot ? undefined : create.fieldError('name')} />
      <SelectField label="Expires" value={days} choices={LIFETIMES} error={create.fieldError('expires_at')} />
    </FormDialog>
  );
}
