import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';
import { ApiError } from '../../client/errors.ts';
import { command } from '../command.ts';
import { misuse, rejected } from '../failure.ts';
import { momentIn } from '../moments.ts';
import { said } from '../output.ts';
import { ownOrganizations } from '../own-organizations.ts';
import { checkedUrl, type Session } from '../session.ts';
import { ask, askSecret, readInput } from '../terminal.ts';
import { signInFederated } from './federated-login.ts';
import { asScopes, USUAL_LIFE } from './token.ts';

const USUAL_URL = 'http://127.0.0.1:3000';
const LOOPBACK = /^http:\/\/(127\.|localhost\b|\[::1\])/;

interface Signed {
  readonly token: string;
  readonly tokenId?: string;
}

export const login = command({
  summary: 'sign in to a server and save it',
  details:
    'Asks for an access token, or for a user name and password to create one, and for a code if the account has a ' +
    'second factor. With --device, shows a code that you approve in a browser, however you sign in there. A token ' +
    'that is created for a password expires in 30 days unless you say otherwise. Secrets are never passed as ' +
    'arguments: the shell would keep them in its history, and other users could see them.',
  args: { url: { about: 'address of the server', optional: true } },
  options: {
    name: { about: 'name of the new context; the host name by default', value: 'NAME' },
    federated: { about: 'sign in as a robot with the token of GitHub Actions, GitLab CI or Kubernetes' },
    robot: { about: 'robot to sign in as with --federated, such as acme/deploy', value: 'ROBOT' },
    audience: { about: 'audience of its trust rule; by default the address of the server', value: 'TEXT' },
    device: { about: 'sign in with a browser, on this machine or another one, with a code' },
    'token-stdin': { about: 'read an access token from standard input' },
    user: { about: 'sign in with a password as this user', value: 'USER', short: 'u' },
    'password-stdin': { about: 'read the password from standard input, and a second factor from its second line' },
    scope: { about: 'scope of the new token; all by default', value: 'SCOPE', many: true },
    expires: { about: 'when the new token expires, such as 90d or 2027-01-31; in 30 days by default', value: 'WHEN' },
    never: { about: 'the new token does not expire' },
    'token-name': { about: 'name of the new token; by default it names this machine and the context', value: 'NAME' },
  },
  examples: [
    'atrium login https://atrium.example.com',
    'atrium login https://atrium.example.com --device',
    'atrium login https://atrium.example.com --federated --robot acme/deploy',
    'atrium login http://127.0.0.1:3000 --name demo --token-stdin < token.txt',
    'atrium login http://127.0.0.1:3000 --user ann --password-stdin < password.txt',
    'atrium login https://atrium.example.com --user ann --expires 7d --token-name laptop',
  ],
  async run(session, { args, options }) {
    const { isInteractive } = session.screen;
    const given = args.url ?? session.env.ATRIUM_URL;
    if (given === undefined && !isInteractive) throw misuse('missing argument URL; run atrium login URL --token-stdin');
    const url = checkedUrl(given ?? ((await ask(`Server [${USUAL_URL}]: `)).trim() || USUAL_URL));
    if (url.startsWith('http:') && !LOOPBACK.test(url)) {
      session.screen.note(`warning: ${url} is not encrypted; anyone on the network can read the token`);
    }
    const name = options.name ?? new URL(url).host.replace(/:/g, '-');
    if (options.federated) return await asRobot(session, url, name, options);
    if (options.robot !== undefined || options.audience !== undefined) {
      throw misuse('--robot and --audience are for --federated');
    }
    const signed = await signIn(session, url, { ...options, name });
    const client = session.connect({ url, token: signed.token });
    const user = await client.call('GET /user').catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 401) throw rejected(`${url} rejected the token`);
      throw error;
    });
    const org = session.orgOption ?? (await onlyOrganization());
    const context = { url, user: user.login, ...signed, ...(org && { org }) };
    const { contexts } = session.config();
    session.saveConfig({ current: name, contexts: { ...contexts, [name]: context } });
    return said(`signed in to ${url} as ${user.login}; saved as context ${name}${org ? `, organization ${org}` : ''}`);

    /** If the user is in exactly one organization, it becomes the default. */
    async function onlyOrganization(): Promise<string | undefined> {
      const found = await ownOrganizations(client).catch(() => []);
      return found.length === 1 ? found[0] : undefined;
    }
  },
});

/** Nothing is asked with the new token: its scopes may not allow it. */
async function asRobot(session: Session, url: string, name: string, options: Federated) {
  const { robot, audience = url } = options;
  const [org = '', robotName = '', ...rest] = (robot ?? '').split('/');
  if (org === '' || robotName === '' || rest.length > 0) throw misuse('--federated needs --robot ORGANIZATION/ROBOT');
  if (options.device || options.user !== undefined || options['token-stdin'] || options['password-stdin']) {
    throw misuse('--federated cannot be combined with --device, --user, --token-stdin or --password-stdin');
  }
  const user = `${org}/${robotName}`;
  const { token, expiresIn } = await signInFederated(url, session.env, { robot: user, audience });
  const { contexts } = session.config();
  const context = { url, user, token, org: session.orgOption ?? org };
  session.saveConfig({ current: name, contexts: { ...contexts, [name]: context } });
  const minutes = Math.max(1, Math.floor(expiresIn / 60));
  return said(
    `signed in to ${url} as ${user} for ${minutes} minutes; saved as context ${name}, organization ${context.org}`,
  );
}

interface Federated {
  readonly robot: string | undefined;
  readonly audience: string | undefined;
  readonly device: boolean;
  readonly user: string | undefined;
  readonly 'token-stdin': boolean;
  readonly 'password-stdin': boolean;
}

