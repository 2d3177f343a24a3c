import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { pageData } from '../../data/page-data.ts';
import { useResource } from '../../data/resource.ts';
import { me } from '../../data/session.ts';
import { startViewing, viewing } from '../../data/view-as.ts';
import { Avatar, Card, Facts, WebLink } from '../../parts/bits.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Page, ShowPage } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { AdminOnly } from './admin-only.tsx';
import { DeleteUser } from './delete-user.tsx';
import { EditUser, SetPassword } from './edit-user.tsx';
import { PasswordLink } from './password-link.tsx';
import { UserFactors } from './user-factors.tsx';
import { UserFlags } from './user-flags.tsx';
import { UserLinks } from './user-links.tsx';
import { UserOrgs } from './user-orgs.tsx';
import { UserPrivacy } from './user-privacy.tsx';
import { UserSignIns } from './user-sign-ins.tsx';
import { type User, UserChips } from './user-state.tsx';
import './admin.css';

export function AdminUserPage() {
  const login = useRoute().params.login ?? '';
  return (
    <AdminOnly title={login}>
      <Account key={login} login={login} />
    </AdminOnly>
  );
}

function Account({ login }: { login: string }) {
  const user = useResource('GET /users/{username}', { path: { username: login } });
  return (
    <ShowPage title={login} within="Administration" of={user}>
      {(found) => <AccountDetails user={found} etag={user.etag} isStale={user.isStale} />}
    </ShowPage>
  );
}

function AccountDetails({ user, etag, isStale }: { user: User; etag: string | undefined; isStale: boolean }) {
  const { route } = useLocation();
  const { login } = user;
  const isMe = login === me.value?.login;
  const teams = useResource('GET /admin/users/{username}/teams', { path: { username: login } });
  const dialog = useSignal<'edit' | 'password' | 'link' | 'delete' | undefined>(undefined);
  const close = () => (dialog.value = undefined);
  return (
    <Page
      title={user.full_name || login}
      within="People"
      lead={isMe ? 'This is you.' : undefined}
      isStale={isStale}
      actions={
        <>
          {!isMe && <ViewAs user={user} />}
          <span data-key="e">
            <Button onClick={() => (dialog.value = 'edit')}>Edit person</Button>
          </span>
          {pageData.features.passwords && isMe && <LinkButton href="/me/password">Change password</LinkButton>}
          {pageData.features.passwords && !isMe && (
            <>
              <Button onClick={() => (dialog.value = 'password')}>Set password</Button>
              <Button onClick={() => (dialog.value = 'link')}>Password link</Button>
            </>
          )}
          <Button
            kind="danger"
            disabledBecause={isMe ? 'You cannot delete yourself. Another site administrator can.' : undefined}
            onClick={() => (dialog.value = 'delete')}
          >
            Delete person
          </Button>
        </>
      }
    >
      <Card>
        <div class="account-face">
          <Avatar url={user.avatar_url} size={48} />
          <div class="grow stack tight">
            <UserChips user={user} />
            <Facts
              of={[
                { name: 'Username', value: <bdi>{login}</bdi> },
                { name: 'Email', value: <bdi>{user.email}</bdi> },
                { name: 'Last sign-in', value: <When at={user.last_login} /> },
                { name: 'Created', value: <When at={user.created} /> },
                ...(user.location ? [{ name: 'Location', value: <bdi>{user.location}</bdi> }] : []),
                ...(user.website ? [{ name: 'Website', value: <WebLink url={user.website} /> }] : []),
              ]}
            />
            {user.description && (
              <p>
                <bdi>{user.description}</bdi>
              </p>
            )}
          </div>
        </div>
        <p class="line small">
          <a href={`/admin/audit?${new URLSearchParams({ actor: login })}`}>What {isMe ? 'you' : 'they'} changed</a>
          <a href={`/admin/audit?${new URLSearchParams({ object: `user:${user.id}` })}`}>Changes of this account</a>
        </p>
      </Card>
      <UserFlags user={user} etag={etag} />
      <UserOrgs teams={teams} login={login} />
      {isMe ? (
        <Card title="Tokens and sessions">
          <p>
            Yours are with your account: <a href="/me/security">second factors</a>, <a href="/me/tokens">tokens</a> and{' '}
            <a href="/me/sessions">sessions</a>.
          </p>
        </Card>
      ) : (
        <>
          <UserFactors login={login} />
          <UserLinks login={login} />
          <UserSignIns login={login} />
          <UserPrivacy user={user} teams={teams.data ?? []} />
        </>
      )}
      {dialog.value === 'edit' && <EditUser user={user} etag={etag} onClose={close} />}
      {dialog.value === 'password' && <SetPassword login={login} onClose={close} />}
      {dialog.value === 'link' && <PasswordLink login={login} onClose={close} />}
      {dialog.value === 'delete' && (
        <DeleteUser login={login} teams={teams.data ?? []} onClose={close} onDone={() => route('/admin/users')} />
      )}
    </Page>
  );
}

/** The server records that it begins. From then on, every request is made in their name. */
function ViewAs({ user: { login, active, prohibit_login: isBarred } }: { user: User }) {
  const view = useAction(async () => {
    await api.call('POST /admin/users/{username}/view-as', { path: { username: login } });
    startViewing({ name: login, by: me.value?.login ?? '' });
  });
  return (
    <>
      <Fault error={view.error} />
      <Button
        isBusy={view.isRunning}
        busyLabel="Opening"
        disabledBecause={whyNotView(!active || isBarred)}
        onClick={() => void view.run()}
      >
        View as
      </Button>
    </>
  );
}

function whyNotView(isShutOut: boolean): string | undefined {
  if (viewing.value !== undefined) return `Stop viewing as ${viewing.value.name} first.`;
  return isShutOut ? 'They cannot sign in, so there is nothing that they see.' : undefined;
}
