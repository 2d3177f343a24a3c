import type { Actor } from '../directory/audit.ts';
import type { Listed, Slice } from '../directory/listed.ts';
import type { TeamDetails } from '../directory/profile.ts';
import type { NewTeam, TeamCondition, TeamInput, Teams } from '../directory/teams.ts';
import { AppError } from '../errors.ts';
import type { HoldingsOf } from './holdings.ts';

export interface TeamReads {
  /** The owners first, then by name; those whose name holds the text. */
  list(organizationId: bigint, text: string, slice: Slice): Promise<Listed<TeamDetails>>;
  get(id: bigint): Promise<TeamDetails | undefined>;
}

/** The precondition of a request. */
type Unchanged = (current: TeamDetails) => void;

export type TeamRegister = ReturnType<typeof createTeamRegister>;

/** Teams as members deal with them: nobody makes one that may do more than they do themselves. */
export function createTeamRegister(reads: TeamReads, teams: Teams, holdingsOf: HoldingsOf) {
  return { list: reads.list, get, create, update, remove: teams.remove };

  async function get(id: bigint): Promise<TeamDetails> {
    const team = await reads.get(id);
    if (!team) throw new AppError('notFound', 'team does not exist');
    return team;
  }

  async function create(team: NewTeam, actor: Actor): Promise<TeamDetails> {
    const { refuseMore } = await holdingsOf(actor.id, team.organizationId);
    refuseMore({ permission: team.permission, roles: [] });
    return await teams.create(team, actor);
  }

  async function update(
    organizationId: bigint,
    id: bigint,
    input: TeamInput,
    unchanged: Unchanged,
    actor: Actor,
  ): Promise<TeamDetails> {
    const { refuseMore } = await holdingsOf(actor.id, organizationId);
    const require: TeamCondition = (current, next) => {
      unchanged(current);
      if (next && next.permission !== current.permission) refuseMore({ permission: next.permission, roles: [] });
    };
    return await teams.update(id, input, require, actor);
  }
}
