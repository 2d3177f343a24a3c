import { AppError } from '../../base/errors.ts';
import { readJson } from '../../base/json.ts';
import { readBody } from '../../base/outbound/response-body.ts';
import { traced } from '../../base/tracing/trace.ts';
import { isObject, type JsonObject } from '../notifications/canonical-json.ts';

/** What the central marketplace server reports about a standalone organization. */
export interface ClaimRules {
  readonly claimable: boolean;
  readonly claimed: boolean;
  readonly flags: JsonObject;
}

/** Undefined if it does not know the organization. */
export type AskCentral = (claimId: string) => Promise<ClaimRules | undefined>;

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 64 * 1024;

/**
 * The central server over HTTP. Whatever it does wrong becomes an evaluation error, and no detail of it is passed on.
 */
export function createCentral(url: string, timeoutMs = TIMEOUT_MS): AskCentral {
  return async (claimId) => {
    try {
      const answer = await traced('GET claim rules', { 'http.request.method': 'GET' }, (headers) =>
        fetch(`${url}/standalone-organizations/${encodeURIComponent(claimId)}/claim-rules`, {
          headers: { Accept: 'application/json', ...headers },
          redirect: 'error',
          signal: AbortSignal.timeout(timeoutMs),
        }),
      );
      if (answer.status === 404) {
        await answer.body?.cancel();
        return undefined;
      }
      if (answer.status !== 200) {
        await answer.body?.cancel();
        throw new Error(`the central server answered ${answer.status}`);
      }
      return readRules(await readBody(answer, MAX_BYTES));
    } catch (cause) {
      throw evaluationError(cause);
    }
  };
}

/** Read as strictly as the body of a request: what is nested too deeply, for example, could not be stored. */
function readRules(body: Buffer): ClaimRules {
  const flags = readJson(body);
  if (!isObject(flags)) throw new Error('the response of the central server is not an object');
  const { claimable, claimed } = flags;
  if (typeof claimable !== 'boolean' || typeof claimed !== 'boolean') {
    throw new Error('the response of the central server lacks claimable or claimed');
  }
  return { claimable, claimed, flags };
}

export function evaluationError(cause: unknown): AppError {
  return new AppError('upstream', 'the claim rules cannot be evaluated right now', { cause });
}
