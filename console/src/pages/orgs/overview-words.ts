import type { Answer } from '../../../../client/client.ts';
import { orgPath } from '../../data/org.ts';

export type Overview = Answer<'GET /orgs/{org}/overview'>;

const WAITING = ['Registered', 'NotImported'] as const;

export function hasParts(overview: Overview): boolean {
  return Object.values(overview).some((part) => part !== undefined);
}

/** How things are, in one sentence. */
export function stateSentence({ clusters, members, teams }: Overview): string {
  if (clusters === undefined) {
    return members === undefined
      ? 'You are a member.'
      : `${counted(members, 'person', 'people')} in ${counted(teams ?? 0, 'team')}.`;
  }
  if (clusters.all === 0) return 'There are no clusters yet.';
  const sum = (phases: readonly string[]) =>
    phases.reduce((total, phase) => total + ((clusters.by_phase as Readonly<Record<string, number>>)[phase] ?? 0), 0);
  const trouble = clusters.attention;
  const waiting = sum(WAITING);
  const all = counted(clusters.all, 'cluster');
  if (trouble > 0) return `${trouble} of ${all} ${trouble === 1 ? 'needs' : 'need'} attention.`;
  if (waiting === clusters.all) return 'No cluster has reported yet.';
  if (waiting > 0) return `${waiting} of ${all} ${waiting === 1 ? 'has' : 'have'} never reported; the rest is well.`;
  return clusters.all === 1 ? 'The only cluster is well.' : `All ${all} are well.`;
}

export interface ExpiryLine {
  readonly text: string;
  readonly href: string;
}

/** What stops working soon, or seems forgotten. */
export function expiryLines({ tokens, contracts, expiring }: Overview, org: string): readonly ExpiryLine[] {
  const robots = orgPath(org, '/robots');
  const lines = [
    { count: tokens?.expiring, one: 'token of a robot expires', many: 'tokens of robots expire', href: robots },
    {
      count: expiring?.memberships,
      one: 'membership expires',
      many: 'memberships expire',
      href: orgPath(org, '/members'),
    },
    {
      count: expiring?.assignments,
      one: 'assignment of a role expires',
      many: 'assignments of roles expire',
      href: orgPath(org, '/roles'),
    },
    { count: contracts?.ending, one: 'contract ends', many: 'contracts end', href: orgPath(org, '/contracts') },
  ].map(({ count = 0, one, many, href }) => ({ count, text: `${counted(count, one, many)} within 30 days.`, href }));
  const unused = tokens?.unused ?? 0;
  const forgotten = {
    count: unused,
    text: `${counted(unused, 'token of a robot was', 'tokens of robots were')} not used for 90 days.`,
    href: robots,
  };
  return [...lines, forgotten].filter(({ count }) => count > 0);
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** What was not used, and could all be ended. Undefined if there is nothing, or if that is not known yet. */
export function unusedSentence({ unused_access: unused }: Overview): string | undefined {
  if (!unused?.complete) return undefined;
  const parts = [
    { count: unused.memberships, one: 'membership' },
    { count: unused.assignments, one: 'assignment' },
    { count: unused.permissions, one: 'permission of a role', many: 'permissions of roles' },
  ]
    .filter(({ count }) => count > 0)
    .map(({ count, one, many }) => counted(count, one, many));
  if (parts.length === 0) return undefined;
  return `Not used in ${unused.days} days, and ending it changes nothing else: ${parts.join(', ')}.`;
}
