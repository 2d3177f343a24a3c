import { parseArgs } from 'node:util';
import { AppError } from '../../base/errors.ts';
import type { RunInServer } from '../command-socket.ts';

export function busIn([subcommand, ...args]: readonly string[]): RunInServer {
  if (subcommand !== 'config') {
    const problem = subcommand === undefined ? 'missing subcommand' : `unknown subcommand "${subcommand}"`;
    throw new AppError('invalid', `${problem}, for example: atrium bus config --dir FOLDER`);
  }
  const { values } = parseArgs({
    args,
    options: { dir: { type: 'string' }, server: { type: 'string' }, routes: { type: 'string' } },
  });
  const { dir, server, routes } = values;
  if (server !== undefined && !/^[1-9]\d?$/.test(server)) {
    throw new AppError('invalid', '--server must be the number of a server in BUS_URL, for example: --server 1');
  }
  const which = { number: server === undefined ? undefined : Number(server), routes: routes?.split(',') };
  return async ({ features }, print) => print((await features.bus.serverConfig(dir, which)).trimEnd());
}
