import { api } from '../../data/api.ts';
import { useOrg, type WhyNotQuestion } from '../../data/org.ts';
import { me } from '../../data/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Impact } from '../../parts/impact.tsx';
import type { MemberTeam } from './team-chips.tsx';

interface Removal {
  readonly whyNot: (login: string) => WhyNotQuestion | undefined;
  /** Why the server would reject the removal, although the caller may remove members. */
  readonly problem: (login: string, teams: readonly MemberTeam[]) => string | undefined;
}

/** Whether the caller may remove a member from the organization; members may leave, but for the last owner. */
export function useRemoval(): Removal {
  const { may, whyNot } = useOrg();
  const isMe = (login: string) => login === me.value?.login;
  return {
    whyNot: (login) => (isMe(login) ? undefined : whyNot('can_remove_member', 'remove people from the organization')),
    problem: (login, teams) => {
      const isOwner = teams.some(({ permission }) => permission === 'owner');
      if (isMe(login)) {
        if (may('can_leave') !== false) return undefined;
        return isOwner
          ? 'You are the last owner. Make another user an owner first.'
          : 'You are in no team of the organization.';
      }
      return isOwner && may('can_delete') === false ? 'Only an owner can remove an owner.' : undefined;
    },
  };
}

/** To each of the teams, until when they were in it. */
async function addAgain(username: string, teams: readonly MemberTeam[]): Promise<void> {
  for (const { id, expires_at } of teams) {
    await api.call('PUT /teams/{id}/members/{username}', { path: { id, username }, body: { expires_at } });
  }
}

interface RemoveMemberProps {
  readonly org: string;
  readonly login: string;
  readonly teams: readonly MemberTeam[];
  readonly onClose: () => void;
  readonly onDone?: (() => void) | undefined;
}

/** Removes a member, or oneself, from all teams of the organization. */
export function RemoveMember({ org, login, teams, onClose, onDone }: RemoveMemberProps) {
  const isMe = login === me.value?.login;
  const names = teams.map(({ name }) => name).join(', ');
  return (
    <Confirm
      title={isMe ? `Leave ${org}?` : `Remove ${login} from ${org}?`}
      verb={isMe ? 'Leave organization' : 'Remove from organization'}
      done={isMe ? `You left ${org}.` : `${login} was removed from ${org}.`}
      change={() => api.call('DELETE /orgs/{org}/members/{username}', { path: { org, username: login } })}
      undo={isMe ? undefined : () => addAgain(login, teams)}
      onClose={onClose}
      onDone={onDone}
    >
      <p>
        {isMe ? 'You leave' : 'They leave'} {teams.length === 1 ? 'the team' : 'the teams'} <bdi>{names}</bdi>, and{' '}
        {isMe ? 'you lose' : 'lose'} everything that the organization grants through{' '}
        {teams.length === 1 ? 'it' : 'them'}. What was created stays.
      </p>
      {isMe && <p>To come back, another user has to add you again.</p>}
      <Impact org={org} changes={[{ action: 'member.remove', username: login }]} />
    </Confirm>
  );
}
