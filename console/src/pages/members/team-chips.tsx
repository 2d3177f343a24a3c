import './members.css';
import { orgPath } from '../../data/org.ts';

export interface MemberTeam {
  readonly id: bigint;
  readonly name: string;
  readonly permission: string;
  readonly expires_at?: string | undefined;
}

const SHOWN = 4;

/** The teams of a member, each a link; of many, the first ones and how many more there are. */
export function TeamChips({ org, teams }: { org: string; teams: readonly MemberTeam[] }) {
  const rest = teams.slice(SHOWN);
  return (
    <span class="member-teams">
      {teams.slice(0, SHOWN).map((team) => (
        <a
          key={String(team.id)}
          class={`chip ${team.permission === 'owner' ? 'mark' : ''}`}
          href={orgPath(org, `/teams/${team.id}`)}
        >
          <bdi class="cut">{team.name}</bdi>
        </a>
      ))}
      {rest.length > 0 && (
        <span class="quiet small" title={rest.map(({ name }) => name).join(', ')}>{`and ${rest.length} more`}</span>
      )}
    </span>
  );
}
