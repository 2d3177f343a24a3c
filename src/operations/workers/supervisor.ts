import cluster from 'node:cluster';
import type { Logger } from 'pino';
import type { Config } from '../../base/config/config.ts';
import { type AdminServer, openAdmin } from '../../http/admin-port.ts';
import { createBrakeKeeper } from './common-brake.ts';
import { createJointMetrics } from './joint-metrics.ts';
import { createJointReadiness } from './joint-readiness.ts';
import { endingText, type Member, type Serving, startMember } from './member.ts';
import type { WorkerMessage } from './messages.ts';
import { createRespawnPause } from './respawn-pause.ts';

/** Where a worker belongs. The one in it changes, its number stays. */
interface Place {
  readonly number: number;
  readonly pauseMs: (livedMs: number) => number;
  member: Member | undefined;
  /** A successor is on its way, so no other one has to be started. */
  isRenewing: boolean;
}

type Settings = Pick<Config, 'ADMIN_HOST' | 'ADMIN_PORT' | 'AUTH_FAILURES' | 'SHUTDOWN_DELAY_MS'>;

export type Supervisor = ReturnType<typeof createSupervisor>;

/** A worker gives up on its last requests sooner; one that cannot even do that is killed. */
const END_WITHIN_MS = 12_000;

/**
 * The process that holds the ports of a server and starts its workers. It serves no requests itself: it hands each
 * connection to a worker, one after the other in turn, and the connection stays there.
 *
 * 1. The first worker is complete before the others start: it migrates, and prints what a first start prints.
 * 2. A worker that cannot start ends the server, but only until all have started once. Later it is tried again.
 * 3. A worker that dies is replaced. One whose end is wanted is not.
 */
