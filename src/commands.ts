import { parseArgs } from 'node:util';
import { AppError } from './errors.ts';
import type { House } from './house.ts';
import { createKeys } from './keys.ts';
import { INSTALLER_HELP, runInstaller } from './marketplace/commands/installer.ts';
import { MARKETPLACE_HELP, runMarketplace } from './marketplace/commands/marketplace.ts';
import type { Order, Tell } from './operator.ts';

interface Command {
  readonly help: string;
  run(house: House, order: Order, tell: Tell): Promise<void>;
}

/** What an operator can ask for on the server's own machine: of the server, or of the database when none runs. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  'rotate-keys': {
    help: 'new keys for every secret, while servers run; --retire-old-root ends a change of the root key',
    run: rotateKeys,
  },
  bus: {
    help: 'bus config [--dir FOLDER] prints what a NATS server needs; FOLDER is where it keeps its files (./atrium-bus)',
    run: tellAboutBus,
  },
  installer: {
    help: `\n${INSTALLER_HELP}`,
    run: async ({ marketplace }, { argv }, tell) => {
      for (const line of await runInstaller(marketplace.installers, argv.slice(1), new Date())) tell(line);
    },
  },
  marketplace: {
    help: `\n${MARKETPLACE_HELP}`,
    run: async ({ marketplace }, { argv }, tell) => {
      for (const line of await runMarketplace(marketplace, argv.slice(1), new Date())) tell(line);
    },
  },
};

export async function runCommand(house: House, order: Order, tell: Tell): Promise<void> {
  const name = order.argv[0] ?? '';
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new AppError('invalid', `unknown command "${name}"\n${usage()}`);
  await command.run(house, order, tell);
}

export function usage(): string {
  return ['commands:', ...Object.entries(COMMANDS).map(([name, { help }]) => `  ${name.padEnd(14)}${help}`)].join('\n');
}

async function rotateKeys(house: House, { argv, nextKey }: Order, tell: Tell): Promise<void> {
  const { values } = parseArgs({ args: argv.slice(1), options: { 'retire-old-root': { type: 'boolean' } } });
  const started = performance.now();
  const {
    owners,
    values: count,
    damaged,
  } = await house.rotateKeys({
    next: nextKey === undefined ? undefined : createKeys(Buffer.from(nextKey, 'base64')),
    retireOldRoot: values['retire-old-root'],
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  tell(`${owners} new data keys, ${count} secrets sealed anew, in ${seconds} s`);
  if (nextKey !== undefined) {
    tell(
      'both root keys open this database now: start every server with the new one, then run rotate-keys --retire-old-root',
    );
  }
  for (const one of damaged) tell(`warning: ${one} could not be opened and was left as it is`);
}

async function tellAboutBus(house: House, { argv }: Order, tell: Tell): Promise<void> {
  if (argv[1] !== 'config') throw new AppError('invalid', `unknown command "${argv.join(' ')}"\n${usage()}`);
  const { values } = readOptions(() => parseArgs({ args: argv.slice(2), options: { dir: { type: 'string' } } }));
  tell((await house.bus.serverConfig(values.dir)).trimEnd());
}

/** A mistyped option is no fault of the program. */
function readOptions<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new AppError('invalid', (error as Error).message);
  }
}
