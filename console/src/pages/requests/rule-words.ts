import type { Answer } from '../../../../client/client.ts';
import { titleOf, wordOf } from '../../../../client/object-kinds.ts';
import { nameOfRelation } from '../../../../client/permissions.ts';

export type Rules = Answer<'GET /orgs/{org}/request_rules'>;
export type RequestRule = Rules[number];
export type RuleObject = NonNullable<RequestRule['match']['objects']>[number];

/** `connect`, `view audit log`: a rule can be about several types. */
export function verbOf(relation: string): string {
  return nameOfRelation(undefined, relation);
}

/** As it is typed: `cluster:prod`. */
export function objectText({ type, name }: RuleObject): string {
  return `${wordOf(type)}:${name}`;
}

export function whoMayAsk({ match }: RequestRule): string {
  return match.requesters === undefined ? 'all members' : `members of the team ${match.requesters}`;
}

export function forWhat({ match }: RequestRule): string {
  const { relations, objects = [], cluster_sets: sets = [], roles } = match;
  const verbs = relations === undefined ? 'everything' : relations.map(verbOf).join(', ');
  const places = [
    ...objects.map(({ type, name }) => `${titleOf(type)} ${name}`),
    ...sets.map((name) => `clusters in the set ${name}`),
  ];
  const on = places.length === 0 ? '' : ` on ${places.join(', ')}`;
  const through = roles === undefined ? '' : `, through the role ${roles.join(' or ')}`;
  return `${verbs}${on}${through}`;
}

export function whoApproves({ approvals, approvers }: RequestRule): string {
  if (approvals === 0) return 'granted without an approval';
  const count = approvals === 1 ? '1 approval' : `${approvals} approvals`;
  if (approvers === undefined) return `${count} of users who could make the change`;
  return approvers === 'manager' ? `${count} of the manager` : `${count} of the team ${approvers.team}`;
}

const UNITS = [
  ['D', 'day'],
  ['H', 'hour'],
  ['M', 'minute'],
  ['S', 'second'],
] as const;

/** `PT8H` as "8 hours". */
export function durationWords(duration: string): string {
  const parts = UNITS.flatMap(([letter, word]) => {
    const count = Number(new RegExp(`(\\d+)${letter}`).exec(duration)?.[1] ?? 0);
    return count === 0 ? [] : [`${count} ${count === 1 ? word : `${word}s`}`];
  });
  return parts.join(' ');
}

const USUAL = ['PT1H', 'PT4H', 'PT8H', 'P1D', 'P3D', 'P7D', 'P30D', 'P90D'];

/** The usual ones, and the one that a rule has. */
export function longestChoices(now: string) {
  const all = USUAL.includes(now) ? USUAL : [...USUAL, now];
  return all.map((value) => ({ value, label: durationWords(value) }));
}
