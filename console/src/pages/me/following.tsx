import { useSignal } from '@preact/signals';
import type { Item } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { type List, useList } from '../../data/resource.ts';
import { Card, Person } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { notify } from '../../parts/toast.tsx';
import { UserPicker } from '../../parts/user-picker.tsx';
import { MePage } from './me-page.tsx';

type User = Item<'GET /user/following'>;

export function FollowingPage() {
  const following = useList('GET /user/following', { query: { limit: 50 } });
  const followers = useList('GET /user/followers', { query: { limit: 50 } });
  const isFollowing = useSignal(false);
  const follow = (
    <Button kind="main" icon="plus" onClick={() => (isFollowing.value = true)}>
      Follow a user
    </Button>
  );
  const unfollow = useAction(async (username: string) => {
    await api.call('DELETE /user/following/{username}', { path: { username } });
    const undo = async () => {
      await api.call('PUT /user/following/{username}', { path: { username } });
      following.reload();
    };
    notify({ kind: 'ok', text: `You do not follow ${username} any more.`, undo });
  });
  return (
    <MePage
      title="Following"
      lead="Users and organizations that you follow, and the users who follow you."
      isStale={following.isStale || followers.isStale}
      actions={<span data-key="n">{follow}</span>}
    >
      <div class="columns">
        <Card title="You follow">
          <People
            list={following}
            caption="Whom you follow"
            empty={<Empty text="You do not follow any user yet." action={follow} command="atrium follow add NAME" />}
            onUnfollow={(username) => void unfollow.run(username)}
          />
        </Card>
        <Card title="Your followers">
          <People list={followers} caption="Who follows you" empty={<Empty text="You have no followers yet." />} />
        </Card>
      </div>
      {isFollowing.value && <Follow onClose={() => (isFollowing.value = false)} />}
    </MePage>
  );
}

interface PeopleProps {
  readonly list: List<User>;
  readonly caption: string;
  readonly empty: preact.ComponentChildren;
  readonly onUnfollow?: ((username: string) => void) | undefined;
}

function People({ list, caption, empty, onUnfollow }: PeopleProps) {
  return (
    <Show of={list}>
      {(all) =>
        all.length === 0 ? (
          empty
        ) : (
          <Table
            caption={caption}
            rows={all}
            keyOf={(user) => user.login}
            total={list.total}
            hasMore={list.hasMore}
            onMore={list.loadMore}
            columns={[
              {
                key: 'user',
                title: 'Name',
                cell: (user) => <Person login={user.login} fullName={user.full_name} />,
              },
              ...(onUnfollow
                ? [
                    {
                      key: 'unfollow',
                      title: '',
                      isNumber: true,
                      cell: (user: User) => (
                        <Button label={`Unfollow ${user.login}`} onClick={() => onUnfollow(user.login)}>
                          Unfollow
                        </Button>
                      ),
                    },
                  ]
                : []),
            ]}
          />
        )
      }
    </Show>
  );
}

function Follow({ onClose }: { onClose: () => void }) {
  const username = useSignal('');
  const follow = useAction(async () => {
    await api.call('PUT /user/following/{username}', { path: { username: username.value } });
    notify({ kind: 'ok', text: `You follow ${username.value}.` });
  });
  return (
    <FormDialog
      title="Follow a user"
      verb="Follow"
      action={follow}
      disabledBecause={username.value === '' ? 'Choose a user first.' : undefined}
      onClose={onClose}
    >
      <UserPicker label="Username" value={username} hint="Any part of the name finds people." />
    </FormDialog>
  );
}
