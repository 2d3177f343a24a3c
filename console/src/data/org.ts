import { useRoute } from 'preact-iso';
import { type Allowed, useAllowed } from './allowed.ts';
import { useResource } from './resource.ts';

export interface OrgContext {
  readonly org: string;
  /** Undefined while it is on its way, or if the caller may not see the organization. */
  readonly id: bigint | undefined;
  /** What the caller may do with the organization itself. */
  readonly may: Allowed['may'];
  /** Why the caller may not do something with the organization; undefined while the organization is unknown. */
  readonly question: (relation: string, task: string) => WhyNotQuestion | undefined;
  /** The same for a control: undefined if the caller may use it, or while that is unknown. */
  readonly whyNot: (relation: string, task: string) => WhyNotQuestion | undefined;
}

export interface WhyNotQuestion {
  readonly org: string;
  readonly type: string;
  readonly id: bigint;
  readonly relation: string;
  /** What the permission is for, as in "You cannot …". */
  readonly task: string;
}

/** Going from page to page of one organization does not ask for it again each time. */
const FRESH_MS = 10_000;

/** The name of the organization in the address, without any call. */
export function useOrgName(): string {
  return useRoute().params.org ?? '';
}

/** The organization of the address. All parts of a page share its two calls. */
export function useOrg(): OrgContext {
  const org = useOrgName();
  const { data } = useResource('GET /orgs/{org}', { path: { org } }, FRESH_MS);
  const { may } = useAllowed(org, data ? [{ type: 'organization', id: data.id }] : [], FRESH_MS);
  const question = (relation: string, task: string) =>
    data && { org, type: 'organization', id: data.id, relation, task };
  return {
    org,
    id: data?.id,
    may,
    question,
    whyNot: (relation, task) => (may(relation) === false ? question(relation, task) : undefined),
  };
}

export function orgPath(org: string, rest = ''): string {
  return `/orgs/${encodeURIComponent(org)}${rest}`;
}
