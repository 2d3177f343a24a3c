import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { type Config, dotEnv, readConfig } from './base/config/config.ts';
import { requireNode } from './base/node-version.ts';
import { saveMemoryWhileStarting } from './base/start-memory.ts';
import type { Instance } from './instance.ts';
import { describeFailure, exitCodeOf } from './operations/failure-text.ts';
import { requireFreePorts } from './operations/free-ports.ts';
import { StartFailure } from './operations/workers/member.ts';
import { workerCount } from './operations/workers/worker-count.ts';
import { connectWorker, type WorkerLink } from './operations/workers/worker-link.ts';

const END_WITHIN_MS = 9500;
/** npm passes a signal on, and a supervisor may send it to the whole group, so the same one can arrive twice. */
const SAME_SIGNAL_MS = 500;
const say = (line: string) => process.stdout.write(`${line}\n`);

let config: Config | undefined;
/** What a signal ends: the instance of this process, or the supervisor of its workers. */
let server: Pick<Instance, 'leave' | 'close'> | undefined;
let isListening = false;
let hasFailed = false;
let signaledAt: number | undefined;
let closeSocket = () => {};
/** If this process is one of several that serve the same ports. */
let worker: WorkerLink | undefined;

/** The process: reads the settings, handles signals, and reports faults in words that the operator can act on. */
async function main(): Promise<void> {
  requireNode();
  const started = saveMemoryWhileStarting();
  // Before anything that takes time: as process 1 of a container, a signal without a listener would be lost.
  worker = cluster.isWorker
    ? connectWorker({ leave: (isReplaced) => server?.leave(isReplaced), close: closeWorker })
    : undefined;
  // A signal to the whole group reaches workers, too. The supervisor tells them what to do.
  const onSignal = worker ? () => undefined : end;
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  if (worker) process.on('SIGHUP', onSignal);
  const isDemo = process.argv.slice(2).some((argument) => argument === 'demo' || argument === '--demo');
  const demo = isDemo ? await import('./operations/demo/demo.ts') : undefined;
  config = readConfig({ ...demo?.DEMO_SETTINGS, ...dotEnv(), ...process.env });
  if (!worker) await requireFreePorts(config);
  const { count, isSupervised, reason } = workerCount(config);
  if (reason !== undefined && !worker) say(reason);
  const { createLog } = await import('./base/log.ts');
  const log = createLog(config.LOG_LEVEL);
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'unexpected fault; the process exits');
    process.exit(1);
  });
  const { address, listenerPort } =
    isSupervised && !worker ? await supervise(config, count, log) : await serve(config, log, demo);
  isListening = true;
  started();
  if (worker) return;
  if (listenerPort !== undefined) say(`the marketplace listener is on port ${listenerPort}`);
  say(`listening on ${address}`);
}

/** Starts the workers, and does nothing else with requests. */
async function supervise(config: Config, count: number, log: Logger) {
  const { createSupervisor } = await import('./operations/workers/supervisor.ts');
  const supervisor = createSupervisor(config, count, log);
  server = supervisor;
  const serving = await supervisor.listen();
  process.on('SIGHUP', () => {
    say('SIGHUP: replacing the workers, one after the other');
    void supervisor.roll();
  });
  say(count === 1 ? 'one worker serves requests' : `${count} workers serve requests`);
  return serving;
}

type Demo = typeof import('./operations/demo/demo.ts');

/** Serves requests in this process, alone or as one of several workers. */
async function serve(config: Config, log: Logger, demo: Demo | undefined) {
  // It takes most of a second to load, and wrong settings should be reported immediately.
  const { openInstance } = await import('./instance.ts');
  const open = worker
    ? await openInstance(
        // The supervisor has the admin port.
        { ...config, ADMIN_PORT: 0 },
        {
          log: log.child({ worker: worker.number }),
          say: worker.number === 1 ? say : () => undefined,
          common: worker.common,
        },
      )
    : await openInstance(config, { log, say, onStopped: stop });
  server = open;
  const address = await open.listen();
  isListening = true;
  // No other process can open the built-in database, so its server runs commands itself.
  if (open.db.capabilities.isOnlyWriter) {
    const { listenForCommands } = await import('./operations/command-socket.ts');
    closeSocket = await listenForCommands(config.DATA_DIR, async (request, print) => {
      // Rarely needed, and much to load.
      const { runInServer } = await import('./operations/server-commands.ts');
      await runInServer(open, request, print);
    }).catch((error) => {
      log.warn({ err: error }, 'the server cannot accept commands; stop it to run them');
      return () => undefined;
    });
  }
  // What happens once in a deployment, or is printed once, is for the first worker.
  const isFirst = worker === undefined || worker.number === 1;
  const prepared = isFirst ? prepare(open, config, demo, address) : Promise.resolve();
  open.warmUp(prepared);
  await prepared;
  worker?.serve(open, address);
  return { address, listenerPort: open.listenerPort() };
}

