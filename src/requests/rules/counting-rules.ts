import type { AccessRequest } from '../access-request.ts';
import { type RequestRule, type RuleSubject, ruleFor } from './request-rule.ts';

/** What must be known of a request to find the rule that counts for it. */
export type RuleableRequest = Pick<AccessRequest, 'organizationId' | 'by' | 'relation' | 'object' | 'change'>;

interface Parts {
  readonly rulesOf: (organizationId: bigint) => Promise<readonly RequestRule[]>;
  readonly store: {
    /** In lower case, by user. */
    teamNamesOf(organizationId: bigint, userIds: readonly bigint[]): Promise<ReadonlyMap<bigint, ReadonlySet<string>>>;
    /** By cluster. Those that are in none are left out. */
    clusterSetsOf(clusterIds: readonly bigint[]): Promise<ReadonlyMap<bigint, string>>;
  };
}

export type CountingRules = ReturnType<typeof createCountingRules>;

const NO_TEAMS: ReadonlySet<string> = new Set();

/** The rules that count for requests at this moment, for many of one organization together. */
export function createCountingRules({ rulesOf, store }: Parts) {
  /** Undefined for a request that is not allowed any more. */
  return async (requests: readonly RuleableRequest[]): Promise<(RequestRule | undefined)[]> => {
    const [first] = requests;
    if (!first) return [];
    const rules = await rulesOf(first.organizationId);
    const [teams, sets] = rules.length === 0 ? [new Map(), new Map()] : await known(first.organizationId, requests);
    return requests.map(({ by, relation, object, change }) => {
      const subject: RuleSubject = {
        ...{ relation, object },
        clusterSet: object.type === 'cluster' ? sets.get(object.id) : undefined,
        role: change.action === 'assignment.create' ? change.role.name : null,
        teams: (by.type === 'user' ? teams.get(by.id) : undefined) ?? NO_TEAMS,
      };
      const rule = ruleFor(rules, subject);
      return rule?.allow ? rule : undefined;
    });
  };

  async function known(organizationId: bigint, requests: readonly RuleableRequest[]) {
    const users = requests.flatMap(({ by }) => (by.type === 'user' ? [by.id] : []));
    const clusters = requests.flatMap(({ object }) => (object.type === 'cluster' ? [object.id] : []));
    return [
      await store.teamNamesOf(organizationId, [...new Set(users)]),
      await store.clusterSetsOf([...new Set(clusters)]),
    ] as const;
  }
}
