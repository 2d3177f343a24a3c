import { useRoute } from 'preact-iso';
import type { Answer } from '../../../client/client.ts';
import { OBJECT_KINDS } from '../../../client/object-kinds.gen.ts';
import { ADDRESSED_TYPES } from '../../../client/object-kinds.ts';
import { type Resource, useResource } from './resource.ts';

export interface OrgContext {
  readonly org: string;
  /** Undefined while it is on its way, or if the caller may not see the organization. */
  readonly id: bigint | undefined;
  /** What the caller may do with the organization itself. Undefined while the answer is on its way. */
  readonly may: (relation: string) => boolean | undefined;
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
/** `/orgs/acme/teams/7` is about team 7 of acme. What cannot be a name or an ID is left to the page. */
const PLACE = /^\/orgs\/(?!new(?:\/|$))([\w.-]+)(?=\/|$)(?:\/(\w+)\/([1-9]\d{0,17})(?=\/|$))?/;

/** What the call for the context of a page says, by the address of the page. */
export function placeOf(path: string): { readonly query: { readonly org?: string; readonly object?: string } } {
  const [, org, noun, id] = PLACE.exec(path) ?? [];
  if (org === undefined) return { query: {} };
  const type = ADDRESSED_TYPES.find((one) => OBJECT_KINDS[one].plural === noun);
  return { query: type === undefined ? { org } : { org, object: `${type}:${id}` } };
}

/** Who the caller is, where they are, and what they may do there: one call for all parts of a page. */
export function usePageContext(): Resource<Answer<'GET /user/context'>> {
  return useResource('GET /user/context', placeOf(useRoute().path), FRESH_MS);
}

/** The name of the organization in the address, without any call. */
export function useOrgName(): string {
  return useRoute().params.org ?? '';
}

/** Whether the address names an organization that the caller may not see, or that does not exist. */
export function useIsOrgHidden(): boolean {
  const { path } = useRoute();
  const context = usePageContext();
  return placeOf(path).query.org !== undefined && context.data !== undefined && context.data.allowed.length === 0;
}

/** The organization of the address. */
export function useOrg(): OrgContext {
  const org = useOrgName();
  return { org, ...useAllowed('organization') };
}

/** The object that the address names below its organization, such as a team. */
export function usePageObject(): Omit<OrgContext, 'org'> {
  const { object = '' } = placeOf(useRoute().path).query;
  return useAllowed(object.split(':')[0] ?? '');
}

function useAllowed(type: string): Omit<OrgContext, 'org'> {
  const org = useOrgName();
  const allowed = usePageContext().data?.allowed.find(({ objectType }) => objectType === type);
  const may = (relation: string) => allowed?.allowedPermissions.includes(relation);
  const question = (relation: string, task: string) => allowed && { org, type, id: allowed.objectID, relation, task };
  return {
    id: allowed?.objectID,
    may,
    question,
    whyNot: (relation, task) => (may(relation) === false ? question(relation, task) : undefined),
  };
}

export function orgPath(org: string, rest = ''): string {
  return `/orgs/${encodeURIComponent(org)}${rest}`;
}
