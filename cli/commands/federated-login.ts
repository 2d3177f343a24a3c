import { existsSync } from 'node:fs';
import { misuse, rejected } from '../failure.ts';
import { quickFetch } from '../http.ts';
import { readInput } from '../terminal.ts';
import { plain } from '../text.ts';

const TYPE = 'urn:ietf:params:oauth:token-type:';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TIMEOUT_MS = 30_000;
/** Where the guide for Kubernetes mounts the token of the service account. */
const MOUNTED = '/var/run/secrets/atrium/token';

export interface Issued {
  readonly token: string;
  readonly expiresIn: number;
}

/**
 * Signs in as a robot with the token of the platform that the command runs on: GitHub Actions, which issues one on request;
 * GitLab CI, which puts one into a variable; or Kubernetes, which puts one into a file.
 */
export async function signInFederated(
  url: string,
  env: NodeJS.ProcessEnv,
  { robot, audience }: { readonly robot: string; readonly audience: string },
): Promise<Issued> {
  const form = {
    grant_type: EXCHANGE,
    client_id: robot,
    subject_token: await outsideToken(env, audience),
    subject_token_type: `${TYPE}jwt`,
  };
  const answer = await send(`${url}/oauth/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
    body: String(new URLSearchParams(form)),
  });
  const said = answer.body as Partial<Record<string, unknown>>;
  if (typeof said.access_token === 'string') {
    return { token: said.access_token, expiresIn: Number(said.expires_in) };
  }
  const why = plain(String(said.error_description ?? `status ${answer.status}`));
  const advice = 'a user who may edit the robot can find out why with atrium robot trust explain';
  throw rejected(`${url} did not accept the token of this platform for ${robot}: ${why}; ${advice}`);
}

async function outsideToken(env: NodeJS.ProcessEnv, audience: string): Promise<string> {
  const { ATRIUM_ID_TOKEN: given, ATRIUM_ID_TOKEN_FILE: file } = env;
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address, ACTIONS_ID_TOKEN_REQUEST_TOKEN: bearer } = env;
  if (given) return given.trim();
  if (file) return (await readInput(file)).trim();
  if (address && bearer) return await fromActions(address, bearer, audience);
  if (existsSync(MOUNTED)) return (await readInput(MOUNTED)).trim();
  if (env.GITHUB_ACTIONS === 'true') {
    throw misuse('GitHub gives this job no token; add "permissions: id-token: write" to it');
  }
  if (env.GITLAB_CI === 'true') {
    throw misuse('GitLab gives this job no token; add "id_tokens: ATRIUM_ID_TOKEN: aud: …" to it');
  }
  const ways = 'in GitHub Actions, in GitLab CI with the variable ATRIUM_ID_TOKEN, in Kubernetes with a token in';
  throw misuse(
    `there is no token to sign in with: --federated works ${ways} ${MOUNTED}, and with ATRIUM_ID_TOKEN_FILE`,
  );
}

async function fromActions(address: string, bearer: string, audience: string): Promise<string> {
  const url = new URL(address);
  url.searchParams.set('audience', audience);
  const headers = { Authorization: `bearer ${bearer}`, Accept: 'application/json' };
  const { status, body } = await send(url.href, { method: 'GET', headers });
  const { value } = body as { readonly value?: unknown };
  if (typeof value === 'string' && value !== '') return value;
  throw rejected(`GitHub did not issue a token for this job: status ${status}`);
}

type Request = Pick<Parameters<typeof quickFetch>[1], 'method' | 'headers' | 'body'>;

async function send(url: string, request: Request): Promise<{ readonly status: number; readonly body: object }> {
  const { host } = new URL(url);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const answer = await quickFetch(url, { ...request, redirect: 'error', signal });
    const body: unknown = JSON.parse(await answer.text());
    return { status: answer.status, body: typeof body === 'object' && body !== null ? body : {} };
  } catch (error) {
    if (error instanceof SyntaxError)
      return { status: 0, body: { error_description: `${host} did not answer with JSON` } };
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw rejected(`cannot reach ${host}: ${signal.aborted ? 'it did not answer in time' : code || message}`);
  }
}
