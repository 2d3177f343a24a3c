import { parseArgs } from 'node:util';
import { type Config, ConfigError, dotEnv, readConfig } from './base/config.ts';
import { AppError } from './base/errors.ts';
import { askServer, kindOf, type Order } from './operations/command-socket.ts';
import { terminal } from './operations/commands/terminal.ts';
import { helpOf, SERVER_COMMANDS, unknownCommand, usage } from './operations/server-commands.ts';

const { say, complain } = terminal;
const environment = () => ({ ...dotEnv(), ...process.env });

/** `atrium COMMAND` for what an operator does on the server's own machine, with the server's own settings. */
async function main(argv: readonly string[]): Promise<void> {
  const [name = '--help', ...args] = argv;
  if (['--help', '-h', 'help'].includes(name)) return say(helpOf(args[0] ?? '') ?? usage());
  if (!SERVER_COMMANDS.some((command) => command.name === name)) throw new AppError('invalid', unknownCommand(name));
  if (args.includes('--help') || args.includes('-h')) return say(helpOf(name) ?? usage());
  switch (name) {
    case 'serve':
      return await serve(args);
    // Loaded when used: help and completion must not wait for a database driver.
    case 'doctor': {
      const { runDoctor } = await import('./operations/commands/doctor-command.ts');
      process.exitCode = await runDoctor(args, environment(), terminal);
      return;
    }
    case 'migrate': {
      const { runMigrate } = await import('./operations/commands/migrate-command.ts');
      return await runMigrate(args, readConfig(environment()), terminal);
    }
    case 'backup': {
      const { runBackup } = await import('./operations/commands/backup-command.ts');
      return await runBackup(args, readConfig(environment()), terminal);
    }
    case 'restore': {
      const { runRestore } = await import('./operations/commands/restore-command.ts');
      return await runRestore(args, readConfig(environment()), terminal);
    }
    default:
      return await order(argv);
  }
}

async function serve(args: string[]): Promise<void> {
  parseArgs({ args, options: { demo: { type: 'boolean' } } });
  await import('./main.ts');
}

/** Of the running server where one has the built-in database, else of a instance that is opened for it. */
async function order(argv: readonly string[]): Promise<void> {
  const config = readConfig(environment());
  const wish = { argv, nextKey: config.ATRIUM_NEXT_KEY?.toString('base64') };
  if (config.DATABASE_URL === undefined && (await askServer(config.DATA_DIR, wish, say))) return;
  await withoutServer(config, wish);
}

/** On the database itself; with PostgreSQL servers may run beside. */
async function withoutServer(config: Config, wish: Order): Promise<void> {
  const [{ openInstance }, { createLog }, { runCommand }] = await Promise.all([
    import('./instance.ts'),
    import('./base/log.ts'),
    import('./operations/commands.ts'),
  ]);
  const BASE_URL = config.BASE_URL ?? `http://${config.HOST}:${config.PORT}`;
  const instance = await openInstance({ ...config, BASE_URL }, { log: createLog('warn'), say: complain });
  try {
    await runCommand(instance, wish, say);
  } finally {
    await instance.close(0);
  }
}

/** 2: what was typed cannot be meant; 3: the database is away, and later may help; 1: everything else. */
function exitCodeOf(error: unknown): number {
  if (kindOf(error) === 'invalid') return 2;
  return error instanceof AppError && error.kind === 'unavailable' && error.detail.retryAfter !== undefined ? 3 : 1;
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  const isOurs = error instanceof ConfigError || error instanceof AppError || kindOf(error) === 'invalid';
  const text = isOurs || !(error instanceof Error) ? String((error as Error).message ?? error) : error.stack;
  complain(`atrium: ${text}`);
  process.exitCode = exitCodeOf(error);
});
