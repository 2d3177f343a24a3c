import type { AskedFor } from '../access-request.ts';

/** What a rule is about. Every part that is given must hold; an empty one is about everything. */
export interface RuleMatch {
  readonly relations?: readonly string[];
  /** One of these, or in one of the sets. */
  readonly objects?: readonly AskedFor[];
  readonly clusterSets?: readonly string[];
  /** Names of roles. A team that is joined matches none. */
  readonly roles?: readonly string[];
  /** The name of the team that the requester is in. */
  readonly requesters?: string;
}

/** Who may approve at all: the members of a team, by its name, or the manager of the requester. */
export type RuleApprovers = { readonly team: string } | 'manager';

export interface RequestRule {
  readonly name: string;
  readonly match: RuleMatch;
  /** An ISO 8601 duration, as it was given. */
  readonly longest: string;
  readonly longestSeconds: number;
  readonly approvals: number;
  /** Undefined: all who could make the change. */
  readonly approvers?: RuleApprovers;
  readonly allow: boolean;
  readonly breakGlass: boolean;
}

/** The properties that are compared with rules. */
export interface RuleSubject {
  readonly relation: string;
  readonly object: Pick<AskedFor, 'type' | 'id'>;
  /** The set that a cluster is in, if it is in one. */
  readonly clusterSet: string | undefined;
  /** Undefined if it is not known yet, which then matches every list of roles; null if a team is joined. */
  readonly role: string | null | undefined;
  /** The names of the teams of the requester, in lower case. A robot is in none. */
  readonly teams: ReadonlySet<string>;
}

const DAY = 86_400;
export const MAX_LONGEST = 90 * DAY;
export const DEFAULT_LONGEST = 'P7D';
const DEFAULT_SECONDS = 7 * DAY;

/** For organizations that have no rules. */
export const DEFAULT_RULE: RequestRule = {
  name: '',
  match: {},
  longest: DEFAULT_LONGEST,
  longestSeconds: DEFAULT_SECONDS,
  approvals: 1,
  allow: true,
  breakGlass: false,
};

/** The first rule that matches. An organization without rules has the default; where there are some, none is a no. */
export function ruleFor(rules: readonly RequestRule[], subject: RuleSubject): RequestRule | undefined {
  if (rules.length === 0) return DEFAULT_RULE;
  return rules.find((rule) => matches(rule.match, subject));
}

/** Whether a rule tells its requesters of objects that they may not see: it names who, or on what. */
export function namesItsSubject({ match }: RequestRule): boolean {
  return match.requesters !== undefined || match.objects !== undefined || match.clusterSets !== undefined;
}

/** Whether the rule names this role, so that what it gives besides was wanted. */
export function namesRole({ match }: RequestRule, role: string): boolean {
  return match.roles?.some((name) => isSameName(name, role)) ?? false;
}

function matches(match: RuleMatch, { relation, object, clusterSet, role, teams }: RuleSubject): boolean {
  if (match.relations && !match.relations.includes(relation)) return false;
  if (match.requesters !== undefined && !teams.has(match.requesters.toLowerCase())) return false;
  if (match.roles && role !== undefined && !match.roles.some((name) => role !== null && isSameName(name, role))) {
    return false;
  }
  if (!match.objects && !match.clusterSets) return true;
  const isNamed = match.objects?.some(({ type, id }) => type === object.type && id === object.id) ?? false;
  return isNamed || (clusterSet !== undefined && (match.clusterSets?.includes(clusterSet) ?? false));
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
