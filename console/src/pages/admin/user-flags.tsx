import { useSignal } from '@preact/signals';
import { api } from '../../data/api.ts';
import { useResource } from '../../data/resource.ts';
import { me } from '../../data/session.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import type { User } from './user-state.tsx';

interface Flag {
  readonly key: 'active' | 'prohibit_login' | 'admin';
  readonly title: string;
  readonly now: string;
  readonly verb: string;
  readonly next: boolean;
  readonly done: string;
  readonly consequence: string;
  /** Takes away the administrator that the deployment needs, if it is the last one. */
  readonly takesAdmin: boolean;
  readonly isDanger: boolean;
}

const LAST = 'You are the last active site administrator. Make another user one first.';

/** Whether a user can sign in, and whether they administer the deployment. */
export function UserFlags({ user, etag }: { user: User; etag: string | undefined }) {
  const asked = useSignal<Flag | undefined>(undefined);
  const isLast = useIsLastAdministrator(user);
  const flag = asked.value;
  return (
    <Card title="Sign-in and administration">
      <ul class="account-flags">
        {flagsOf(user).map((one) => (
          <li key={one.key}>
            <div class="grow">
              <span class="strong">{one.title}</span>
              <span class="quiet small block">{one.now}</span>
            </div>
            <Button
              kind={one.isDanger ? 'danger' : 'plain'}
              disabledBecause={one.takesAdmin && isLast ? LAST : undefined}
              onClick={() => (asked.value = one)}
            >
              {one.verb}
            </Button>
          </li>
        ))}
      </ul>
      {flag && (
        <Confirm
          title={`${flag.verb}: ${user.login}?`}
          verb={flag.verb}
          done={flag.done}
          change={() =>
            api.call('PATCH /admin/users/{username}', {
              path: { username: user.login },
              body: { [flag.key]: flag.next },
              ifMatch: etag,
            })
          }
          undo={
            user.login === me.value?.login && flag.takesAdmin
              ? undefined
              : () =>
                  api.call('PATCH /admin/users/{username}', {
                    path: { username: user.login },
                    body: { [flag.key]: !flag.next },
                  })
          }
          onClose={() => (asked.value = undefined)}
        >
          <p>{flag.consequence}</p>
          {user.login === me.value?.login && flag.takesAdmin && (
            <p class="note warn">This is your own account: you lose this page with it.</p>
          )}
        </Confirm>
      )}
    </Card>
  );
}

/** The viewer of this page is an active administrator, so only they themselves can be the last one. */
function useIsLastAdministrator(user: User): boolean {
  const isMe = user.login === me.value?.login;
  const { data } = useResource(isMe ? 'GET /admin/users' : undefined, { query: { state: 'admin', limit: 50 } });
  return data !== undefined && !data.some((one) => one.login !== user.login && one.active && !one.prohibit_login);
}

function flagsOf({ login, active = true, prohibit_login: isProhibited, is_admin: isAdmin }: User): readonly Flag[] {
  return [
    {
      key: 'active',
      title: active ? 'The account is active' : 'The account is deactivated',
      now: active ? 'Requests are answered as usual.' : 'Every request is rejected: sessions, tokens and passwords.',
      verb: active ? 'Deactivate' : 'Activate',
      next: !active,
      done: `${login} was ${active ? 'deactivated' : 'activated'}.`,
      consequence: active
        ? 'From the next request on, every request of theirs is rejected: sessions, tokens and their password. They stay in their teams, and nothing is deleted.'
        : 'They can sign in again, and their tokens work again. They hold what their teams grant.',
      takesAdmin: isAdmin && active,
      isDanger: active,
    },
    {
      key: 'prohibit_login',
      title: isProhibited ? 'Sign-in is prohibited' : 'Sign-in is allowed',
      now: isProhibited
        ? 'They are told to contact a site administrator.'
        : 'They sign in with their password or a token.',
      verb: isProhibited ? 'Allow sign-in' : 'Prohibit sign-in',
      next: !isProhibited,
      done: isProhibited ? `${login} may sign in again.` : `${login} may no longer sign in.`,
      consequence: isProhibited
        ? 'They can sign in again, and their tokens work again.'
        : 'Their requests are rejected from the next one on, and they are told to contact a site administrator.',
      takesAdmin: isAdmin && !isProhibited,
      isDanger: !isProhibited,
    },
    {
      key: 'admin',
      title: isAdmin ? 'Site administrator' : 'Not a site administrator',
      now: isAdmin
        ? 'Sees and changes everything in this deployment.'
        : 'Holds only what teams and roles of organizations grant.',
      verb: isAdmin ? 'Remove as administrator' : 'Make administrator',
      next: !isAdmin,
      done: isAdmin ? `${login} is no longer a site administrator.` : `${login} is a site administrator now.`,
      consequence: isAdmin
        ? 'They keep what the teams of their organizations grant, and lose everything else.'
        : 'They can see and change everything: all people, all organizations, the whole audit log.',
      takesAdmin: isAdmin,
      isDanger: isAdmin,
    },
  ];
}
