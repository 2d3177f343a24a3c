import type { ApiError } from '../client/errors.ts';
import { wordOf } from '../client/object-kinds.ts';
import { EXIT } from './failure.ts';

/** The server's error message, with advice on what to do. */
export function wordsFor(error: ApiError): { readonly line: string; readonly exit: number } {
  const { status, requestId } = error;
  const message = fields(error);
  if (error.reason === 'unknown_relation') return { line: message, exit: EXIT.usage };
  if (status === 401) return rejected(`${message}; sign in again with atrium login`);
  if (status === 403) return rejected(`${message}${whatItTakes(error)}`);
  if (status === 412) return rejected(`${message}; run the command again`);
  if (status === 429)
    return rejected(`${message}${error.retryAfter === undefined ? '' : `; try again in ${error.retryAfter} s`}`);
  if (error.reason === 'route_not_found') {
    return rejected('the server does not support this command; it may be older or another kind of deployment');
  }
  if (status >= 502 && status <= 504) return { line: `${message} (${status})`, exit: EXIT.unreachable };
  if (status >= 500) return rejected(`the server failed: ${message}; look for request ${requestId} in its log`);
  return rejected(message);
}

/** If a relation is missing, the user can ask for an explanation. */
function whatItTakes({ relation, isRequestable }: ApiError): string {
  const [, verb, type = 'org'] = /^(?:can_)?(\w+)(?::(\w+))?$/.exec(relation) ?? [];
  // That a user owns something is no action that can be explained.
  if (verb === undefined || verb === 'owner' || type === 'role') return '';
  const object = `${wordOf(type)}:NAME`;
  const asking = isRequestable ? `; to ask for it run atrium request ${verb} ${object} --for 4h --because TEXT` : '';
  return `; for details run atrium can me ${verb} ${object} --why${asking}`;
}

/** A 422 names each field. Only those that the message does not already mention are added. */
function fields({ message, errors }: ApiError): string {
  const further = errors.filter((one) => !message.includes(one.message));
  return further.length === 0 ? message : `${message}: ${further.map((one) => one.message).join('; ')}`;
}

function rejected(line: string) {
  return { line, exit: EXIT.rejected };
}
