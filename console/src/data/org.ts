import { useRoute } from 'preact-iso';
import { type Allowed, useAllowed } from './allowed.ts';
import { useResource } from './resource.ts';

export interface OrgContext {
  readonly org: string;
  /** Undefined while it is on its way, or if the caller may not see the organization. */
  readonly id: bigint | undefined;
  /** What the caller may do with the organization itself. */
  readonly may: Allowed['may'];
  /** The question behind a control that the caller may not use; undefined if they may, or while it is unknown. */
  readonly whyNot: (relation: string, todo: string) => WhyNotQuestion | undefined;
}

export interface WhyNotQuestion {
  readonly org: string;
  readonly type: string;
  readonly id: bigint;
  readonly relation: string;
  /** What the permission is for, as in "You cannot …". */
  readonly todo: string;
}

/** The organization of the address. All parts of a page share its two calls. */
export function useOrg(): OrgContext {
  const org = useRoute().params.org ?? '';
  const { data } = useResource('GET /orgs/{org}', { path: { org } });
  const { may } = useAllowed(org, data ? [{ type: 'organization', id: data.id }] : []);
  return {
    org,
    id: data?.id,
    may,
    whyNot: (relation, todo) =>
      data && may(relation) === false ? { org, type: 'organization', id: data.id, relation, todo } : undefined,
  };
}

export function orgPath(org: string, rest = ''): string {
  return `/orgs/${encodeURIComponent(org)}${rest}`;
}
