import { useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { api } from '../../data/api.ts';
import { useResource } from '../../data/resource.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';

type Link = Answer<'GET /admin/users/{username}/linked_accounts'>[number];

/** The accounts at providers that are linked to a user. Few come for this, so it waits. */
export function UserLinks({ login }: { login: string }) {
  const isOpen = useSignal(false);
  if (isOpen.value) return <OpenLinks login={login} />;
  return (
    <Card title="Linked accounts" actions={<Button onClick={() => (isOpen.value = true)}>Show linked accounts</Button>}>
      <p class="quiet">Accounts at providers that they sign in with, and what to do if one was made again there.</p>
    </Card>
  );
}

function OpenLinks({ login }: { login: string }) {
  const path = { username: login };
  const links = useResource('GET /admin/users/{username}/linked_accounts', { path });
  const unlinked = useSignal<Link | undefined>(undefined);
  const isAllowing = useSignal(false);
  return (
    <Card
      title="Linked accounts"
      actions={<Button onClick={() => (isAllowing.value = true)}>Link next sign-in</Button>}
    >
      <Show of={links} rows={2}>
        {(all) =>
          all.length === 0 ? (
            <p class="quiet">None.</p>
          ) : (
            <Table
              caption="Linked accounts"
              rows={all}
              keyOf={({ id }) => String(id)}
              columns={[
                { key: 'provider', title: 'Provider', cell: (one) => <bdi>{one.provider_display_name}</bdi> },
                { key: 'subject', title: 'Subject', cell: (one) => <code>{one.subject}</code> },
                { key: 'email', title: 'Email', cell: (one) => <bdi>{one.email}</bdi> },
                { key: 'used', title: 'Last used', cell: (one) => <When at={one.last_used_at} />, isMinor: true },
                {
                  key: 'unlink',
                  title: '',
                  cell: (one) => (
                    <Button label={`Unlink ${one.provider_display_name}`} onClick={() => (unlinked.value = one)}>
                      Unlink
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Show>
      {unlinked.value && (
        <Confirm
          title={`Unlink ${unlinked.value.provider_display_name} from ${login}?`}
          verb="Unlink account"
          done="The account was unlinked."
          change={() =>
            api.call('DELETE /admin/users/{username}/linked_accounts/{id}', {
              path: { ...path, id: unlinked.value?.id ?? 0n },
            })
          }
          onClose={() => (unlinked.value = undefined)}
        >
          <p>
            Sessions that were opened with it end. If they have no other way to sign in, the next sign-in with their
            primary address is linked without a question, for seven days.
          </p>
        </Confirm>
      )}
      {isAllowing.value && (
        <Confirm
          title={`Link the next sign-in of ${login} without asking?`}
          verb="Link next sign-in"
          done={`The next sign-in with the address of ${login} is linked.`}
          change={() => api.call('PUT /admin/users/{username}/link_permission', { path })}
          onClose={() => (isAllowing.value = false)}
        >
          <p>
            For a user who cannot sign in to confirm it. For seven days, the first person who signs in with a provider
            that tells the primary address of this account gets it.
          </p>
        </Confirm>
      )}
    </Card>
  );
}
