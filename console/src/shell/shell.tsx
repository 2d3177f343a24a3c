import { useSignal } from '@preact/signals';
import { type ComponentChildren, type ComponentType, h } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { notePage } from '../data/recent-pages.ts';
import { me } from '../data/session.ts';
import { Icon } from '../icons/icon.tsx';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { Navigation } from './navigation.tsx';
import { useShortcuts } from './shortcuts.ts';
import { ViewBar } from './view-bar.tsx';

interface PartProps {
  readonly onClose: () => void;
}

/** What few visits open is loaded when it is opened. If the server is away, it stays closed. */
function onDemand(load: () => Promise<ComponentType<PartProps>>): ComponentType<PartProps> {
  return function OnDemand(props: PartProps) {
    const loaded = useSignal<ComponentType<PartProps> | undefined>(undefined);
    useEffect(() => void load().then((part) => (loaded.value = part), props.onClose), []);
    return loaded.value === undefined ? null : h(loaded.value, props);
  };
}

const Palette = onDemand(async () => (await import('./palette.tsx')).Palette);
const OrgSwitcher = onDemand(async () => (await import('./org-switcher.tsx')).OrgSwitcher);
const KeysDialog = onDemand(async () => (await import('./keys-dialog.tsx')).KeysDialog);
const ApiDrawer = onDemand(async () => (await import('./api-drawer.tsx')).ApiDrawer);

/** Navigation next to the page. On narrow screens it is behind a button. */
export function Shell({ children }: { children: ComponentChildren }) {
  const isMenuOpen = useSignal(false);
  const opened = useSignal<'palette' | 'orgs' | 'keys' | 'calls' | undefined>(undefined);
  const { path } = useLocation();
  useEffect(
    () => () => notePage(me.value?.id, { href: path, title: document.title.replace(/ · Atrium$/, '') }),
    [path],
  );
  useShortcuts((what) => {
    opened.value = opened.value === what ? undefined : what;
  });
  const close = () => {
    opened.value = undefined;
  };
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <button
          type="button"
          class="icon-button"
          aria-label="Menu"
          aria-expanded={isMenuOpen.value}
          onClick={() => (isMenuOpen.value = true)}
        >
          <Icon name="menu" size={20} />
        </button>
        <a class="wordmark" href="/">
          Atrium
        </a>
      </header>
      {isMenuOpen.value && (
        <button type="button" class="veil" aria-label="Close the menu" onClick={() => (isMenuOpen.value = false)} />
      )}
      <Navigation
        path={path}
        isOpen={isMenuOpen.value}
        onLeave={() => (isMenuOpen.value = false)}
        onOrgs={() => (opened.value = 'orgs')}
        onPalette={() => (opened.value = 'palette')}
        onCalls={() => (opened.value = 'calls')}
        onKeys={() => (opened.value = 'keys')}
      />
      <main id="content">
        <ViewBar />
        <Breadcrumbs path={path} />
        {children}
      </main>
      {opened.value === 'palette' && <Palette onClose={close} />}
      {opened.value === 'orgs' && <OrgSwitcher onClose={close} />}
      {opened.value === 'keys' && <KeysDialog onClose={close} />}
      {opened.value === 'calls' && <ApiDrawer onClose={close} />}
    </div>
  );
}
