import { runCommand, usage } from './commands.ts';
import { type Config, ConfigError, dotEnv, readConfig } from './config.ts';
import { AppError } from './errors.ts';
import { openHouse } from './house.ts';
import { createLog } from './log.ts';
import { runSend } from './marketplace/commands/send.ts';
import { askServer, type Order } from './operator.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);
const complain = (line: string) => process.stderr.write(`${line}\n`);

/** `npm run atrium -- COMMAND`: what an operator does on the server's own machine, with the server's own settings. */
async function main(argv: readonly string[]): Promise<void> {
  if (argv.length === 0 || argv[0] === '--help') return void say(usage());
  if (argv[0] === 'marketplace' && argv[1] === 'send') {
    if (!(await runSend(argv.slice(2), say))) process.exitCode = 1;
    return;
  }
  const config = readConfig({ ...dotEnv(), ...process.env });
  const order = { argv, nextKey: config.ATRIUM_NEXT_KEY?.toString('base64') };
  if (config.DATABASE_URL === undefined && (await askServer(config.DATA_DIR, order, say))) return;
  await withoutServer(config, order);
}

/** On the database itself; with PostgreSQL servers may run beside. */
async function withoutServer(config: Config, order: Order): Promise<void> {
  const BASE_URL = config.BASE_URL ?? `http://${config.HOST}:${config.PORT}`;
  const house = await openHouse({ ...config, BASE_URL }, { log: createLog('warn'), say: complain });
  try {
    await runCommand(house, order, say);
  } finally {
    await house.close(0);
  }
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  const isOurs = error instanceof ConfigError || error instanceof AppError;
  const text = isOurs || !(error instanceof Error) ? String((error as Error).message ?? error) : error.stack;
  complain(`atrium: ${text}`);
  process.exitCode = 1;
});