export function createSupervisor(config: Settings, count: number, log: Logger) {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  const places: Place[] = Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    pauseMs: createRespawnPause(),
    member: undefined,
    isRenewing: false,
  }));
  const members = new Set<Member>();
  const brake = createBrakeKeeper(config.AUTH_FAILURES);
  const ready = createJointReadiness(serving);
  const metrics = createJointMetrics(() => serving().length, ready);
  const ending = Promise.withResolvers<void>();
  let admin: AdminServer | undefined;
  let isStarted = false;
  let isEnding = false;
  let rolling: Promise<void> | undefined;
  let rollsAgain = false;
  let closing: Promise<void> | undefined;

  return { listen, roll, leave, close };

  function serving(): Member[] {
    return [...members].filter(({ isServing, isLeaving }) => isServing && !isLeaving);
  }

  /** Starts all workers; returns where they listen. */
  async function listen(): Promise<Serving> {
    const [first, ...others] = places as [Place, ...Place[]];
    const address = await start(first);
    await Promise.all(others.map(start));
    if (config.ADMIN_PORT !== 0) {
      const page = () => metrics.page(() => [...members].map(readingsOf));
      admin = await openAdmin({ host: config.ADMIN_HOST, port: config.ADMIN_PORT }, { ready, alive, metrics: page });
    }
    isStarted = true;
    // Those that died before all had started.
    for (const place of places) if (place.member === undefined) void replace(place, 0);
    return address;
  }

  async function start(place: Place): Promise<Serving> {
    const member = startMember(place.number, hear);
    members.add(member);
    void member.ended.then((how) => ended(place, member, `worker ${place.number} died (${endingText(how)})`));
    const served = await member.serving;
    place.member = member;
    log.info({ worker: place.number, pid: member.pid }, `worker ${place.number} serves`);
    return served;
  }

  function hear(member: Member, notice: WorkerMessage): void {
    if (notice.kind === 'attempt') void brake.begin(member.id, notice, member.send);
    else if (notice.kind === 'attempted') brake.finish(member.id, notice.id, notice.isWrong);
    else if (notice.kind === 'used') for (const other of members) if (other !== member) other.send(notice);
  }

  function ended(place: Place, member: Member, words: string): void {
    members.delete(member);
    brake.forget(member.id);
    metrics.keep(member.readings);
    if (member.isLeaving || isEnding) return;
    metrics.deaths.inc();
    // One that never served is reported by the code that started it.
    if (place.member !== member) return;
    place.member = undefined;
    if (!isStarted) return;
    log.error({ worker: place.number }, `${words}; another takes its place`);
    if (!place.isRenewing) void replace(place, performance.now() - member.startedAt);
  }

  async function replace(place: Place, livedMs: number): Promise<void> {
    place.isRenewing = true;
    for (let pauseMs = place.pauseMs(livedMs); !isEnding; ) {
      if (pauseMs > 0) log.warn({ worker: place.number }, `worker ${place.number} is started again in ${pauseMs} ms`);
      await pause(pauseMs);
      if (isEnding) break;
      try {
        await start(place);
        break;
      } catch (error) {
        log.error({ worker: place.number }, `worker ${place.number} could not start: ${(error as Error).message}`);
        pauseMs = place.pauseMs(0);
      }
    }
    place.isRenewing = false;
  }

  /** Replaces every worker by a new one that reads the settings again, one after the other. */
  function roll(): Promise<void> {
    rollsAgain = true;
    rolling ??= rollAll().finally(() => {
      rolling = undefined;
    });
    return rolling;
  }

  async function rollAll(): Promise<void> {
    while (rollsAgain && !isEnding) {
      rollsAgain = false;
      for (const place of places) {
        // One that is being replaced anyway is new.
        if (isEnding || place.isRenewing) continue;
        if (!(await renew(place))) return;
      }
      log.info('all workers are new');
    }
  }

  /** The new worker serves before the old one leaves. */
  async function renew(place: Place): Promise<boolean> {
    const old = place.member;
    place.isRenewing = true;
    try {
      await start(place);
    } catch (error) {
      if (isEnding) return false;
      log.error(
        { worker: place.number },
        `worker ${place.number} could not be replaced, so the workers stay as they are: ${(error as Error).message}`,
      );
      if (place.member === undefined) void replace(place, 0);
      return false;
    } finally {
      if (place.member !== undefined) place.isRenewing = false;
    }
    if (old) await retire(old);
    return true;
  }

  /** As SIGTERM does it with a whole server: its clients are told first, and its requests end. */
  async function retire(member: Member): Promise<void> {
    member.isLeaving = true;
    member.send({ kind: 'leave', isReplaced: true });
    await Promise.race([pause(config.SHUTDOWN_DELAY_MS), member.ended]);
    await dismiss(member, undefined);
  }

  async function dismiss(member: Member, patienceMs: number | undefined): Promise<void> {
    member.isLeaving = true;
    member.send({ kind: 'close', patienceMs });
    const impatience = setTimeout(() => member.kill(), END_WITHIN_MS);
    await member.ended;
    clearTimeout(impatience);
  }

  /** Unless the server ends before that. */
  async function pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    await Promise.race([promise, ending.promise]);
    clearTimeout(timer);
  }

  async function readingsOf(member: Member) {
    if (!member.isServing) return member.readings;
    // Its previous readings do for one that does not answer.
    return await member.ask('metrics').catch(() => member.readings);
  }

  async function alive(): Promise<void> {
    await Promise.all(serving().map((member) => member.ask('alive')));
  }

  /** From now on the server is not ready, and clients are told to send their next request elsewhere. */
  function leave(): void {
    admin?.drain();
    for (const member of members) member.send({ kind: 'leave', isReplaced: false });
  }

  /** Lets the workers finish their requests and end. */
  function close(patienceMs?: number): Promise<void> {
    isEnding = true;
    ending.resolve();
    leave();
    const gone = Promise.all([...members].map((member) => dismiss(member, patienceMs)));
    closing ??= gone.then(() => admin?.close());
    return closing;
  }
}
