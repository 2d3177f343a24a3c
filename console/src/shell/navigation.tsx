import { OBJECT_KINDS } from '../../../client/object-kinds.gen.ts';
import { NAMED_TYPES } from '../../../client/object-kinds.ts';
import { api } from '../data/api.ts';
import { forgetProvider } from '../data/last-provider.ts';
import { pageData } from '../data/page-data.ts';
import { useList } from '../data/resource.ts';
import { isSiteAdmin, me, signedOut } from '../data/session.ts';
import { Icon, type IconName } from '../icons/icon.tsx';
import { Avatar } from '../parts/bits.tsx';
import { capital } from '../parts/capital.ts';
import { useCurrentOrg } from './current-org.ts';
import { Freshness } from './freshness.tsx';
import { setTheme, theme } from './theme.ts';

interface Entry {
  readonly href: string;
  readonly title: string;
  readonly icon: IconName;
}

const INBOX = '/me/requests';
const INBOX_QUESTION = { query: { for_me: true, limit: 1 } } as const;

interface Group {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** The pages of one organization, by what they are about. */
export function organizationGroups(org: string): readonly Group[] {
  const at = (rest: string, title: string, icon: IconName): Entry => ({
    href: `/orgs/${encodeURIComponent(org)}${rest}`,
    title,
    icon,
  });
  return [
    {
      title: 'Access',
      entries: [
        at('/access/why', 'Why', 'why'),
        at('/access/who', 'Who can', 'who'),
        at('/access/matrix', 'Matrix', 'matrix'),
        at('/requests', 'Requests', 'key'),
      ],
    },
    {
      title: 'Organization',
      entries: [
        at('', 'Overview', 'overview'),
        at('/members', 'Members', 'members'),
        at('/invitations', 'Invitations', 'mail'),
        at('/teams', 'Teams', 'teams'),
        at('/roles', 'Roles', 'roles'),
        at('/roles/code', 'Roles as code', 'code'),
        at('/guardrails', 'Guardrails', 'guardrails'),
      ],
    },
    {
      title: 'Resources',
      entries: NAMED_TYPES.flatMap((type) => {
        const { plural, isResource } = OBJECT_KINDS[type];
        return isResource ? [at(`/${plural}`, capital(plural), plural)] : [];
      }),
    },
    {
      title: 'Records',
      entries: [at('/audit', 'Audit log', 'audit'), at('/settings', 'Settings', 'settings')],
    },
  ];
}

export function personalGroups(): readonly Group[] {
  const mine: Entry[] = [
    { href: INBOX, title: 'Access requests', icon: 'deliveries' },
    { href: '/me', title: 'My account', icon: 'members' },
    { href: '/model', title: 'Permission model', icon: 'model' },
  ];
  const marketplace: Entry[] = [
    { href: '/admin/deliveries', title: 'Deliveries', icon: 'deliveries' },
    { href: '/admin/subscriptions', title: 'Subscriptions', icon: 'contracts' },
    { href: '/admin/installers', title: 'Installers', icon: 'installers' },
    { href: '/admin/marketplace', title: 'Marketplaces', icon: 'cloud' },
  ];
  const admin: Entry[] = [
    { href: '/admin', title: 'Health', icon: 'settings' },
    { href: '/admin/users', title: 'People', icon: 'members' },
    { href: '/admin/orgs', title: 'Organizations', icon: 'overview' },
    { href: '/admin/providers', title: 'Sign-in providers', icon: 'key' },
    { href: '/admin/audit', title: 'Audit log', icon: 'audit' },
    ...(pageData.features.marketplace ? marketplace : []),
  ];
  return [{ title: 'You', entries: mine }, ...(isSiteAdmin.value ? [{ title: 'Administration', entries: admin }] : [])];
}

interface NavigationProps {
  readonly path: string;
  readonly isOpen: boolean;
  readonly onLeave: () => void;
  readonly onPalette: () => void;
  readonly onCalls: () => void;
  readonly onKeys: () => void;
}

export function Navigation({ path, isOpen, onLeave, onPalette, onCalls, onKeys }: NavigationProps) {
  const org = useCurrentOrg();
  const groups = [...(org === undefined ? [] : organizationGroups(org)), ...personalGroups()];
  const current = currentOf(groups, path);
  return (
    <nav class={`side ${isOpen ? 'open' : ''}`} aria-label="Main">
      <a class="wordmark" href="/" onClick={onLeave}>
        Atrium
      </a>
      <button type="button" class="switch" onClick={onPalette}>
        <Icon name="search" />
        <span class="grow cut">{org ?? 'Search'}</span>
        <kbd>{isMac() ? '⌘' : 'Ctrl '}K</kbd>
      </button>
      {groups.map(({ title, entries }) => (
        <div key={title} class="group">
          <h2>{title}</h2>
          {entries.map((entry) => (
            <a
              key={entry.href}
              href={entry.href}
              aria-current={entry.href === current ? 'page' : undefined}
              onClick={onLeave}
            >
              <Icon name={entry.icon} />
              {entry.title}
              {entry.href === INBOX && <InboxCount />}
            </a>
          ))}
        </div>
      ))}
      <div class="side-foot">
        <div class="line">
          {me.value && <Avatar url={me.value.avatar_url} />}
          <bdi class="grow cut strong">{me.value?.login}</bdi>
          <ThemeButton />
          <button type="button" class="icon-button" aria-label="Sign out" title="Sign out" onClick={signOut}>
            <Icon name="out" />
          </button>
        </div>
        <Freshness />
        <div class="line small quiet">
          <button type="button" class="link-button small" onClick={onCalls}>
            API calls
          </button>
          <button type="button" class="link-button small" onClick={onKeys}>
            Keys
          </button>
          <a href="/api/v1/docs" class="small">
            API
          </a>
          <span class="small">{pageData.version}</span>
        </div>
      </div>
    </nav>
  );
}

/** How many requests wait for the user. It changes with the events. */
function InboxCount() {
  const { total = 0 } = useList('GET /user/requests', INBOX_QUESTION);
  if (total === 0) return null;
  return (
    <span class="count" title={`${total} for you to decide`}>
      {total}
      <span class="only-read"> for you to decide</span>
    </span>
  );
}

function ThemeButton() {
  const isDark =
    theme.value === 'dark' || (theme.value === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  const label = isDark ? 'Light colors' : 'Dark colors';
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      onClick={() => setTheme(isDark ? 'light' : 'dark')}
    >
      <Icon name={isDark ? 'sun' : 'moon'} />
    </button>
  );
}

async function signOut(): Promise<void> {
  forgetProvider();
  const { url = null } = await api.call('POST /user/signout').catch(() => ({ url: null }));
  signedOut();
  // If a provider opened the session, it asks whether to sign out there as well, and leads back.
  location.assign(url ?? '/signin');
}

/** The entry with the longest address that the path starts with. */
function currentOf(groups: readonly Group[], path: string): string | undefined {
  return groups
    .flatMap(({ entries }) => entries)
    .map(({ href }) => href)
    .filter((href) => path === href || path.startsWith(`${href}/`))
    .sort((one, other) => other.length - one.length)[0];
}

export function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}
