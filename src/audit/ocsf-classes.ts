import type { AuditAction } from '../changes/audit-actions.ts';

/** The release of the schema that the events follow. */
export const OCSF_VERSION = '1.8.0';

/** What an event of OCSF is: its class, and what happened in the words of that class. */
export interface OcsfClass {
  readonly classUid: 3001 | 3002 | 3004 | 3005 | 3006 | 6003;
  readonly activity: number;
  /** Only what was tried in vain. */
  readonly isFailure?: true;
}

export const OCSF_NAMES: Readonly<
  Record<OcsfClass['classUid'], { readonly name: string; readonly activities: Readonly<Record<number, string>> }>
> = {
  3001: {
    name: 'Account Change',
    activities: {
      1: 'Create',
      2: 'Enable',
      3: 'Password Change',
      5: 'Disable',
      6: 'Delete',
      10: 'MFA Factor Enable',
      11: 'MFA Factor Disable',
    },
  },
  3002: { name: 'Authentication', activities: { 1: 'Logon', 2: 'Logoff' } },
  3004: { name: 'Entity Management', activities: { 1: 'Create', 3: 'Update', 4: 'Delete' } },
  3005: { name: 'User Access Management', activities: { 3: 'Assign Role', 4: 'Remove Role' } },
  3006: {
    name: 'Group Management',
    activities: {
      3: 'Add User',
      4: 'Remove User',
      5: 'Delete',
      6: 'Create',
      9: 'Update',
      12: 'Assign Role',
      13: 'Remove Role',
    },
  },
  6003: { name: 'API Activity', activities: {} },
};

/** Actions whose class does not follow from their verb. */
const CLASSES: Readonly<Partial<Record<AuditAction, OcsfClass>>> = {
  'user.create': { classUid: 3001, activity: 1 },
  'user.delete': { classUid: 3001, activity: 6 },
  'user.password': { classUid: 3001, activity: 3 },
  'user.password_reset': { classUid: 3001, activity: 3 },
  'factor.create': { classUid: 3001, activity: 10 },
  'factor.delete': { classUid: 3001, activity: 11 },
  'factor.reset': { classUid: 3001, activity: 11 },
  'sign_in.refuse': { classUid: 3002, activity: 1, isFailure: true },
  'factor.reject': { classUid: 3002, activity: 1, isFailure: true },
  'recovery_codes.use': { classUid: 3002, activity: 1 },
  'session.end': { classUid: 3002, activity: 2 },
  'session.end_all': { classUid: 3002, activity: 2 },
  'session.end_by_provider': { classUid: 3002, activity: 2 },
  'team.create': { classUid: 3006, activity: 6 },
  'team.update': { classUid: 3006, activity: 9 },
  'team.delete': { classUid: 3006, activity: 5 },
  'team.add_member': { classUid: 3006, activity: 3 },
  'team.remove_member': { classUid: 3006, activity: 4 },
  'team.expire_member': { classUid: 3006, activity: 4 },
  'request.approve': { classUid: 3005, activity: 3 },
  'request.end': { classUid: 3005, activity: 4 },
  'access.denied': { classUid: 6003, activity: 99, isFailure: true },
};
const ASSIGNED: Readonly<Record<string, 'assigned' | 'removed'>> = {
  'assignment.create': 'assigned',
  'assignment.delete': 'removed',
  'assignment.expire': 'removed',
  'assignment.end': 'removed',
};
const BY_VERB: Readonly<Record<string, OcsfClass>> = {
  create: { classUid: 3004, activity: 1 },
  update: { classUid: 3004, activity: 3 },
  delete: { classUid: 3004, activity: 4 },
};
const OTHER: OcsfClass = { classUid: 6003, activity: 99 };

type State = Readonly<Record<string, unknown>>;

/** An entry of any release has a class. Some actions say only with their states what happened. */
export function ocsfClassOf(action: string, before: State, after: State): OcsfClass {
  if (action === 'user.update' && isUsable(before) !== isUsable(after)) {
    return { classUid: 3001, activity: isUsable(after) ? 2 : 5 };
  }
  const change = ASSIGNED[action];
  if (change) {
    const to = (after.to ?? before.to) as State | undefined;
    if (to?.type === 'team') return { classUid: 3006, activity: change === 'assigned' ? 12 : 13 };
    if (to) return { classUid: 3005, activity: change === 'assigned' ? 3 : 4 };
  }
  return CLASSES[action as AuditAction] ?? BY_VERB[action.slice(action.lastIndexOf('.') + 1)] ?? OTHER;
}

function isUsable({ active, prohibitLogin }: State): boolean {
  return active !== false && prohibitLogin !== true;
}
