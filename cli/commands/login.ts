import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '../../client/errors.ts';
import { command } from '../command.ts';
import { misuse, refused } from '../failure.ts';
import { said } from '../output.ts';
import { checkedUrl, type Session } from '../session.ts';
import { ask, askSecret, readInput } from '../terminal.ts';
import { asScopes } from './token.ts';

const USUAL_URL = 'http://127.0.0.1:3000';
const LOOPBACK = /^http:\/\/(127\.|localhost\b|\[::1\])/;

interface Signed {
  readonly token: string;
  readonly tokenId?: string;
}

export const login = command({
  summary: 'sign in to a server and save it',
  details:
    'Asks for an access token, or for a user name and password to create one. With --device, shows a code that ' +
    'you approve in a browser, however you sign in there. Secrets are no arguments: ' +
    'the shell would keep them in its history, and other users could see them.',
  args: { url: { about: 'address of the server', optional: true } },
  options: {
    name: { about: 'name of the new context; the host name by default', value: 'NAME' },
    device: { about: 'sign in in a browser, on this machine or another one, with a code' },
    'token-stdin': { about: 'read an access token from standard input' },
    user: { about: 'sign in with a password as this user', value: 'USER', short: 'u' },
    'password-stdin': { about: 'read the password from standard input' },
    scope: { about: 'scope of the new token; all by default', value: 'SCOPE', many: true },
  },
  examples: [
    'atrium login https://atrium.example.com',
    'atrium login https://atrium.example.com --device',
    'atrium login http://127.0.0.1:3000 --name demo --token-stdin < token.txt',
    'atrium login http://127.0.0.1:3000 --user ann --password-stdin < password.txt',
  ],
  async run(session, { args, options }) {
    const { isInteractive } = session.screen;
    const given = args.url ?? session.env.ATRIUM_URL;
    if (given === undefined && !isInteractive) throw misuse('missing argument URL; run atrium login URL --token-stdin');
    const url = checkedUrl(given ?? ((await ask(`Server [${USUAL_URL}]: `)).trim() || USUAL_URL));
    if (url.startsWith('http:') && !LOOPBACK.test(url)) {
      session.screen.note(`warning: ${url} is not encrypted; others on the network can read the token`);
    }
    const signed = await signIn(session, url, options);
    const client = session.connect({ url, token: signed.token });
    const user = await client.call('GET /user').catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 401) throw refused(`${url} rejected the token`);
      throw error;
    });
    const name = options.name ?? new URL(url).host.replace(/:/g, '-');
    const org = session.orgOption ?? (await onlyOrganization());
    const context = { url, user: user.login, ...signed, ...(org && { org }) };
    const { contexts } = session.config();
    session.saveConfig({ current: name, contexts: { ...contexts, [name]: context } });
    return said(`signed in to ${url} as ${user.login}; saved as context ${name}${org ? `, organization ${org}` : ''}`);

    /** If the user is in exactly one organization, it becomes the default. */
    async function onlyOrganization(): Promise<string | undefined> {
      const found = await client.call('GET /user/settings/organizations').catch(() => []);
      return found.length === 1 ? found[0]?.username : undefined;
    }
  },
});

interface Ways {
  readonly device: boolean;
  readonly user: string | undefined;
  readonly 'token-stdin': boolean;
  readonly 'password-stdin': boolean;
  readonly scope: readonly string[];
}

async function signIn(session: Session, url: string, ways: Ways): Promise<Signed> {
  const { isInteractive } = session.screen;
  if (ways['token-stdin'] && (ways.user !== undefined || ways['password-stdin'])) {
    throw misuse('--token-stdin cannot be combined with --user or --password-stdin');
  }
  if (ways.device && (ways['token-stdin'] || ways.user !== undefined || ways['password-stdin'])) {
    throw misuse('--device cannot be combined with --token-stdin, --user or --password-stdin');
  }
  if (ways.device) return await signInByCode(session, url, ways.scope);
  if (ways['token-stdin']) return { token: tokenIn(await readInput('-')) };
  if (ways['password-stdin'] && ways.user === undefined) throw misuse('--password-stdin needs --user NAME');
  if (ways['password-stdin'])
    return await makeToken(session, url, ways.user ?? '', firstLine(await readInput('-')), ways.scope);
  if (!isInteractive)
    throw misuse('this is not a terminal; add --token-stdin, --device, or --user NAME --password-stdin');
  if (ways.user === undefined) {
    const text = await askSecret('Access token (empty to use a password): ');
    if (text.trim() !== '') return { token: tokenIn(text) };
  }
  const user = ways.user ?? (await ask('User: ')).trim();
  return await makeToken(session, url, user, await askSecret('Password: '), ways.scope);
}

/** Somebody approves a code in a browser, however they sign in there. */
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
      else if (reason === 'access_denied') throw refused('the request was denied in the browser');
      else if (reason === 'expired_token') throw refused('the code has expired: nobody approved it in time');
      else if (reason !== 'authorization_pending') throw error;
    }
  }
}

async function makeToken(
  session: Session,
  url: string,
  user: string,
  password: string,
  scopes: readonly string[],
): Promise<Signed> {
  if (user === '' || password === '') throw misuse('a user name and a password are required');
  if (user.includes(':')) throw misuse('a user name cannot contain a colon');
  const headers = { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
  const day = new Date().toISOString().slice(0, 10);
  const made = await session.connect({ url, headers }).call('POST /users/{username}/tokens', {
    path: { username: user },
    body: { name: `atrium on ${hostname()}, ${day}`, ...(scopes.length > 0 && { scopes: asScopes(scopes) }) },
  });
  return { token: made.sha1, tokenId: String(made.id) };
}

function tokenIn(text: string): string {
  const token = firstLine(text).trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw misuse('the input is not a token; a token is one word without spaces');
  return token;
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? '';
}
