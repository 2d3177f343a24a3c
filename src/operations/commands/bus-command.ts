import { parseArgs } from 'node:util';
import { AppError } from '../../base/errors.ts';
import type { RunInServer } from '../command-socket.ts';

export function busIn([subcommand, ...args]: readonly string[]): RunInServer {
  if (subcommand !== 'config') {
    const problem = subcommand === undefined ? 'missing subcommand' : `unknown subcommand "${subcommand}"`;
    throw new AppError('invalid', `${problem}, for example: atrium bus config --dir FOLDER`);
  }
  const { values } = parseArgs({ args, options: { dir: { type: 'string' } } });
  return async ({ features }, print) => print((await features.bus.serverConfig(values.dir)).trimEnd());
}
