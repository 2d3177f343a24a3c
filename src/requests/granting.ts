import type { NewAssignment } from '../assignments/assignments.ts';
import type { TeamGrant } from '../authz/escalation.ts';
import type { Actor } from '../changes/audit-entry.ts';

/** Who makes the change of a request, and what it is. */
export interface Granting {
  readonly actor: Actor;
  /** For a role that is assigned. */
  readonly assignment?: NewAssignment;
  /** For a team that is joined: throws if the actor may not give what comes with it, or if it is not what was approved. */
  readonly rejectTeam?: (grant: TeamGrant) => void;
}
