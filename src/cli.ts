import { parseArgs } from 'node:util';
import { type Config, readConfig } from './base/config/config.ts';
import { AppError } from './base/errors.ts';
import { requireNode } from './base/node-version.ts';
import { helpOf, usageOf } from './operations/command-help.ts';
import { askServer, kindOf, type RunInServer } from './operations/command-socket.ts';
import { terminal } from './operations/commands/terminal.ts';
import { describeFailure, exitCodeOf } from './operations/failure-text.ts';
import { commandNamed, environment, SERVER_COMMANDS } from './operations/server-commands.ts';

const { say, complain } = terminal;

/** `atrium COMMAND` on the server's own machine, with the server's own settings. */
async function main([name = '--help', ...args]: readonly string[]): Promise<void> {
  requireNode();
  if (['--help', '-h', 'help'].includes(name)) return say(helpAbout(args[0]));
  const { help, here, inServer, secret } = commandNamed(name);
  if (args.includes('--help') || args.includes('-h')) return say(helpOf(name, help));
  if (name === 'serve') return await serve(args);
  if (here !== undefined) {
    process.exitCode = (await here(args, terminal)) ?? 0;
    return;
  }
  if (inServer === undefined) throw new AppError('internal', `${name} cannot be run`);
  const config = readConfig(environment());
  const nextKey = config.ATRIUM_NEXT_KEY?.toString('base64');
  const request = { argv: [name, ...args], nextKey, secret: await secret?.(args) };
  // Wrong usage is rejected here, before a server is asked or a database is opened.
  const run = await inServer(args, request);
  if (config.DATABASE_URL === undefined && (await askServer(config.DATA_DIR, request, say))) return;
  await runOnOwnInstance(config, run);
}

function helpAbout(name: string | undefined): string {
  const isKnown = name !== undefined && Object.hasOwn(SERVER_COMMANDS, name);
  return isKnown ? helpOf(name, commandNamed(name).help) : usageOf(SERVER_COMMANDS);
}

async function serve(args: string[]): Promise<void> {
  parseArgs({ args, options: { demo: { type: 'boolean' } } });
  await import('./main.ts');
}

/** Runs on the database itself; with PostgreSQL, servers can run at the same time. */
async function runOnOwnInstance(config: Config, run: RunInServer): Promise<void> {
  const [{ openInstance }, { createLog }] = await Promise.all([import('./instance.ts'), import('./base/log.ts')]);
  const BASE_URL = config.BASE_URL ?? `http://${config.HOST}:${config.PORT}`;
  const instance = await openInstance({ ...config, BASE_URL }, { log: createLog('warn'), say: complain });
  try {
    await run(instance, say);
  } finally {
    await instance.close(0);
  }
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  const isUsage = kindOf(error) === 'invalid';
  complain(`atrium: ${isUsage ? (error as Error).message : describeFailure(error)}`);
  // 2: wrong usage; 3: the database cannot be reached, and trying again later may help; 1: everything else.
  process.exitCode = isUsage ? 2 : exitCodeOf(error);
});
