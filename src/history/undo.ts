import type { AppError } from '../base/errors.ts';
import type { AuditAction } from '../changes/audit-actions.ts';
import {
  beforeTheLog,
  doesNotFit,
  itself,
  type LoggedChange,
  listIn,
  noteEnd,
  type RelationOf,
  textIn,
  unknownBefore,
} from './logged-change.ts';
import { ADMINISTRATORS, type PastState } from './past-state.ts';
import { ofAssignment, undoAssign, undoUnassign } from './undo-assign.ts';
import { undoRole } from './undo-role.ts';

interface Undo {
  /** The rows that it changes. Their present state must be known before anything is undone. */
  readonly touches: (change: LoggedChange) => readonly string[];
  readonly undo: (state: PastState, change: LoggedChange, relationOf: RelationOf) => void;
}

/** What an action means for who may do what: nothing, or how to undo it, or that nothing is known before it. */
type Meaning = 'nothing' | 'beginning' | 'wall' | Undo;

const MEANINGS: Readonly<Record<AuditAction, Meaning>> = {
  'user.create': administrator(),
  'user.update': administrator(),
  'user.password': 'nothing',
  'user.password_email': 'nothing',
  'user.password_link': 'nothing',
  'user.password_reset': 'nothing',
  'user.erase': 'nothing',
  'user.hold': 'nothing',
  'user.release': 'nothing',
  'user.view_as': 'nothing',
  'user.delete': administrator(),
  'user.provision': 'nothing',
  'user.deprovision': 'nothing',
  'sign_in.refuse': 'nothing',
  'provider.create': 'nothing',
  'provider.update': 'nothing',
  'provider.delete': 'nothing',
  'provider.groups': 'nothing',
  'linked_account.create': 'nothing',
  'linked_account.allow': 'nothing',
  'linked_account.delete': 'nothing',
  'factor.create': 'nothing',
  'factor.update': 'nothing',
  'factor.delete': 'nothing',
  'factor.reset': 'nothing',
  'factor.reject': 'nothing',
  'recovery_codes.create': 'nothing',
  'recovery_codes.use': 'nothing',
  'organization.create': 'beginning',
  'organization.update': 'nothing',
  'organization.delete': 'nothing',
  'organization.apply': 'nothing',
  'organization.second_factor': 'nothing',
  'name.release': 'nothing',
  'team.create': { touches: itself, undo: undoTeamCreate },
  'team.update': { touches: itself, undo: undoTeamUpdate },
  'team.delete': {
    touches: (change) => [...itself(change), ...listIn(change, 'before', 'roleIds').map((id) => `role:${id}`)],
    undo: undoTeamDelete,
  },
  'team.provision': 'nothing',
  'team.add_member': { touches: itself, undo: undoJoin },
  'team.update_member': 'nothing',
  'team.remove_member': { touches: itself, undo: undoLeave },
  'team.expire_member': { touches: itself, undo: undoLeave },
  'invitation.create': 'nothing',
  'invitation.resend': 'nothing',
  'invitation.accept': 'nothing',
  'invitation.delete': 'nothing',
  'role.create': { touches: itself, undo: undoRole },
  'role.update': { touches: itself, undo: undoRole },
  'role.expire': { touches: itself, undo: undoRole },
  'role.delete': { touches: itself, undo: undoRole },
  'assignment.create': { touches: ofAssignment, undo: undoAssign },
  'assignment.update': 'nothing',
  'assignment.delete': { touches: ofAssignment, undo: undoUnassign },
  'assignment.expire': { touches: ofAssignment, undo: undoUnassign },
  'assignment.end': { touches: ofAssignment, undo: undoUnassign },
  'request.create': 'nothing',
  'request.approve': 'nothing',
  'request.deny': 'nothing',
  'request.cancel': 'nothing',
  'request.expire': 'nothing',
  'request.fail': 'nothing',
  'request.end': 'nothing',
  'request.acknowledge': 'nothing',
  'request_rules.update': 'nothing',
  'webhook.create': 'nothing',
  'webhook.update': 'nothing',
  'webhook.delete': 'nothing',
  'webhook.disable': 'nothing',
  'guardrail.create': 'nothing',
  'guardrail.update': 'nothing',
  'guardrail.delete': 'nothing',
  'review.start': 'nothing',
  'review.keep': 'nothing',
  'review.end': 'nothing',
  'review.close': 'nothing',
  'cluster.create': { touches: itself, undo: undoCreate },
  'cluster.update': { touches: itself, undo: undoMove },
  'cluster.report': 'nothing',
  'cluster.phase': 'nothing',
  'cluster.delete': { touches: itself, undo: undoClusterDelete },
  'contract.create': { touches: itself, undo: undoCreate },
  'contract.update': 'nothing',
  'contract.revoke': 'nothing',
  'contract.reinstate': 'nothing',
  'contract.delete': { touches: itself, undo: undoDelete },
  'robot.create': { touches: itself, undo: undoCreate },
  'robot.update': 'nothing',
  'robot.delete': {
    touches: (change) => [...itself(change), ...tokensOf(change)],
    undo(state, change) {
      undoDelete(state, change);
      for (const token of tokensOf(change)) restore(state, change, token);
    },
  },
  'trust_rule.create': 'nothing',
  'trust_rule.update': 'nothing',
  'trust_rule.delete': 'nothing',
  'trust_rule.use': 'nothing',
  'token.create': { touches: itself, undo: undoCreate },
  'token.delete': { touches: itself, undo: undoDelete },
  'token.rotate': 'nothing',
  'token.expire': { touches: itself, undo: undoTokenEnd },
  'token_policy.update': 'nothing',
  'device.approve': 'nothing',
  'device.deny': 'nothing',
  'session.end': 'nothing',
  'session.end_all': 'nothing',
  'session.end_by_provider': 'nothing',
  'credential.create': 'nothing',
  'credential.update': 'nothing',
  'credential.delete': 'nothing',
  'bus_user.issue': 'nothing',
  'subscription.create': 'nothing',
  'subscription.update': 'nothing',
  'installer.create': 'nothing',
  'installer.bind': 'beginning',
  'installer.link': 'nothing',
  'installer.revoke': 'nothing',
  'delivery.redeliver': 'nothing',
  'secret.add': 'nothing',
  'secret.retire': 'nothing',
  'access.denied': 'nothing',
  'audit.archive': 'nothing',
  'audit.restore': 'nothing',
  'deployment.restore': 'wall',
};