interface Ways {
  readonly device: boolean;
  readonly user: string | undefined;
  readonly 'token-stdin': boolean;
  readonly 'password-stdin': boolean;
  readonly scope: readonly string[];
  readonly expires: string | undefined;
  readonly never: boolean;
  readonly 'token-name': string | undefined;
  /** Of the context. */
  readonly name: string;
}

async function signIn(session: Session, url: string, ways: Ways): Promise<Signed> {
  const { isInteractive } = session.screen;
  if (ways['token-stdin'] && (ways.user !== undefined || ways['password-stdin'])) {
    throw misuse('--token-stdin cannot be combined with --user or --password-stdin');
  }
  if (ways.device && (ways['token-stdin'] || ways.user !== undefined || ways['password-stdin'])) {
    throw misuse('--device cannot be combined with --token-stdin, --user or --password-stdin');
  }
  const isTokenGiven = ways['token-stdin'] || ways.device;
  if (isTokenGiven && (ways.expires !== undefined || ways.never || ways['token-name'] !== undefined)) {
    throw misuse('--expires, --never and --token-name are for the token that is created for a password');
  }
  if (ways.never && ways.expires !== undefined) throw misuse('--never cannot be combined with --expires');
  if (ways.device) return await signInByCode(session, url, ways.scope);
  if (ways['token-stdin']) return { token: tokenIn(await readInput('-')) };
  if (ways['password-stdin'] && ways.user === undefined) throw misuse('--password-stdin needs --user NAME');
  if (ways['password-stdin']) return await makeToken(session, url, ways.user ?? '', await readInput('-'), ways);
  if (!isInteractive)
    throw misuse('this is not a terminal; add --token-stdin, --device, or --user NAME --password-stdin');
  if (ways.user === undefined) {
    const text = await askSecret('Access token (empty to use a password): ');
    if (text.trim() !== '') return { token: tokenIn(text) };
  }
  const user = ways.user ?? (await ask('User: ')).trim();
  return await makeToken(session, url, user, await askSecret('Password: '), ways);
}

/** The user approves a code in a browser, however they sign in there. */
async function signInByCode(session: Session, url: string, scopes: readonly string[]): Promise<Signed> {
  const client = session.connect({ url });
  const started = await client.call('POST /user/device', {
    body: { name: `atrium on ${hostname()}`, ...(scopes.length > 0 && { scopes: [...scopes] }) },
  });
  session.screen.note(`open ${started.verification_uri} in a browser, and enter the code ${started.user_code}`);
  const body = { device_code: started.device_code };
  let interval = started.interval;
  for (;;) {
    await pause(interval * 1000);
    try {
      const made = await client.call('POST /user/device/token', { body });
      return { token: made.sha1, tokenId: String(made.id) };
    } catch (error) {
      const reason = error instanceof ApiError ? error.reason : '';
      if (reason === 'slow_down') interval += 5;
      else if (reason === 'access_denied') throw rejected('the request was denied in the browser');
      else if (reason === 'expired_token') throw rejected('the code has expired: it was not approved in time');
      else if (reason !== 'authorization_pending') throw error;
    }
  }
}

async function makeToken(session: Session, url: string, user: string, given: string, ways: Ways): Promise<Signed> {
  const [password = '', code] = given.split(/\r?\n/);
  if (user === '' || password === '') throw misuse('a user name and a password are required');
  if (user.includes(':')) throw misuse('a user name cannot contain a colon');
  const headers = { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
  const body = {
    name: ways['token-name'] ?? usualName(ways.name),
    ...(ways.scope.length > 0 && { scopes: asScopes(ways.scope) }),
    ...(!ways.never && { expires_at: momentIn(ways.expires ?? USUAL_LIFE, 1) }),
  };
  const create = async (client: Client, username: string): Promise<Signed> => {
    const made = await client.call('POST /users/{username}/tokens', { path: { username }, body }).catch(withAdvice);
    return { token: made.sha1, tokenId: String(made.id) };
  };
  return await create(session.connect({ url, headers }), user).catch(async (error: unknown) => {
    if (!isSecondFactorNeeded(error)) throw error;
    const client = session.connect({ url, keepsCookies: true });
    await client.call('POST /user/signin', { body: { username: user, password } }).catch((needed: unknown) => {
      if (!isSecondFactorNeeded(needed)) throw needed;
    });
    const { login } = await client.call('POST /user/signin/factor', { body: await secondFactor(session, code) });
    // The session is only for this one token.
    return await create(client, login).finally(() => client.call('GET /user/signout').catch(() => undefined));
  });
}

/** A user can sign in from the same machine as often as they like, so no two names are the same. */
function usualName(context: string): string {
  const day = new Date().toISOString().slice(0, 10);
  return `atrium on ${hostname().slice(0, 60)}, ${context.slice(0, 60)}, ${day}, ${randomBytes(4).toString('hex')}`;
}

function withAdvice(error: unknown): never {
  const isName = error instanceof ApiError && error.errors.some(({ field }) => field === 'name');
  throw isName ? rejected(`${error.message}; choose another one with --token-name`) : error;
}

/** A code of six digits is of an app; anything else is a recovery code. Passkeys need a browser. */
async function secondFactor(session: Session, given: string | undefined) {
  const typed = given?.trim() || undefined;
  if (typed === undefined && !session.screen.isInteractive) {
    throw misuse('this account has a second factor; add the code as a second line of standard input, or use a token');
  }
  const text = typed ?? (await ask('Code of your authenticator app, or a recovery code: ')).trim();
  return /^[\d ]{6,7}$/.test(text) ? { code: text } : { recovery_code: text };
}

function isSecondFactorNeeded(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'second_factor_required';
}

function tokenIn(text: string): string {
  const token = firstLine(text).trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw misuse('the input is not a token; a token is one word without spaces');
  return token;
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? '';
}
