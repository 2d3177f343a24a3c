import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useCurrentOrg } from './current-org.ts';
import { recall } from './theme.ts';

export const KEYS_OFF = 'atrium.keys-off';
const PLACES: Readonly<Record<string, string>> = {
  o: '',
  m: '/members',
  t: '/teams',
  r: '/roles',
  c: '/clusters',
  a: '/audit',
  w: '/access/why',
  x: '/access/matrix',
};
const GO_MS = 1500;

/** Single letters do nothing inside fields and dialogs, and can be turned off. */
export function useShortcuts(open: (what: 'palette' | 'keys' | 'calls') => void): void {
  const { route } = useLocation();
  const org = useCurrentOrg();
  // Outside of the effect, which runs again whenever the address changes.
  const goUntil = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        open('palette');
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || recall(KEYS_OFF) !== undefined) return;
      const target = event.target as HTMLElement;
      if (target.closest('input, textarea, select, [contenteditable], dialog, .cm-editor')) return;
      const { key } = event;
      if (performance.now() < goUntil.current && org !== undefined && key in PLACES) {
        route(`/orgs/${encodeURIComponent(org)}${PLACES[key]}`);
        goUntil.current = 0;
        return;
      }
      if (key === 'g') goUntil.current = performance.now() + GO_MS;
      else if (key === '?') open('keys');
      else if (key === '`') open('calls');
      else if (key === '/') focus(event, '[data-filter] input, input[data-filter]');
      else if (key === 'n') click('[data-key="n"] .button');
      else if (key === 'e') click('[data-key="e"] .button');
      else if (key === 'a') click('[data-key="a"] .button');
      else if (key === 'j' || key === 'k') moveRow(key === 'j' ? 1 : -1);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [route, org, open]);
}

function focus(event: KeyboardEvent, selector: string): void {
  const field = document.querySelector<HTMLElement>(selector);
  if (!field) return;
  event.preventDefault();
  field.focus();
}

function click(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.click();
}

function moveRow(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('main .row-link')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
}
