import { useSignal } from '@preact/signals';
import type { Item } from '../../../../client/client.ts';
import { api } from '../../data/api.ts';
import { useList } from '../../data/resource.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Show } from '../../parts/page.tsx';
import { SessionTable } from '../../parts/session-table.tsx';
import { TokenTable } from '../../parts/token-table.tsx';

type Token = Item<'GET /users/{username}/tokens'>;

/** The tokens and browsers that act for a user, and how to stop them. */
export function UserSignIns({ login }: { login: string }) {
  const path = { username: login };
  const tokens = useList('GET /users/{username}/tokens', { path, query: { limit: 50 } });
  const isShown = useSignal(false);
  const sessions = useList(isShown.value ? 'GET /admin/users/{username}/sessions' : undefined, {
    path,
    query: { limit: 50 },
  });
  const revoked = useSignal<Token | undefined>(undefined);
  const isEnding = useSignal(false);
  return (
    <>
      <Card title="Access tokens">
        <Show of={tokens} rows={2}>
          {(all) =>
            all.length === 0 ? (
              <p class="quiet">They have no access tokens.</p>
            ) : (
              <TokenTable
                tokens={all}
                total={tokens.total}
                hasMore={tokens.hasMore}
                onMore={tokens.loadMore}
                onRevoke={(token) => (revoked.value = token)}
              />
            )
          }
        </Show>
      </Card>
      <Card
        title="Sessions"
        actions={
          <Button
            disabledBecause={sessions.data?.length === 0 ? 'They are signed in nowhere.' : undefined}
            onClick={() => (isEnding.value = true)}
          >
            End all sessions
          </Button>
        }
      >
        {isShown.value ? (
          <Show of={sessions} rows={2}>
            {(all) =>
              all.length === 0 ? (
                <p class="quiet">They are signed in with no browser.</p>
              ) : (
                <SessionTable
                  sessions={all}
                  total={sessions.total}
                  hasMore={sessions.hasMore}
                  onMore={sessions.loadMore}
                />
              )
            }
          </Show>
        ) : (
          <div>
            <Button onClick={() => (isShown.value = true)}>Show where they are signed in</Button>
          </div>
        )}
      </Card>
      {revoked.value && (
        <Confirm
          title={`Revoke the token ${revoked.value.name} of ${login}?`}
          verb="Revoke token"
          done={`The token ${revoked.value.name} was revoked.`}
          change={() =>
            api.call('DELETE /users/{username}/tokens/{token}', {
              path: { ...path, token: revoked.value?.id ?? 0n },
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
      {isEnding.value && (
        <Confirm
          title={`End all sessions of ${login}?`}
          verb="End all sessions"
          done={`All sessions of ${login} were ended.`}
          change={() => api.call('DELETE /admin/users/{username}/sessions', { path })}
          onClose={() => (isEnding.value = false)}
        >
          <p>
            Every browser of theirs is signed out with its next request. Access tokens stay valid, and they can sign in
            again unless you deactivate the account.
          </p>
        </Confirm>
      )}
    </>
  );
}
