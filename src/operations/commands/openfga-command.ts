import { parseArgs } from 'node:util';
import { AppError } from '../../base/errors.ts';
import type { RunInServer } from '../command-socket.ts';

export function openFgaIn([subcommand, ...args]: readonly string[]): RunInServer {
  if (subcommand !== 'sync') {
    const problem = subcommand === undefined ? 'missing subcommand' : `unknown subcommand "${subcommand}"`;
    throw new AppError('invalid', `${problem}, for example: atrium openfga sync --verify`);
  }
  const { values } = parseArgs({ args, options: { verify: { type: 'boolean' } } });
  return async ({ features: { openFga } }, print) => {
    if (openFga === undefined) {
      throw new AppError('invalid', 'no OpenFGA server is used; set OPENFGA_URL to use one');
    }
    const { changes, verified } = await openFga.sync(values.verify ?? false);
    print(changes === 0 ? 'everything was published already' : `published ${changes} changed tuples`);
    if (verified === undefined) return;
    const { tuples, missing, surplus } = verified;
    print(`compared ${tuples} tuples: ${missing} were missing and ${surplus} were not ours`);
    if (missing + surplus > 0) print('the store is repaired; find out who else writes to it');
  };
}
