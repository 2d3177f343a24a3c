import { type Signal, useSignal } from '@preact/signals';
import { api } from '../../data/api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CheckField } from '../../parts/field.tsx';
import type { Teams } from './user-orgs.tsx';

interface DeleteUserProps {
  readonly login: string;
  readonly teams: Teams;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Deletes a user with everything they own. Organizations keep an owner, or are left to the site administrators. */
export function DeleteUser({ login, teams, onClose, onDone }: DeleteUserProps) {
  const isLeaving = useSignal(false);
  const orgs = new Set(teams.map(({ organization }) => organization.name));
  return (
    <Confirm
      title={`Delete ${login}?`}
      verb="Delete person"
      typedName={login}
      done={`${login} was deleted.`}
      change={() =>
        api.call('DELETE /admin/users/{username}', {
          path: { username: login },
          query: isLeaving.value ? { orphan: 'true' } : {},
        })
      }
      onClose={onClose}
      onDone={onDone}
    >
      <p>
        Their tokens, sessions, credentials, own clusters and orders are deleted with the account
        {orgs.size > 0 &&
          `, and they leave ${orgs.size === 1 ? 'the organization' : 'the organizations'} ${list(orgs)}`}
        . The audit log stays. This cannot be undone; to keep everything, deactivate the account instead.
      </p>
      <LeaveOrganizations teams={teams} isLeaving={isLeaving} />
    </Confirm>
  );
}

/** Whether an organization whose last owner goes may be without one. */
export function LeaveOrganizations({ teams, isLeaving }: { teams: Teams; isLeaving: Signal<boolean> }) {
  const owned = teams.filter(({ permission }) => permission === 'owner').map(({ organization }) => organization.name);
  if (owned.length === 0) return null;
  return (
    <>
      <p>
        They own {list(owned)}. An organization whose last owner they are must get another owner first, or be left to
        the site administrators.
      </p>
      <CheckField
        label="Leave organizations without an owner to the site administrators"
        isChecked={isLeaving.value}
        onChange={(isChecked) => (isLeaving.value = isChecked)}
      />
    </>
  );
}

function list(names: Iterable<string>): string {
  return new Intl.ListFormat('en').format(names);
}
