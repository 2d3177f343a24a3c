import { ApiError } from '../../../client/errors.ts';
import { orgPath, placeOf } from '../data/org.ts';
import { Button } from './button.tsx';
import { Copy } from './copy.tsx';

/** An error next to what caused it. Shows nothing if there is none, or if it is shown next to fields. */
export function Fault({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  if (error === undefined || error === null) return null;
  const requestId = error instanceof ApiError ? error.requestId : '';
  return (
    <div class="fault" role="alert">
      <p>{messageOf(error)}</p>
      <div class="line">
        <AskLink error={error} />
        {onRetry && <Button onClick={onRetry}>Try again</Button>}
        {requestId !== '' && (
          <span class="quiet small">
            Request <Copy text={requestId} label="Copy the request ID" />
          </span>
        )}
      </div>
    </div>
  );
}

/** Leads to where the user can ask for what an answer of the server says is missing, if it says that they can. */
export function AskLink({ error }: { error: unknown }) {
  const { org, object = '' } = placeOf(location.pathname).query;
  if (!(error instanceof ApiError && error.isRequestable && org)) return null;
  return (
    <a class="button" href={orgPath(org, `/requests/new?relation=${error.relation}&object=${object}`)}>
      Ask for it
    </a>
  );
}

const BEGINS = /^the audit log of the organization begins at (\S+?);/;

function longTime(at: string): string {
  return `${new Date(at).toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })} UTC`;
}

/** The server's messages start in lower case, because scripts print them after a colon. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Something went wrong.';
  // What another service said, such as a cloud, helps more than the log.
  const isOurs = error instanceof ApiError && error.status >= 500 && error.status !== 503;
  if (isOurs && error.reason !== 'upstream_failed') {
    return 'The server could not answer. The error is in its log under this request.';
  }
  if (error instanceof ApiError && error.status === 412) {
    return 'Another user changed this in the meantime. Look at their change first, or save again to replace it.';
  }
  if (error instanceof ApiError && error.reason === 'guardrail_violated') {
    return `Nothing was changed: the ${error.message}.`;
  }
  const begins = error instanceof ApiError && BEGINS.exec(error.message)?.[1];
  if (begins) return `The audit log begins on ${longTime(begins)}. Choose a later time.`;
  const text = error.message;
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
