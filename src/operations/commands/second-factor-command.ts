import { AppError } from '../../base/errors.ts';
import { SERVER } from '../../changes/audit-entry.ts';
import type { RunInServer } from '../command-socket.ts';

const EXAMPLE = 'for example: atrium second-factor remove ann';

/**
 * For a user who has lost every factor, if no administrator can help: the operator who runs this is at the server
 * itself.
 */
export function secondFactorIn([subcommand, username, ...rest]: readonly string[]): RunInServer {
  if (subcommand !== 'remove') {
    const problem = subcommand === undefined ? 'missing subcommand' : `unknown subcommand "${subcommand}"`;
    throw new AppError('invalid', `${problem}, ${EXAMPLE}`);
  }
  if (username === undefined) throw new AppError('invalid', `missing user name, ${EXAMPLE}`);
  if (rest.length > 0) throw new AppError('invalid', `too many arguments, ${EXAMPLE}`);
  return async ({ features: { users, factors } }, print) => {
    const count = await factors.reset(await users.idOf(username), SERVER);
    print(
      count === 0
        ? `${username} has no second factor`
        : `removed the second factors of ${username} (${count}) and ended all sessions; no second factor is asked for now`,
    );
  };
}
