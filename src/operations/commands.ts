import { parseArgs } from 'node:util';
import { AppError } from '../base/errors.ts';
import { createKeys } from '../base/keys.ts';
import type { Instance } from '../instance.ts';
import { runInstaller } from '../marketplace/commands/installer-command.ts';
import { runMarketplace } from '../marketplace/commands/marketplace-command.ts';
import { copyForBackup } from './backup/source.ts';
import type { Order, Tell } from './command-socket.ts';
import { migrateOn } from './commands/migrate-command.ts';
import { examineInside } from './doctor/inside.ts';
import { unknownCommand } from './server-commands.ts';

type Run = (instance: Instance, order: Order, tell: Tell) => Promise<void>;

/** What an operator can ask of a instance that is open: of the server, or of one that is opened for the command alone. */
const COMMANDS: Readonly<Record<string, Run>> = {
  'rotate-keys': rotateKeys,
  bus: tellAboutBus,
  installer: async ({ features: { marketplace } }, { argv }, tell) => {
    for (const line of await runInstaller(marketplace.installers, argv.slice(1), new Date())) tell(line);
  },
  marketplace: async ({ features: { marketplace } }, { argv }, tell) => {
    for (const line of await runMarketplace(marketplace, argv.slice(1))) tell(line);
  },
  // The halves that only the process with the built-in database can do; the other halves are in commands/.
  migrate: ({ db }, { argv }, tell) => migrateOn(db, argv.slice(1), tell),
  backup: ({ db, config }, _order, tell) => copyForBackup(db, config.DATA_DIR, tell),
  doctor: async ({ db, config }, _order, tell) => {
    for (const finding of await examineInside(db, config)) tell(JSON.stringify(finding));
  },
};

export async function runCommand(instance: Instance, order: Order, tell: Tell): Promise<void> {
  const name = order.argv[0] ?? '';
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new AppError('invalid', unknownCommand(name));
  await command(instance, order, tell);
}

async function rotateKeys(instance: Instance, { argv, nextKey }: Order, tell: Tell): Promise<void> {
  const { values } = parseArgs({ args: argv.slice(1), options: { 'retire-old-root': { type: 'boolean' } } });
  const started = performance.now();
  const {
    owners,
    values: count,
    damaged,
  } = await instance.rotateKeys({
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

async function tellAboutBus(instance: Instance, { argv }: Order, tell: Tell): Promise<void> {
  if (argv[1] !== 'config') throw new AppError('invalid', 'bus needs a word more: atrium bus config [--dir FOLDER]');
  const { values } = parseArgs({ args: argv.slice(2), options: { dir: { type: 'string' } } });
  tell((await instance.features.bus.serverConfig(values.dir)).trimEnd());
}
