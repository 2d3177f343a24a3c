import { parseArgs } from 'node:util';
import { AppError } from '../../base/errors.ts';
import type { RunInServer } from '../server-commands.ts';

export function busIn([subcommand, ...args]: readonly string[]): RunInServer {
  if (subcommand !== 'config') throw new AppError('invalid', 'bus needs a word more: atrium bus config [--dir FOLDER]');
  const { values } = parseArgs({ args, options: { dir: { type: 'string' } } });
  return async ({ features }, print) => print((await features.bus.serverConfig(values.dir)).trimEnd());
}
