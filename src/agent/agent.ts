import type { AtriumClient, Heartbeat } from './atrium.client.ts';
import { clusterRoles, type Discovered } from './cluster-roles.ts';
import { createDiscovery } from './discovery.ts';
import { type KubeApi, mustBe } from './kube-api.client.ts';
import { type Contact, createLastContact } from './last-contact.ts';
import { RBAC } from './rbac.ts';
import { concernsUs, createRepair, type Repaired } from './repair.ts';
import { nextEnd, wantedBindings } from './wanted-bindings.ts';

export interface AgentOptions {
  /** Address and cluster, for the state: that of another cluster does not count. */
  readonly of: string;
  /** The namespace that the agent runs in. No user gets more than a look at it. */
  readonly namespace: string;
  /** After so long without an answer of Atrium, the bindings are removed. */
  readonly cutOffAfterMs: number;
  readonly endpoint?: string | undefined;
  readonly caBundle?: string | undefined;
  readonly version: string;
}

export interface AgentParts {
  readonly kube: KubeApi;
  readonly atrium: AtriumClient;
  readonly log: (line: string) => void;
  /** For tests. */
  readonly now?: () => number;
}

const ASK_MS = 500;
const MAX_WAIT_MS = 10_000;
const BEAT_MS = 30_000;
const LOOK_MS = 60_000;
const SAVE_MS = 60_000;
const SETTLE_MS = 100;
const WATCH_AGAIN_MS = 5_000;
const WATCH_SECONDS = 300;
const SERVED_AFTER_MS = [1_000, 5_000] as const;
/** The fault that counts: the roles and bindings are not what they should be. */
const WRITING = 'writing';