async function prepare(open: Instance, config: Config, demo: Demo | undefined, address: string): Promise<void> {
  if (demo) return await demo.openDemo(open, config, address, say);
  const { createFirstAdministrator } = await import('./operations/first-start.ts');
  await createFirstAdministrator(open, config.BASE_URL ?? address, say);
}

/**
 * The first signal makes the server unready, but it keeps accepting requests until load balancers have noticed. A
 * second signal, or Ctrl-C in a terminal, does not wait for them.
 */
function end(signal: NodeJS.Signals): void {
  const now = performance.now();
  if (hasFailed || (signaledAt !== undefined && now - signaledAt < SAME_SIGNAL_MS)) return;
  if (server === undefined || config === undefined) process.exit(0);
  const isFirst = signaledAt === undefined;
  signaledAt = now;
  const isTyped = signal === 'SIGINT' && process.stdin.isTTY;
  const delayMs = isFirst && isListening && !isTyped ? config.SHUTDOWN_DELAY_MS : 0;
  if (!isFirst) {
    say(`${signal}: closing immediately`);
    close(0);
    return;
  }
  server.leave();
  if (delayMs > 0) say(`${signal}: not ready any more; requests are accepted for another ${delayMs} ms`);
  const finish = () => {
    say(`${signal}: finishing the requests in progress`);
    close();
  };
  if (delayMs > 0) setTimeout(finish, delayMs);
  else finish();
}

function close(patienceMs?: number): void {
  setTimeout(() => process.exit(1), END_WITHIN_MS).unref();
  closeSocket();
  server?.close(patienceMs).then(
    () => process.exit(0),
    (error) => leave(`did not shut down cleanly: ${describeFailure(error)}`),
  );
}

/** What the supervisor wants of a worker in the end. The first time, it may still be starting. */
function closeWorker(patienceMs: number | undefined): void {
  if (server === undefined) process.exit(0);
  setTimeout(() => process.exit(1), END_WITHIN_MS).unref();
  server
    .close(patienceMs)
    .then(() => worker?.finish())
    .then(
      () => process.exit(0),
      (error) => leave(`did not shut down cleanly: ${describeFailure(error)}`),
    );
}

/** The built-in database stopped and cannot continue in this process. The supervisor starts another, which recovers. */
function stop(error: Error): void {
  // While the server starts, the start itself fails with this error.
  if (hasFailed || !isListening) return;
  hasFailed = true;
  const words = `stopped: ${error.message}`;
  setTimeout(() => leave(words), 2000);
  // Requests under way are answered with 503.
  setImmediate(
    () =>
      void server?.close(1000).then(
        () => leave(words),
        () => leave(words),
      ),
  );
}

async function fail(error: unknown): Promise<void> {
  if (signaledAt !== undefined || hasFailed) return;
  hasFailed = true;
  const code = error instanceof StartFailure ? error.ending.code || 1 : exitCodeOf(error);
  // A worker that ended with a code has said why.
  const isSaid = error instanceof StartFailure && error.ending.code;
  const words = isSaid ? undefined : `cannot start: ${describeFailure(error, config)}`;
  setTimeout(() => leave(words, code), END_WITHIN_MS).unref();
  await server?.close(0).catch(() => undefined);
  leave(words, code);
}

function leave(line: string | undefined, code = 1): never {
  if (line !== undefined) process.stderr.write(`atrium ${line}\n`);
  process.exit(code);
}

await main().catch(fail);
