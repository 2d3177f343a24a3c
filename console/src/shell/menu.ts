import { OBJECT_KINDS } from '../../../client/object-kinds.gen.ts';
import { NAMED_TYPES } from '../../../client/object-kinds.ts';
import { pageData } from '../data/page-data.ts';
import { isSiteAdmin } from '../data/session.ts';
import type { IconName } from '../icons/icon.tsx';
import { capital } from '../parts/capital.ts';

export interface Entry {
  readonly href: string;
  readonly title: string;
  readonly icon: IconName;
  /** Further addresses that belong to it. */
  readonly also?: readonly string[] | undefined;
}

export interface Group {
  readonly title: string;
  readonly entries: readonly Entry[];
}

export const INBOX = '/me/requests';
const OVERVIEW = /^\/orgs\/[^/]+$/;

/** What the side menu is about: an organization, one's own account or the deployment. */
export type Context = 'organization' | 'account' | 'administration';

/** To other users the menu of the administration would offer pages that they cannot open. */
export function contextOf(path: string): Context {
  if (isSiteAdmin.value && /^\/admin(\/|$)/.test(path)) return 'administration';
  return /^\/me(\/|$)/.test(path) ? 'account' : 'organization';
}

/** The pages of one organization, by what they are about. */
export function organizationGroups(org: string): readonly Group[] {
  const root = `/orgs/${encodeURIComponent(org)}`;
  const at = (rest: string, title: string, icon: IconName): Entry => ({ href: root + rest, title, icon });
  return [
    { title: '', entries: [at('', 'Overview', 'overview')] },
    {
      title: 'Access',
      entries: [
        { ...at('/access/why', 'Access', 'why'), also: [`${root}/access`] },
        at('/requests', 'Requests', 'key'),
        at('/reviews', 'Reviews', 'check'),
        at('/guardrails', 'Guardrails', 'guardrails'),
        at('/audit', 'Audit log', 'audit'),
      ],
    },
    {
      title: 'People',
      entries: [
        at('/members', 'Members', 'members'),
        at('/invitations', 'Invitations', 'mail'),
        at('/teams', 'Teams', 'teams'),
        at('/roles', 'Roles', 'roles'),
      ],
    },
    {
      title: 'Resources',
      entries: NAMED_TYPES.flatMap((type) => {
        const { plural, isResource } = OBJECT_KINDS[type];
        return isResource ? [at(`/${plural}`, capital(plural), plural)] : [];
      }),
    },
    { title: '', entries: [at('/webhooks', 'Webhooks', 'bus'), at('/settings', 'Settings', 'settings')] },
  ];
}

export function accountGroups(): readonly Group[] {
  const at = (rest: string, title: string, icon: IconName): Entry => ({ href: `/me${rest}`, title, icon });
  const { passwords, bus } = pageData.features;
  return [
    {
      title: 'Account',
      entries: [
        at('', 'Profile', 'members'),
        at('/emails', 'Emails', 'mail'),
        at('/linked-accounts', 'Linked accounts', 'teams'),
      ],
    },
    {
      title: 'Security',
      entries: [
        ...(passwords ? [at('/password', 'Password', 'key')] : []),
        at('/security', 'Second factors', 'guardrails'),
        at('/sessions', 'Sessions', 'out'),
        at('/tokens', 'Tokens', 'code'),
        at('/agents', 'Agents', 'robots'),
        at('/audit', 'Activity', 'audit'),
      ],
    },
    {
      title: 'Mine',
      entries: [
        at('/requests', 'Access requests', 'deliveries'),
        at('/clusters', 'Clusters', 'clusters'),
        at('/credentials', 'Credentials', 'cloud'),
        at('/orders', 'Orders', 'contracts'),
        ...(bus ? [at('/bus', 'Message bus', 'model')] : []),
        at('/following', 'Following', 'who'),
      ],
    },
  ];
}

export function administrationGroups(): readonly Group[] {
  const at = (rest: string, title: string, icon: IconName): Entry => ({ href: `/admin${rest}`, title, icon });
  return [
    {
      title: 'Administration',
      entries: [
        at('', 'Health', 'settings'),
        at('/users', 'People', 'members'),
        at('/orgs', 'Organizations', 'overview'),
        at('/providers', 'Sign-in providers', 'key'),
        at('/webhooks', 'Webhooks', 'bus'),
        at('/audit', 'Audit log', 'audit'),
      ],
    },
    ...(pageData.features.marketplace
      ? [
          {
            title: 'Marketplace',
            entries: [
              at('/deliveries', 'Deliveries', 'deliveries'),
              at('/subscriptions', 'Subscriptions', 'contracts'),
              at('/installers', 'Installers', 'installers'),
              at('/marketplace', 'Marketplaces', 'cloud'),
            ],
          },
        ]
      : []),
  ];
}

/** What leads from an organization to everything else. */
export function otherGroups(): readonly Group[] {
  return [
    {
      title: 'You',
      entries: [
        { href: INBOX, title: 'Access requests', icon: 'deliveries' },
        { href: '/me', title: 'My account', icon: 'members' },
        { href: '/model', title: 'Permission model', icon: 'model' },
        ...(isSiteAdmin.value
          ? [{ href: '/admin', title: 'Administration', icon: 'settings', also: ['/admin'] } as const]
          : []),
      ],
    },
  ];
}

/** Everything that a menu leads to. */
export function allGroups(org: string | undefined): readonly Group[] {
  return [
    ...(org === undefined ? [] : organizationGroups(org)),
    ...accountGroups(),
    ...(isSiteAdmin.value ? administrationGroups() : []),
    ...otherGroups().map(({ title, entries }) => ({
      title,
      entries: entries.filter(({ href }) => href === '/model'),
    })),
  ];
}

/** The entry whose address, or one of whose further addresses, is the longest that the path starts with. */
export function currentOf(groups: readonly Group[], path: string): Entry | undefined {
  // The overview is a page, and not where all the others belong.
  const fits = (href: string) => path === href || (!OVERVIEW.test(href) && path.startsWith(`${href}/`));
  const all = groups.flatMap(({ entries }) =>
    entries.flatMap((entry) => [entry.href, ...(entry.also ?? [])].filter(fits).map((href) => ({ entry, href }))),
  );
  return all.sort((one, other) => other.href.length - one.href.length)[0]?.entry;
}
