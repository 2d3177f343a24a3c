import { type Config, dotEnv, readConfig } from './base/config.ts';
import { requireNode } from './base/node-version.ts';
import { saveMemoryWhileStarting } from './base/start-memory.ts';
import type { Instance } from './instance.ts';
import { describeFailure, exitCodeOf } from './operations/failure-text.ts';

const END_WITHIN_MS = 9500;
/** npm passes a signal on, and a supervisor may send it to the whole group, so the same one can arrive twice. */
const SAME_SIGNAL_MS = 500;
const say = (line: string) => process.stdout.write(`${line}\n`);

let config: Config | undefined;
let instance: Instance | undefined;
let isListening = false;
let hasFailed = false;
let signaledAt: number | undefined;
let closeSocket = () => {};

/** The process: reads the settings, handles signals, and reports faults in words that the operator can act on. */
async function main(): Promise<void> {
  requireNode();
  const started = saveMemoryWhileStarting();
  // Before anything that takes time: as process 1 of a container, a signal without a listener would be lost.
  process.on('SIGTERM', end).on('SIGINT', end);
  const isDemo = process.argv.slice(2).some((argument) => argument === 'demo' || argument === '--demo');
  const demo = isDemo ? await import('./operations/demo/demo.ts') : undefined;
  config = readConfig({ ...demo?.DEMO_SETTINGS, ...dotEnv(), ...process.env });
  // Everything else takes most of a second to load, and wrong settings should be reported at once.
  const [{ createLog }, { openInstance }] = await Promise.all([import('./base/log.ts'), import('./instance.ts')]);
  const log = createLog(config.LOG_LEVEL);
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'unexpected fault; the process exits');
    process.exit(1);
  });
  instance = await openInstance(config, { log, say, onStopped: stop });
  const address = await instance.listen();
  isListening = true;
  // No other process can open the built-in database, so its server runs commands itself.
  if (instance.db.driver === 'pglite') {
    const open = instance;
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
  if (demo) await demo.openDemo(instance, config, address, say);
  else {
    const { createFirstAdministrator } = await import('./operations/first-start.ts');
    await createFirstAdministrator(instance, config.BASE_URL ?? address, say);
  }
  if (config.OPENFGA_URL) say('warning: OPENFGA_URL is set, but this version uses only its own engine');
  const listenerPort = instance.listenerPort();
  if (listenerPort !== undefined) say(`the marketplace listener is on port ${listenerPort}`);
  started();
  say(`listening on ${address}`);
}

/**
 * The first signal makes the server unready, but it keeps accepting requests until load balancers have noticed. A
 * second signal, or Ctrl-C in a terminal, does not wait for them.
 */
function end(signal: NodeJS.Signals): void {
  const now = performance.now();
  if (hasFailed || (signaledAt !== undefined && now - signaledAt < SAME_SIGNAL_MS)) return;
  if (instance === undefined || config === undefined) process.exit(0);
  const isFirst = signaledAt === undefined;
  signaledAt = now;
  const isTyped = signal === 'SIGINT' && process.stdin.isTTY;
  const delayMs = isFirst && isListening && !isTyped ? config.SHUTDOWN_DELAY_MS : 0;
  if (!isFirst) {
    say(`${signal}: closing at once`);
    close(0);
    return;
  }
  instance.leave();
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
  instance?.close(patienceMs).then(
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
  setTimeout(() => leave(words), 2000).unref();
  // Requests under way are answered with 503.
  setImmediate(
    () =>
      void instance?.close(1000).then(
        () => leave(words),
        () => leave(words),
      ),
  );
}

async function fail(error: unknown): Promise<void> {
  if (signaledAt !== undefined || hasFailed) return;
  hasFailed = true;
  const words = `cannot start: ${describeFailure(error, config)}`;
  setTimeout(() => leave(words, exitCodeOf(error)), END_WITHIN_MS).unref();
  await instance?.close(0).catch(() => undefined);
  leave(words, exitCodeOf(error));
}

function leave(line: string, code = 1): never {
  process.stderr.write(`atrium ${line}\n`);
  process.exit(code);
}

await main().catch(fail);
