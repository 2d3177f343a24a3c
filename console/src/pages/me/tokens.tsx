import { useSignal } from '@preact/signals';
import type { Item } from '../../../../client/client.ts';
import { api } from '../../data/api.ts';
import { useList } from '../../data/resource.ts';
import { me } from '../../data/session.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { RotateToken } from '../../parts/rotate-token.tsx';
import { ShownSecret } from '../../parts/secret.tsx';
import { TokenTable } from '../../parts/token-table.tsx';
import { MePage } from './me-page.tsx';
import { NewToken } from './new-token.tsx';

type Token = Item<'GET /users/{username}/tokens'>;

export function TokensPage() {
  const username = me.value?.login ?? '';
  const tokens = useList('GET /users/{username}/tokens', { path: { username }, query: { limit: 50 } });
  const isCreating = useSignal(false);
  const created = useSignal<string | undefined>(undefined);
  const revoked = useSignal<Token | undefined>(undefined);
  const rotated = useSignal<Token | undefined>(undefined);
  const create = (
    <Button kind="main" icon="plus" onClick={() => (isCreating.value = true)}>
      New token
    </Button>
  );
  return (
    <MePage
      title="Access tokens"
      lead="For programs that act for you: scripts, the command line, pipelines."
      isStale={tokens.isStale}
      actions={<span data-key="n">{create}</span>}
    >
      <Show of={tokens}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              text="You have no tokens. The command line creates one when you sign in with it."
              action={create}
              command={`atrium login ${location.origin}`}
            />
          ) : (
            <TokenTable
              tokens={all}
              total={tokens.total}
              hasMore={tokens.hasMore}
              onMore={tokens.loadMore}
              onRevoke={(token) => (revoked.value = token)}
              onRotate={(token) => (rotated.value = token)}
            />
          )
        }
      </Show>
      {isCreating.value && (
        <NewToken
          username={username}
          onClose={() => (isCreating.value = false)}
          onCreated={(text) => (created.value = text)}
        />
      )}
      {rotated.value && (
        <RotateToken
          name={rotated.value.name}
          rotate={(hours) =>
            api.call('POST /users/{username}/tokens/{token}/rotate', {
              path: { username, token: rotated.value?.id ?? 0n },
              body: { overlap_hours: hours },
            })
          }
          onClose={() => (rotated.value = undefined)}
          onCreated={(text) => (created.value = text)}
        />
      )}
      {created.value !== undefined && (
        <ShownSecret
          title="The new token"
          secret={created.value}
          commands={commandsFor(location.origin)}
          onClose={() => (created.value = undefined)}
        />
      )}
      {revoked.value && (
        <Confirm
          title={`Revoke the token ${revoked.value.name}?`}
          verb="Revoke token"
          done={`The token ${revoked.value.name} was revoked.`}
          change={() =>
            api.call('DELETE /users/{username}/tokens/{token}', {
              path: { username, token: revoked.value?.id ?? 0n },
            })
          }
          onClose={() => (revoked.value = undefined)}
        >
          <p>
            Programs that use it are refused from the next request on. Sessions and bus credentials that were opened
            with it end too. This cannot be undone.
          </p>
        </Confirm>
      )}
    </MePage>
  );
}

/** The token itself is not in them, so that they can be kept where other people see them. */
function commandsFor(origin: string) {
  return [
    {
      title: 'With curl',
      text: `read -rs TOKEN   # paste the token, press Enter\ncurl -H "Authorization: token $TOKEN" ${origin}/api/v1/user`,
    },
    { title: 'On the command line', text: `printf %s "$TOKEN" | atrium login ${origin} --token-stdin` },
    {
      title: 'In a pipeline',
      text: `env:\n  ATRIUM_URL: ${origin}\n  ATRIUM_TOKEN: \${{ secrets.ATRIUM_TOKEN }}\nrun: atrium cluster list --org ORG --json`,
    },
  ];
}
