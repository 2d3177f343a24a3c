import { useSignal } from '@preact/signals';
import type { Item } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useList } from '../../data/resource.ts';
import { me } from '../../data/session.ts';
import { Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { ShownSecret } from '../../parts/secret.tsx';
import { Table } from '../../parts/table.tsx';
import { notify } from '../../parts/toast.tsx';
import { When } from '../../parts/when.tsx';
import { MePage } from './me-page.tsx';
import { NewAgent } from './new-agent.tsx';

type Token = Item<'GET /users/{username}/tokens'>;

/** Tokens that the user gave to agents, each for an hour. */
export function AgentsPage() {
  const username = me.value?.login ?? '';
  const tokens = useList('GET /users/{username}/tokens', { path: { username }, query: { limit: 50 } });
  const isCreating = useSignal(false);
  const created = useSignal<string | undefined>(undefined);
  const end = useAction(async ({ id, name }: Token) => {
    await api.call('DELETE /users/{username}/tokens/{token}', { path: { username, token: id } });
    notify({ kind: 'ok', text: `The token of ${name} has ended.` });
  });
  const create = (
    <Button kind="main" icon="plus" onClick={() => (isCreating.value = true)}>
      New agent
    </Button>
  );
  return (
    <MePage
      title="Agents"
      lead="Assistants that read for you, and ask for access, for an hour. The audit log shows you and the agent."
      isStale={tokens.isStale}
      actions={<span data-key="n">{create}</span>}
    >
      <Fault error={end.error} />
      <Show of={tokens}>
        {(all) => {
          const agents = all.filter(({ delegated }) => delegated);
          if (agents.length === 0) return <Empty text="No agent acts for you at the moment." action={create} />;
          return (
            <Table
              caption="Agents"
              rows={agents}
              keyOf={({ id }) => String(id)}
              hasMore={tokens.hasMore}
              onMore={tokens.loadMore}
              columns={[
                { key: 'name', title: 'Agent', cell: ({ name }) => <bdi class="strong">{name}</bdi> },
                { key: 'where', title: 'Reads', cell: (token) => <bdi>{placesOf(token)}</bdi> },
                {
                  key: 'may',
                  title: 'May ask for access',
                  cell: ({ scopes }) => (scopes.includes('write:authz') ? <Chip>yes</Chip> : 'no'),
                  isMinor: true,
                },
                { key: 'used', title: 'Last used', cell: (token) => <When at={token.last_used_at} />, isMinor: true },
                { key: 'ends', title: 'Ends', cell: (token) => <When at={token.expires_at} /> },
                {
                  key: 'end',
                  title: '',
                  isNumber: true,
                  cell: (token) => (
                    <Button label={`End ${token.name}`} isBusy={end.isRunning} onClick={() => void end.run(token)}>
                      End
                    </Button>
                  ),
                },
              ]}
            />
          );
        }}
      </Show>
      {isCreating.value && (
        <NewAgent
          username={username}
          onClose={() => (isCreating.value = false)}
          onCreated={(text) => (created.value = text)}
        />
      )}
      {created.value !== undefined && (
        <ShownSecret
          title="The token of the agent"
          secret={created.value}
          commands={[
            { title: 'Address of the Model Context Protocol', text: `${location.origin}/mcp` },
            { title: 'Header', text: 'Authorization: Bearer $TOKEN' },
          ]}
          onClose={() => (created.value = undefined)}
        />
      )}
    </MePage>
  );
}

function placesOf({ limits }: Token): string {
  return [...(limits?.organizations ?? []), ...(limits?.objects ?? [])].map(({ name }) => name).join(', ');
}