const KNOWN = Object.entries(MEANINGS) as [AuditAction, Meaning][];
const IN_PLATFORM = new Set<AuditAction>(['user.create', 'user.update', 'user.delete', 'deployment.restore']);
/** Everything that changes who may do what, or that nothing is known before. */
const CHANGING = KNOWN.filter(([, meaning]) => meaning !== 'nothing').map(([action]) => action);
export const CHANGING_ACTIONS = CHANGING.filter((action) => !IN_PLATFORM.has(action));
/** Those in the chain of the deployment, which are about its administrators and its database. */
export const PLATFORM_ACTIONS = CHANGING.filter((action) => IN_PLATFORM.has(action));

/** Nothing is known before these. */
export const WALLS = KNOWN.flatMap(([action, meaning]) =>
  meaning === 'beginning' || meaning === 'wall' ? [action] : [],
);

/** The sources that are undone, such as `team:4`. */
export function touchedBy(changes: readonly LoggedChange[]): Set<string> {
  return new Set(
    changes.flatMap((change) => {
      const meaning = meaningOf(change);
      return typeof meaning === 'object' ? meaning.touches(change) : [];
    }),
  );
}

/** Undoes one change. Those after it are undone already, so the state must be what the change left. */
export function undo(state: PastState, change: LoggedChange, relationOf: RelationOf): void {
  const meaning = meaningOf(change);
  if (meaning === 'nothing') return;
  if (meaning === 'beginning' || meaning === 'wall') throw wallBefore(change);
  if (meaning === undefined) throw unknownBefore(change, `this release does not know the action ${change.action}`);
  meaning.undo(state, change, relationOf);
}

/** Why nothing is known before this change, whatever is asked. */
export function wallBefore(change: LoggedChange): AppError {
  if (meaningOf(change) === 'beginning') return beforeTheLog(change.at);
  return unknownBefore(change, 'the deployment was restored from a backup');
}

function meaningOf({ action }: LoggedChange): Meaning | undefined {
  return (MEANINGS as Readonly<Record<string, Meaning>>)[action];
}

