import { signal } from '@preact/signals';
import { type ComponentType, h } from 'preact';
import { useEffect } from 'preact/hooks';

/** True while a page is on the screen whose file could not be loaded. */
export const isPageBroken = signal(false);

let waiting: (() => void) | undefined;

/** Tries immediately, because the server answers again. */
export function retryBrokenPage(): void {
  waiting?.();
}

const RETRY_MS = [1000, 2000, 5000, 10_000];
const RELOADED = 'atrium.reloaded';
const RELOAD_AGAIN_MS = 60_000;

/**
 * Stands in for a page whose file could not be loaded, until it can be; the shell says what happened. The server may be
 * away, or may have been updated, so that the file has another name now.
 */
export function untilLoaded<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<ComponentType<Props> | undefined>(undefined);
  return function BrokenPage(props: Props) {
    useEffect(() => {
      if (loaded.peek()) return;
      isPageBroken.value = true;
      const stop = retry(async () => {
        loaded.value = await load();
        isPageBroken.value = false;
      });
      return () => {
        stop();
        isPageBroken.value = false;
      };
    }, []);
    return loaded.value === undefined ? null : h(loaded.value, props);
  };
}

/** Tries again and again, until it succeeds or is stopped. */
function retry(attempt: () => Promise<void>): () => void {
  let failures = 0;
  let timer = setTimeout(run, RETRY_MS[0]);
  let isDone = false;
  waiting = () => void run();
  const stop = () => {
    isDone = true;
    clearTimeout(timer);
    waiting = undefined;
  };
  return stop;

  async function run(): Promise<void> {
    clearTimeout(timer);
    if (isDone) return;
    try {
      await attempt();
      stop();
    } catch {
      failures += 1;
      if (await isServerBack()) reload();
      if (!isDone) timer = setTimeout(run, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]);
    }
  }
}

/** Then the file has gone, or the browser keeps that it failed: a page that is loaded anew has the right name. */
async function isServerBack(): Promise<boolean> {
  return await fetch(location.href, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
}

function reload(): void {
  const last = Number(sessionStorage.getItem(RELOADED) ?? 0);
  if (Date.now() - last < RELOAD_AGAIN_MS) return;
  sessionStorage.setItem(RELOADED, String(Date.now()));
  location.reload();
}
