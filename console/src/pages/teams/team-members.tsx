import { useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { makeChanges } from '../../data/make-change.ts';
import { orgPath, usePageObject } from '../../data/org.ts';
import { useList } from '../../data/resource.ts';
import { notifyUndoable } from '../../data/undo.ts';
import { Card, Person } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { chosenExpiry, ExpiryField, previewedExpiry, Renewal, useExpiry } from '../../parts/expiry.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Impact } from '../../parts/impact.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { UserPicker } from '../../parts/user-picker.tsx';

type Team = Answer<'GET /teams/{id}'>;

/** Asked for together with the team, not after it. */
export const useMembers = (id: string) => useList('GET /teams/{id}/members', { path: { id }, query: { limit: 50 } });

export function TeamMembers({ org, team }: { org: string; team: Team }) {
  const { whyNot } = usePageObject();
  const members = useMembers(String(team.id));
  const login = useSignal('');
  const isAdding = useSignal(false);
  const removed = useSignal<{ readonly login: string; readonly expires_at?: string | undefined } | undefined>(
    undefined,
  );
  const path = (username: string) => ({ path: { id: team.id, username } });
  const expiry = useExpiry();
  const undoOf = (one: { readonly login: string; readonly expires_at?: string | undefined }) => () =>
    put(one.login, one.expires_at);
  const put = (username: string, expires_at: string | null | undefined) =>
    api.call('PUT /teams/{id}/members/{username}', { ...path(username), body: { expires_at } });
  const add = useAction(async () => {
    const [id, username, expires_at] = [team.id, login.value, chosenExpiry(expiry) ?? undefined];
    const takeBack = await makeChanges(org, [{ action: 'team.add_member', id, username, expires_at }]);
    notifyUndoable(`${username} was added to ${team.name}.`, takeBack);
    login.value = '';
    expiry.hours.value = '';
  });
  return (
    <Card
      title="Members"
      actions={
        <span data-key="n">
          <Button
            icon="plus"
            whyNot={whyNot('can_add_member', 'add members to this team')}
            onClick={() => (isAdding.value = true)}
          >
            Add member
          </Button>
        </span>
      }
    >
      <Show of={members}>
        {(all) =>
          all.length === 0 ? (
            <Empty text="This team has no members yet." command={`atrium team add ${team.name} USER --org ${org}`} />
          ) : (
            <Table
              caption="Members of the team"
              rows={all}
              keyOf={(person) => person.login}
              hrefOf={(person) => orgPath(org, `/members/${encodeURIComponent(person.login)}`)}
              total={members.total}
              hasMore={members.hasMore}
              onMore={members.loadMore}
              columns={[
                {
                  key: 'name',
                  title: 'Name',
                  cell: (person) => <Person login={person.login} fullName={person.full_name} />,
                },
                ...(all.some(({ expires_at }) => expires_at)
                  ? [
                      {
                        key: 'expires',
                        title: 'Expires',
                        cell: (person: (typeof all)[number]) => (
                          <Renewal
                            at={person.expires_at}
                            what={`the membership of ${person.login}`}
                            whyNot={whyNot('can_add_member', 'renew memberships of this team')}
                            change={(expiresAt) => put(person.login, expiresAt)}
                            org={org}
                            planned={{ action: 'team.add_member', id: team.id, username: person.login }}
                          />
                        ),
                      },
                    ]
                  : []),
                {
                  key: 'remove',
                  title: '',
                  isNumber: true,
                  cell: (person) => (
                    <Button
                      label={`Remove ${person.login}`}
                      whyNot={whyNot('can_remove_member', 'remove members from this team')}
                      onClick={() => (removed.value = { login: person.login, expires_at: person.expires_at })}
                    >
                      Remove
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Show>
      {isAdding.value && (
        <FormDialog
          title={`Add a member to ${team.name}`}
          verb="Add member"
          action={add}
          fields={['expires_at']}
          onClose={() => (isAdding.value = false)}
        >
          <UserPicker label="User" value={login} hint="Only people with an account can be added." />
          <ExpiryField choice={expiry} error={add.fieldError('expires_at')} />
          <Impact
            org={org}
            changes={
              login.value === ''
                ? undefined
                : [{ action: 'team.add_member', id: team.id, username: login.value, ...previewedExpiry(expiry) }]
            }
            hint="Choose a user, and this shows what they gain."
          />
        </FormDialog>
      )}
      {removed.value !== undefined && (
        <Confirm
          title={`Remove ${removed.value.login} from ${team.name}?`}
          verb="Remove"
          done={`${removed.value.login} was removed from ${team.name}.`}
          change={() => api.call('DELETE /teams/{id}/members/{username}', path(removed.value?.login ?? ''))}
          undo={undoOf(removed.value)}
          onClose={() => (removed.value = undefined)}
        >
          <p>They lose what this team grants, unless another team grants it too.</p>
          <Impact org={org} changes={[{ action: 'team.remove_member', id: team.id, username: removed.value.login }]} />
        </Confirm>
      )}
    </Card>
  );
}
