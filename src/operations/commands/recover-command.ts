import { parseArgs } from 'node:util';
import { AppError } from '../../base/errors.ts';
import { SERVER } from '../../changes/audit-entry.ts';
import { rejectUnusable } from '../../identity/callers.ts';
import type { RunInServer } from '../command-socket.ts';

const HOUR_MS = 3_600_000;

/**
 * A user who may run commands on the server's own machine can read its database, so this gives them nothing that they
 * could not take. It is recorded like any other token.
 */
export function recoverIn(args: readonly string[]): RunInServer {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
  const [username, ...more] = positionals;
  if (username === undefined || more.length > 0) {
    throw new AppError('invalid', 'recover takes one username, for example: atrium recover root');
  }
  return async ({ features, identity, config }, print) => {
    const { person } = await features.users.person(username);
    if (!person.isAdmin) throw new AppError('invalid', `${person.login} is not a site administrator`);
    rejectUnusable(person);
    const now = new Date();
    const expiresAt = new Date(now.getTime() + HOUR_MS);
    const { text } = await identity.tokens.issue({
      accountId: person.id,
      name: `recovery ${now.toISOString()}`,
      scopes: ['all'],
      expiresAt,
      // A user who is locked out cannot delete tokens to make room.
      isBeyondLimit: true,
      actor: SERVER,
    });
    const where = config.BASE_URL === undefined ? 'the sign-in page of the console' : `${config.BASE_URL}/signin`;
    print(`This token of ${person.login} can do everything that they may, until ${expiresAt.toISOString()}:`);
    print('');
    print(`  ${text}`);
    print('');
    print(`Sign in with it at ${where} ("Use a token instead"), then repair what kept you out.`);
  };
}
