import { type LimitName, type Limits, limitReached } from '../../base/config/limits.ts';
import { requireRoomForGuardrails } from '../../guardrails/guardrail-file.ts';
import { requireRoomForAssignments } from '../../roles/assignment-plan.ts';
import { requireWithinLimits } from '../../roles/role-file.ts';
import type { SectionName } from '../organization-document.ts';
import type { OrganizationNow } from '../organization-now.ts';
import type { FileChange } from './file-change.ts';
import type { OrganizationPlan } from './organization-plan.ts';
import { membersAfter } from './role-part-plan.ts';

/** The limits of every list, as it is after the file. */
export function roomChanges(now: OrganizationNow, made: OrganizationPlan, limits: Limits): FileChange[] {
  const { teams, robots, webhooks, after, roles } = made;
  const before = new Set(now.teams.flatMap(({ members }) => members.map(({ id }) => id))).size;
  const fullest = Math.max(0, ...teams.teams.filter(({ joins }) => joins.length > 0).map(sizeOf));
  const grown = robots.robots.filter(({ current, trustRules }) => {
    return trustRules.count > (current?.trustRules.length ?? 0);
  });
  const mostRules = Math.max(0, ...grown.map(({ trustRules }) => trustRules.count));
  return [
    rule('teams', () => requireRoom('teamsPerOrganization', now.teams.length, teams.teams.length)),
    rule('teams', () => requireRoom('membersPerOrganization', before, new Set(membersAfter(teams)).size)),
    rule('teams', () => requireRoom('membersPerTeam', 0, fullest)),
    rule('robots', () => requireRoom('robotsPerOrganization', now.robots.length, robots.robots.length)),
    rule('robots', () => requireRoom('trustRulesPerRobot', 0, mostRules)),
    rule('webhooks', () => requireRoom('webhooksPerOrganization', now.webhooks.length, webhooks.count)),
    rule('roles', () => requireWithinLimits(roles.roles, after, limits)),
    rule('assignments', () => {
      if (roles.assignments) requireRoomForAssignments(roles.assignments, after.assignments, limits);
    }),
    rule('guardrails', () => {
      if (roles.guardrails) requireRoomForGuardrails(roles.guardrails, after.rules, limits);
    }),
  ];

  function requireRoom(limit: LimitName, present: number, next: number): void {
    if (next > present && next > limits[limit]) throw limitReached(limit, limits[limit], present);
  }
}

function sizeOf({ current, joins, leaves }: OrganizationPlan['teams']['teams'][number]): number {
  const fresh = joins.filter(({ present }) => !present).length;
  return (current?.members.length ?? 0) + fresh - leaves.length;
}

function rule(section: SectionName, check: () => void): FileChange {
  return { section, name: section, kind: 'update', words: [], rule: check };
}
