import type { ApiError } from '../client/errors.ts';
import { EXIT } from './failure.ts';

/** The server's error message, with advice on what to do. */
export function wordsFor(error: ApiError): { readonly line: string; readonly exit: number } {
  const { status, requestId } = error;
  const message = fields(error);
  if (status === 401) return refused(`${message}: sign in again with atrium login`);
  if (status === 403) return refused(`${message}${whatItTakes(error.relation)}`);
  if (status === 412) return refused(`${message}, then try again`);
  if (status === 429)
    return refused(`${message}${error.retryAfter === undefined ? '' : `: wait ${error.retryAfter} s`}`);
  if (error.reason === 'route_not_found') {
    return refused('this server does not know this command: is it older than this program, or of another kind?');
  }
  if (status >= 502 && status <= 504) return { line: `${message} (${status})`, exit: EXIT.unreachable };
  if (status >= 500) return refused(`the server failed: ${message}; its log knows more under request ${requestId}`);
  return refused(message);
}

/** If a relation is missing, the user can ask for an explanation. */
function whatItTakes(relation: string): string {
  const [, verb, type = 'org'] = /^(?:can_)?(\w+)(?::(\w+))?$/.exec(relation) ?? [];
  const named = type === 'robot_ac' ? 'robot' : type;
  return verb === undefined || type === 'role' ? '' : `; see what it takes: atrium can me ${verb} ${named}:NAME --why`;
}

/** A 422 names each field. Only those that the message does not already mention are added. */
function fields({ message, errors }: ApiError): string {
  const further = errors.filter((one) => !message.includes(one.message));
  return further.length === 0 ? message : `${message}: ${further.map((one) => one.message).join('; ')}`;
}

function refused(line: string) {
  return { line, exit: EXIT.refused };
}
