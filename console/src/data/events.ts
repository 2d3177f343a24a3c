import { effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { EventChange, ServerEvent } from '../../../client/events.ts';
import { api } from './api.ts';
import { isAnyLoading, refreshMounted } from './resource.ts';
import { isSignedOut, me } from './session.ts';

/** How fresh the page is: exact while the stream is open, and since when it is not. */
export type Freshness =
  | { readonly state: 'starting' }
  | { readonly state: 'live'; readonly revision: bigint }
  | { readonly state: 'lost'; readonly since: Date };

export const freshness = signal<Freshness>({ state: 'starting' });

/** The page comes first: what it needs is loaded and drawn by then. */
const START_AFTER_MS = 2000;
const RETRY_REJECTED_MS = 30_000;
const POLL_MS = 30_000;
/** What changes without an event: a cluster that falls silent, what was sent, and what belongs to the deployment. */
const UNANNOUNCED = /clusters(v2)?\b|\/overview$| \/admin\/|\/marketplace\b|\/webhooks\b/;
/** What changes together is asked for together. */
const GATHER_MS = 200;

/** What a call shows, by a word in its path. Calls that are not here may show anything. */
const SHOWN: readonly (readonly [RegExp, readonly EventChange['kind'][]])[] = [
  [/\/request(s|_rules)\b/, ['request', 'role', 'team', 'assignment']],
  [/\/invitations\b/, ['invitation', 'team', 'user', 'account']],
  [/\/contracts\b/, ['contract', 'assignment']],
  [/\/robots\b/, ['robot', 'token', 'assignment']],
  [/\/tokens\b/, ['token', 'robot']],
  [/\/clusters(v2)?\b/, ['cluster', 'organization', 'assignment']],
  [/^GET \/authz\/roles\b/, ['role', 'team', 'user', 'assignment']],
  [/\/(teams|members)\b/, ['team', 'role', 'user', 'account', 'assignment']],
  [/\/(emails|sessions|followers|following|credentials|orders)\b/, ['user']],
  [/\/marketplace\b/, []],
  [/\/(version|model|available_permissions)\b/, []],
];

let known: string | undefined;
let lastEventId: string | undefined;
let changed = new Set<EventChange['kind'] | 'everything'>();
let isGathering = false;

/** The revision that the first answer is at least as new as. */
export function noteRevision(revision: string): void {
  known ??= revision;
}

/** Follows what changes while a user is signed in and looks at the page. */
export function useLiveData(): void {
  useEffect(() => {
    const isVisible = signal(document.visibilityState === 'visible');
    const look = () => {
      isVisible.value = document.visibilityState === 'visible';
      if (isVisible.value) refreshMounted();
    };
    const timer = setInterval(() => isVisible.value && poll(), POLL_MS);
    document.addEventListener('visibilitychange', look);
    const stop = effect(() => {
      if (me.value === undefined || isSignedOut.value || !isVisible.value) return;
      const controller = new AbortController();
      void follow(controller.signal);
      return () => {
        controller.abort();
        freshness.value = { state: 'starting' };
      };
    });
    return () => {
      stop();
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, []);
}

/** While the stream of events is open, only what it does not announce is asked for again. */
function poll(): void {
  const isLive = freshness.value.state === 'live';
  refreshMounted((name) => !isLive || UNANNOUNCED.test(name));
}

async function follow(signal: AbortSignal): Promise<void> {
  do await wait(START_AFTER_MS);
  while (isAnyLoading() && !signal.aborted);
  while (!signal.aborted) {
    try {
      for await (const event of api.events({ lastEventId, signal, onLost: lost })) hear(event);
    } catch {
      // Rejected, but not because the session has ended: then the call waits until the user has signed in again.
      lastEventId = undefined;
      if (!signal.aborted) lost();
      await wait(RETRY_REJECTED_MS);
    }
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function lost(): void {
  if (freshness.value.state !== 'lost') freshness.value = { state: 'lost', since: new Date() };
}

function hear(event: ServerEvent): void {
  lastEventId = event.id ?? lastEventId;
  if (event.type === 'reset') gather(['everything']);
  if (event.type === 'change') gather(event.changes.map(({ kind }) => kind));
  // What the page shows was loaded before the stream was open.
  if (event.type === 'ready' && event.id !== undefined && event.revision.toString() !== known) gather(['everything']);
  if (event.revision !== undefined) freshness.value = { state: 'live', revision: event.revision };
}

function gather(kinds: readonly (EventChange['kind'] | 'everything')[]): void {
  for (const kind of kinds) changed.add(kind);
  if (isGathering) return;
  isGathering = true;
  setTimeout(() => {
    const all = changed;
    changed = new Set();
    isGathering = false;
    refreshMounted((name) => all.has('everything') || shows(name, all));
  }, GATHER_MS);
}

export function shows(name: string, kinds: ReadonlySet<string>): boolean {
  const [, shown] = SHOWN.find(([path]) => path.test(name)) ?? [];
  return shown === undefined || shown.some((kind) => kinds.has(kind));
}
