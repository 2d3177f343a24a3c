import { useEffect, useRef } from 'preact/hooks';
import { api } from '../data/api.ts';
import { forgetProvider } from '../data/last-provider.ts';
import { orgPath, placeOf } from '../data/org.ts';
import { pageData } from '../data/page-data.ts';
import { useList, useResource } from '../data/resource.ts';
import { me, signedOut } from '../data/session.ts';
import { Icon } from '../icons/icon.tsx';
import { Avatar } from '../parts/bits.tsx';
import { useCurrentOrg } from './current-org.ts';
import { Freshness } from './freshness.tsx';
import {
  accountGroups,
  administrationGroups,
  contextOf,
  currentOf,
  INBOX,
  organizationGroups,
  otherGroups,
} from './menu.ts';
import { setTheme, theme } from './theme.ts';

const CONTEXT_FRESH_MS = 10_000;
const INBOX_QUESTION = { query: { for_me: true, limit: 1 } } as const;

interface NavigationProps {
  readonly path: string;
  readonly isOpen: boolean;
  readonly onLeave: () => void;
  readonly onOrgs: () => void;
  readonly onPalette: () => void;
  readonly onCalls: () => void;
  readonly onKeys: () => void;
}

export function Navigation({ path, isOpen, onLeave, onOrgs, onPalette, onCalls, onKeys }: NavigationProps) {
  const recent = useCurrentOrg();
  const isHidden = useResource('GET /user/context', placeOf(path), CONTEXT_FRESH_MS).data?.allowed.length === 0;
  const org = isHidden && placeOf(path).query.org !== undefined ? undefined : recent;
  const context = contextOf(path);
  const groups =
    context === 'administration'
      ? administrationGroups()
      : context === 'account'
        ? accountGroups()
        : [...(org === undefined ? [] : organizationGroups(org)), ...otherGroups()];
  const current = currentOf(groups, path);
  const side = useRef<HTMLElement>(null);
  useEffect(() => {
    side.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [current?.href, context]);
  return (
    <nav ref={side} class={`side ${isOpen ? 'open' : ''}`} aria-label="Main">
      <a class="wordmark" href="/" onClick={onLeave}>
        Atrium
      </a>
      <OrgButton org={org} onOpen={onOrgs} />
      <button type="button" class="switch" onClick={onPalette}>
        <Icon name="search" />
        <span class="grow cut">Search…</span>
        <kbd>{isMac() ? '⌘' : 'Ctrl '}K</kbd>
      </button>
      <div class="side-menu">
        {context !== 'organization' && (
          <a class="back" href={org === undefined ? '/' : orgPath(org)} onClick={onLeave}>
            <span aria-hidden="true">←</span> <bdi>{org ?? 'Home'}</bdi>
          </a>
        )}
        {groups.map(({ title, entries }) => (
          <div key={entries[0]?.href} class="group">
            {title !== '' && <h2>{title}</h2>}
            {entries.map((entry) => (
              <a
                key={entry.href}
                href={entry.href}
                aria-current={entry === current ? 'page' : undefined}
                onClick={onLeave}
              >
                <Icon name={entry.icon} />
                {entry.title}
                {entry.href === INBOX && <InboxCount />}
              </a>
            ))}
          </div>
        ))}
      </div>
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

/** Which organization the pages are about, and the way to another one. */
function OrgButton({ org, onOpen }: { org: string | undefined; onOpen: () => void }) {
  return (
    <button
      type="button"
      class="switch"
      aria-haspopup="dialog"
      aria-label={org === undefined ? 'Choose organization' : `Organization ${org}. Choose another one`}
      onClick={onOpen}
    >
      <Icon name="overview" />
      <bdi class="grow cut strong">{org ?? 'Choose organization'}</bdi>
      <Icon name="down" size={12} />
    </button>
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

export function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}
