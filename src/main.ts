import { type Config, ConfigError, dotEnv, readConfig } from './base/config.ts';
import { AppError } from './base/errors.ts';
import { createLog } from './base/log.ts';
import { type Instance, openInstance } from './instance.ts';
import { listenForCommands } from './operations/command-socket.ts';
import { DEMO_SETTINGS, openDemo } from './operations/demo/demo.ts';
import { createFirstAdministrator } from './operations/first-start.ts';

const END_WITHIN_MS = 9500;
const say = (line: string) => process.stdout.write(`${line}\n`);

let config: Config | undefined;
let instance: Instance | undefined;
let ending = false;
let closeSocket = () => {};

/** The process: reads the settings, handles signals, and reports faults in words that the operator can act on. */
async function main(): Promise<void> {
  // Before anything that takes time: as process 1 of a container, a signal without a listener would be lost.
  process.on('SIGTERM', end).on('SIGINT', end);
  const isDemo = process.argv.slice(2).some((argument) => argument === 'demo' || argument === '--demo');
  config = readConfig({ ...(isDemo && DEMO_SETTINGS), ...dotEnv(), ...process.env });
  const log = createLog(config.LOG_LEVEL);
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'unexpected fault; the process exits');
    process.exit(1);
  });
  instance = await openInstance(config, { log, say });
  const address = await instance.listen();
  // No other process can open the built-in database, so its server runs commands itself.
  if (instance.db.driver === 'pglite') {
    const open = instance;
    closeSocket = await listenForCommands(config.DATA_DIR, async (request, print) => {
      // Rarely needed, and much to load.
      const { runInServer } = await import('./operations/server-commands.ts');
      await runInServer(open, request, print);
    }).catch((error) => {
      log.warn({ err: error }, 'the server cannot accept commands; stop it to run them');
      return () => undefined;
    });
  }
  if (isDemo) await openDemo(instance, config, address, say);
  else await createFirstAdministrator(instance, config.BASE_URL ?? address, say);
  if (config.OPENFGA_URL) say('warning: OPENFGA_URL is set, but this version uses only its own engine');
  const listenerPort = instance.listenerPort();
  if (listenerPort !== undefined) say(`the marketplace listener is on port ${listenerPort}`);
  say(`listening on ${address}`);
}

function end(signal: NodeJS.Signals): void {
  if (ending) return;
  ending = true;
  if (instance === undefined) process.exit(0);
  say(`${signal}: finishing the requests in progress`);
  setTimeout(() => process.exit(1), END_WITHIN_MS).unref();
  closeSocket();
  instance.close().then(
    () => process.exit(0),
    (error) => leave(`did not shut down cleanly: ${explain(error)}`),
  );
}

async function fail(error: unknown): Promise<void> {
  if (ending) return;
  ending = true;
  setTimeout(() => leave(`cannot start: ${explain(error)}`, codeOf(error)), END_WITHIN_MS).unref();
  await instance?.close(0).catch(() => undefined);
  leave(`cannot start: ${explain(error)}`, codeOf(error));
}

function leave(line: string, code = 1): never {
  process.stderr.write(`atrium ${line}\n`);
  process.exit(code);
}

/** 3: the database cannot be reached, and trying again later may help. */
function codeOf(error: unknown): number {
  return error instanceof AppError && error.kind === 'unavailable' && error.detail.retryAfter !== undefined ? 3 : 1;
}

type SystemError = NodeJS.ErrnoException & { readonly port?: number; readonly address?: string };

function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof AppError) return error.message;
  const { code, syscall, port, address, message, stack } = error as SystemError;
  const isAdmin = port !== undefined && port === config?.ADMIN_PORT;
  const isListener = port !== undefined && port === config?.MARKETPLACE_PORT;
  const setting = isAdmin ? 'ADMIN_PORT' : isListener ? 'MARKETPLACE_PORT' : 'PORT';
  if (code === 'EADDRINUSE') {
    return `port ${port} of ${address} is in use; stop the program that uses it, or choose another with ${setting}`;
  }
  if (code === 'EACCES' && port !== undefined) {
    return `this user may not open port ${port}; choose one above 1023 with ${setting}`;
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return `${address ?? message} is not an address of this machine; set ${isAdmin ? 'ADMIN_HOST' : 'HOST'}`;
  }
  // The operating system rejected an operation on a file or folder, and the message names it.
  if (code !== undefined && syscall !== undefined) return `${message} (check DATA_DIR and its files)`;
  return stack ?? String(error);
}

await main().catch(fail);