/** The watched resources, besides the minute's look at everything. */
const WATCHED = [
  { path: '/api/v1/namespaces', isDiscovery: false, isOurs: () => true },
  { path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', isDiscovery: true, isOurs: () => true },
  ...['rolebindings', 'clusterrolebindings', 'clusterroles'].map((kind) => ({
    path: `/apis/${RBAC}/v1/${kind}`,
    isDiscovery: false,
    isOurs: concernsUs,
  })),
] as const;

/**
 * Keeps the roles and bindings of a cluster as Atrium says, until the signal is given.
 *
 * 1. It asks Atrium twice a second, which costs a 304 while nothing has changed.
 * 2. What ends is ended by the agent's own clock, so it ends to the second even while Atrium cannot be reached.
 * 3. While it is cut off, it keeps what it knows; longer than `cutOffAfterMs`, and it takes everything back. An answer
 *    that rejects it counts as being cut off: a robot whose token has ended must not leave access behind for ever.
 * 4. Until it has heard of Atrium once, or has been cut off for so long, it changes nothing.
 */
export async function runAgent(
  { kube, atrium, log, now = Date.now }: AgentParts,
  options: AgentOptions,
  signal: AbortSignal,
) {
  const { namespace, cutOffAfterMs, version } = options;
  const lastContact = createLastContact(kube, namespace, options.of);
  const discovery = createDiscovery(kube);
  const { repair } = createRepair(kube);
  const started = now();
  let contact: Contact | undefined;
  let resources: readonly Discovered[] | undefined;
  let savedAt = Number.NEGATIVE_INFINITY;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isDue = true;
  /** What fails now, by what is being done. */
  const faults = new Map<string, string>();
  let did = 'changed nothing since it was started';
  let beatAt = Number.NEGATIVE_INFINITY;
  let wake = () => {};

  await Promise.all([beat(), govern()]);

  async function govern(): Promise<void> {
    await loadState();
    if (contact !== undefined) log(`it knows ${contact.bindings.length} bindings of ${momentOf(contact.at)}`);
    await Promise.all([ask(), keep(), ...WATCHED.map(watch)]);
  }

  /** Tried again: without it, an agent that is cut off does not know what ends when. */
  async function loadState(): Promise<void> {
    while (!signal.aborted) {
      try {
        contact = await lastContact.load(now());
        isOver('state');
        return;
      } catch (error) {
        say('state', error);
        await pause(WATCH_AGAIN_MS);
      }
    }
  }

  async function ask(): Promise<void> {
    let wait = ASK_MS;
    while (!signal.aborted) {
      try {
        const found = await atrium.bindings(contact?.etag);
        const isNew = found !== undefined;
        contact = isNew ? { ...found, at: now() } : contact && { ...contact, at: now() };
        const isBack = isOver('asking Atrium');
        if (isBack) log('Atrium answers again');
        if (isNew || isBack) trigger();
        wait = ASK_MS;
        if (isNew || now() - savedAt >= SAVE_MS) await save();
      } catch (error) {
        say('asking Atrium', error);
        wait = Math.min(wait * 2, MAX_WAIT_MS);
      }
      await pause(wait);
    }
  }

  async function save(): Promise<void> {
    if (contact === undefined) return;
    savedAt = now();
    try {
      await lastContact.save(contact);
      isOver('state');
    } catch (error) {
      savedAt = Number.NEGATIVE_INFINITY;
      say('state', error);
    }
  }

  /** Looks once a minute, when something has changed, and when something ends. */
  async function keep(): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const time = now();
      if (isDue || time >= nextMoment()) {
        isDue = false;
        failures = (await look(time)) ? 0 : failures + 1;
        if (failures > 0) await pause(Math.min(500 * 2 ** Math.min(failures, 6), MAX_WAIT_MS));
        if (failures > 0) isDue = true;
        continue;
      }
      await pauseOr(Math.min(nextMoment() - time, LOOK_MS), (end) => {
        wake = end;
      });
      // Changes come in groups.
      if (isDue) await pause(SETTLE_MS);
    }
  }

  function nextMoment(): number {
    const ends = nextEnd(contact?.bindings ?? [], new Date(lookedAt));
    const cutOff = heardAt() + cutOffAfterMs;
    return Math.min(lookedAt + LOOK_MS, ends, cutOff > lookedAt ? cutOff : Number.POSITIVE_INFINITY);
  }

  function heardAt(): number {
    return contact?.at ?? started;
  }

  async function look(time: number): Promise<boolean> {
    const isCutOff = time - heardAt() >= cutOffAfterMs;
    if (contact === undefined && !isCutOff) {
      lookedAt = time;
      return true;
    }
    try {
      if (resources === undefined || time - lookedAt >= LOOK_MS) resources = await discovery.read();
      const namespaces = await namespacesThere();
      const holdings = isCutOff ? [] : (contact?.bindings ?? []);
      const bindings = wantedBindings(holdings, namespaces, new Date(time), namespace);
      const repaired = await repair({ roles: clusterRoles(resources), bindings });
      lookedAt = time;
      note(repaired, isCutOff, time);
      const [failure] = repaired.failures;
      if (failure !== undefined) say(WRITING, new Error(failure));
      else if (isOver(WRITING)) recovered();
      return failure === undefined;
    } catch (error) {
      say(WRITING, error);
      return false;
    }
  }

  function recovered(): void {
    log('the API server lets it work again');
    beatAt = Number.NEGATIVE_INFINITY;
  }

  function note({ created, updated, deleted }: Repaired, isCutOff: boolean, time: number): void {
    if (created + updated + deleted === 0) return;
    const why = isCutOff ? ', because it is cut off from Atrium' : '';
    did = `created ${created}, changed ${updated}, deleted ${deleted} at ${momentOf(time)}${why}`;
    log(did);
    beatAt = Number.NEGATIVE_INFINITY;
  }

  async function namespacesThere(): Promise<string[]> {
    const { items } = mustBe(await kube.call('GET', '/api/v1/namespaces'), 'listing namespaces');
    return (items as { metadata: { name: string; deletionTimestamp?: string } }[])
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name);
  }

  async function beat(): Promise<void> {
    while (!signal.aborted) {
      if (now() - beatAt >= BEAT_MS) {
        beatAt = now();
        try {
          await atrium.beat(await heartbeat());
          isOver('reporting');
        } catch (error) {
          say('reporting', error);
        }
      }
      await pause(ASK_MS);
    }
  }

  async function heartbeat(): Promise<Heartbeat> {
    const { endpoint, caBundle } = options;
    const fault = faults.get(WRITING) ?? faults.get('state');
    const isWell = fault === undefined;
    const message = `agent ${version}: ${fault ?? did}`.slice(0, 300);
    const known = { ...(endpoint !== undefined && { endpoint }), ...(caBundle !== undefined && { caBundle }) };
    const status = {
      phase: isWell ? 'Active' : 'NotReady',
      reason: isWell ? 'Agent' : 'AgentFailed',
      message,
    } as const;
    const release = await kube.call('GET', '/version').catch(() => undefined);
    const nodes = await kube.call('GET', '/api/v1/nodes?limit=1').catch(() => undefined);
    return {
      ...status,
      ...known,
      ...(typeof release?.body?.gitVersion === 'string' && { orchestratorVersion: release.body.gitVersion }),
      ...(nodes?.status === 200 && {
        nodeCount: (nodes.body.items?.length ?? 0) + (nodes.body.metadata?.remainingItemCount ?? 0),
      }),
    };
  }

  async function watch({ path, isDiscovery, isOurs }: (typeof WATCHED)[number]): Promise<void> {
    while (!signal.aborted) {
      try {
        const { metadata } = mustBe(await kube.call('GET', `${path}?limit=1`), `watching ${path}`);
        // What happened before the watch began.
        changed(isDiscovery);
        const query = `watch=1&timeoutSeconds=${WATCH_SECONDS}&resourceVersion=${metadata?.resourceVersion ?? ''}`;
        const on = (event: unknown) => {
          if (isOurs(event)) changed(isDiscovery);
        };
        const status = await kube.watch(`${path}?${query}`, on, signal);
        isOver(path);
        if (status === 200) continue;
      } catch (error) {
        say(path, error);
      }
      await pause(WATCH_AGAIN_MS);
    }
  }

  function changed(isDiscovery: boolean): void {
    if (isDiscovery) resources = undefined;
    trigger();
    // A new kind of resource is served some time after it was created.
    if (isDiscovery) for (const ms of SERVED_AFTER_MS) void pause(ms).then(discoverAgain);
  }

  function discoverAgain(): void {
    resources = undefined;
    trigger();
  }

  function trigger(): void {
    isDue = true;
    wake();
  }

  /** Once, until it is another fault or over. */
  function say(what: string, error: unknown): void {
    if (signal.aborted) return;
    const text = textOf(error);
    if (faults.get(what) === text) return;
    log(text);
    // What keeps it from its work is reported without delay.
    if (what === WRITING && !faults.has(what)) beatAt = Number.NEGATIVE_INFINITY;
    faults.set(what, text);
  }

  function isOver(what: string): boolean {
    return faults.delete(what);
  }

  function pause(ms: number): Promise<void> {
    return pauseOr(ms, () => undefined);
  }

  /** Until the time is over, the signal is given, or what `onPause` gets is called. */
  function pauseOr(ms: number, onPause: (end: () => void) => void): Promise<void> {
    return new Promise((done) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        done();
      };
      const timer = setTimeout(end, Math.max(ms, 1));
      signal.addEventListener('abort', end);
      onPause(end);
      if (signal.aborted) end();
    });
  }
}

function momentOf(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`;
}
