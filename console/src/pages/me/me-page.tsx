import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { pageData } from '../../data/page-data.ts';
import { type Tab, Tabs } from '../../parts/bits.tsx';
import { Page } from '../../parts/page.tsx';
import './me.css';

const TABS: readonly Tab[] = [
  { href: '/me', title: 'Profile' },
  { href: '/me/emails', title: 'Emails' },
  ...(pageData.features.passwords ? [{ href: '/me/password', title: 'Password' }] : []),
  { href: '/me/security', title: 'Security' },
  { href: '/me/sessions', title: 'Sessions' },
  { href: '/me/linked-accounts', title: 'Linked accounts' },
  { href: '/me/tokens', title: 'Tokens' },
  { href: '/me/credentials', title: 'Credentials' },
  { href: '/me/clusters', title: 'Clusters' },
  { href: '/me/orders', title: 'Orders' },
  ...(pageData.features.bus ? [{ href: '/me/bus', title: 'Message bus' }] : []),
  { href: '/me/following', title: 'Following' },
  { href: '/me/audit', title: 'Activity' },
];

export interface MePageProps {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly isStale?: boolean | undefined;
}

/** The frame of everything that belongs to the signed-in user. */
export function MePage({ children, ...page }: MePageProps) {
  const { path } = useLocation();
  const current = TABS.findLast(({ href }) => path === href || (href !== '/me' && path.startsWith(`${href}/`)));
  useEffect(() => {
    // On narrow screens, the tab of the page may be out of sight.
    document.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [path]);
  return (
    <Page {...page} within="My account">
      <Tabs tabs={TABS} current={current?.href ?? '/me'} label="My account" />
      {children}
    </Page>
  );
}