/** Users who are not administrators have no tuples of their own. */
function administrator(): Undo {
  return {
    touches: () => [ADMINISTRATORS],
    undo({ administrators }, change) {
      const [was, is] = [change.before.isAdmin === true, change.after.isAdmin === true];
      if (was === is) return;
      if (administrators.has(change.objectId) !== is) throw doesNotFit(change);
      if (was) administrators.add(change.objectId);
      else administrators.delete(change.objectId);
    },
  };
}

function undoTeamCreate({ teams }: PastState, change: LoggedChange): void {
  const team = teams.get(change.objectId);
  if (team?.permission !== change.after.permission || team?.members.size !== 0) throw doesNotFit(change);
  teams.delete(change.objectId);
}

function undoTeamUpdate({ teams }: PastState, change: LoggedChange): void {
  const team = teams.get(change.objectId);
  if (team === undefined || team.permission !== change.after.permission) throw doesNotFit(change);
  teams.set(change.objectId, { ...team, permission: textIn(change, 'before', 'permission') });
}

function undoTeamDelete({ teams, roles }: PastState, change: LoggedChange): void {
  const { objectId: id } = change;
  if (change.before.roleIds === undefined) {
    throw unknownBefore(change, 'the entry about the deletion of a team does not tell which roles the team had');
  }
  if (teams.has(id)) throw doesNotFit(change);
  const members = new Set(listIn(change, 'before', 'members'));
  // Only teams that are not built in can be deleted.
  teams.set(id, { permission: textIn(change, 'before', 'permission'), isBuiltIn: false, members });
  for (const roleId of listIn(change, 'before', 'roleIds')) {
    const role = roles.get(roleId);
    if (role === undefined || role.teams.has(id)) throw doesNotFit(change);
    role.teams.add(id);
  }
}

function undoJoin({ teams, ends }: PastState, change: LoggedChange): void {
  const user = textIn(change, 'after', 'userId');
  if (!teams.get(change.objectId)?.members.delete(user)) throw doesNotFit(change);
  ends.delete(`team:${change.objectId} ${user}`);
}

function undoLeave({ teams, ends }: PastState, change: LoggedChange): void {
  const [members, user] = [teams.get(change.objectId)?.members, textIn(change, 'before', 'userId')];
  if (members === undefined || members.has(user)) throw doesNotFit(change);
  members.add(user);
  noteEnd(ends, `team:${change.objectId} ${user}`, change.before.expiresAt);
}

/** Who reaches a cluster depends on its set. */
function undoMove({ sets, setIds, resources }: PastState, change: LoggedChange): void {
  const { objectId: id, before } = change;
  if (!itself(change).every((source) => resources.has(source))) throw doesNotFit(change);
  putInSet(sets, setIds, id, before.clusterSetName);
}

function undoClusterDelete(state: PastState, change: LoggedChange): void {
  undoDelete(state, change);
  putInSet(state.sets, state.setIds, change.objectId, change.before.clusterSetName);
}

function putInSet(sets: PastState['sets'], setIds: PastState['setIds'], cluster: string, name: unknown): void {
  const set = typeof name === 'string' ? setIds.get(name) : undefined;
  if (set === undefined) sets.delete(cluster);
  else sets.set(cluster, set);
}

function undoCreate({ resources }: PastState, change: LoggedChange): void {
  for (const source of itself(change)) if (!resources.delete(source)) throw doesNotFit(change);
}

function undoDelete(state: PastState, change: LoggedChange): void {
  for (const source of itself(change)) restore(state, change, source);
}

function undoTokenEnd(state: PastState, change: LoggedChange): void {
  undoDelete(state, change);
  for (const source of itself(change)) noteEnd(state.ends, source, change.before.expiresAt);
}

function restore(state: PastState, change: LoggedChange, source: string): void {
  if (state.resources.has(source)) throw doesNotFit(change);
  state.resources.add(source);
}

function tokensOf(change: LoggedChange): string[] {
  const { tokens, tokenIds } = change.before;
  if (tokenIds === undefined && Array.isArray(tokens) && tokens.length > 0) {
    throw unknownBefore(change, 'the entry about the deletion of a robot does not tell which tokens it had');
  }
  return listIn(change, 'before', 'tokenIds').map((id) => `token:${id}`);
}
