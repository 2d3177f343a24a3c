import type { ApiError } from '../client/errors.ts';
import { EXIT } from './failure.ts';

/** What the server said, with what to do about it. */
export function wordsFor(error: ApiError): { readonly line: string; readonly exit: number } {
  const { status, requestId } = error;
  const message = fields(error);
  if (status === 401) return refused(`${message}: sign in again with atrium login`);
  if (status === 403) return refused(`${message}${whatItTakes(message)}`);
  if (status === 412) return refused(`${message}, then try again`);
  if (status === 429)
    return refused(`${message}${error.retryAfter === undefined ? '' : `: wait ${error.retryAfter} s`}`);
  if (status === 404 && message === 'not found') {
    return refused('this server does not know this command: is it older than this program, or of another kind?');
  }
  if (status >= 502 && status <= 504) return { line: `${message} (${status})`, exit: EXIT.unreachable };
  if (status >= 500) return refused(`the server failed: ${message}; its log knows more under request ${requestId}`);
  return refused(message);
}

/** A relation that is missing can be asked about. */
function whatItTakes(message: string): string {
  const [, verb, type = 'org'] = /^missing relation (?:can_)?(\w+)(?::(\w+))?$/.exec(message) ?? [];
  const named = type === 'robot_ac' ? 'robot' : type;
  return verb === undefined || type === 'role' ? '' : `; see what it takes: atrium can me ${verb} ${named}:NAME --why`;
}

/** A 422 names each field; the message alone says it all when it already does. */
function fields({ message, errors }: ApiError): string {
  const further = errors.filter((one) => !message.includes(one.message));
  return further.length === 0 ? message : `${message}: ${further.map((one) => one.message).join('; ')}`;
}

function refused(line: string) {
  return { line, exit: EXIT.refused };
}
