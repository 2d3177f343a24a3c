import { hostname } from 'node:os';
import { ApiError } from '../../client/errors.ts';
import { command } from '../command.ts';
import { misuse, refused } from '../failure.ts';
import { said } from '../output.ts';
import { checkedUrl, type Session } from '../session.ts';
import { ask, askSecret, readInput } from '../terminal.ts';

const USUAL_URL = 'http://127.0.0.1:3000';
const LOOPBACK = /^http:\/\/(127\.|localhost\b|\[::1\])/;

interface Signed {
  readonly token: string;
  readonly tokenId?: string;
}

export const login = command({
  summary: 'sign in to a server and remember it',
  details:
    'Asks for an access token, or for a name and password with which it makes one. Neither is ever given as an argument, ' +
    'where a shell would remember it and others could see it.',
  args: { url: { about: 'address of the server', optional: true } },
  options: {
    name: { about: 'what to call this context; the host name unless said', value: 'NAME' },
    'token-stdin': { about: 'read an access token from the standard input' },
    user: { about: 'sign in with a password as this user', value: 'USER', short: 'u' },
    'password-stdin': { about: 'read the password from the standard input' },
    scope: { about: 'what the new token may be used for; all unless said', value: 'SCOPE', many: true },
  },
  examples: [
    'atrium login https://atrium.example.com',
    'atrium login http://127.0.0.1:3000 --name demo --token-stdin < token.txt',
    'atrium login http://127.0.0.1:3000 --user ann --password-stdin < password.txt',
  ],
  async run(session, { args, options }) {
    const { isInteractive } = session.screen;
    const given = args.url ?? session.env.ATRIUM_URL;
    if (given === undefined && !isInteractive) throw misuse('URL is missing: type atrium login URL --token-stdin');
    const url = checkedUrl(given ?? ((await ask(`Server [${USUAL_URL}]: `)).trim() || USUAL_URL));
    if (url.startsWith('http:') && !LOOPBACK.test(url)) {
      session.screen.note(`warning: ${url} is not encrypted, so others on the way can read the token`);
    }
    const signed = await signIn(session, url, options);
    const client = session.connect({ url, token: signed.token });
    const user = await client.call('GET /user').catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 401) throw refused(`${url} does not know this token`);
      throw error;
    });
    const name = options.name ?? new URL(url).host.replace(/:/g, '-');
    const org = session.orgOption ?? (await onlyOrganization());
    const context = { url, user: user.login, ...signed, ...(org && { org }) };
    const { contexts } = session.config();
    session.saveConfig({ current: name, contexts: { ...contexts, [name]: context } });
    return said(`signed in to ${url} as ${user.login}; the context is called ${name}${org ? `, in ${org}` : ''}`);

    /** If the user is in exactly one organization, it becomes the default. */
    async function onlyOrganization(): Promise<string | undefined> {
      const found = await client.call('GET /user/settings/organizations').catch(() => []);
      return found.length === 1 ? found[0]?.username : undefined;
    }
  },
});

interface Ways {
  readonly user: string | undefined;
  readonly 'token-stdin': boolean;
  readonly 'password-stdin': boolean;
  readonly scope: readonly string[];
}

async function signIn(session: Session, url: string, ways: Ways): Promise<Signed> {
  const { isInteractive } = session.screen;
  if (ways['token-stdin'] && (ways.user !== undefined || ways['password-stdin'])) {
    throw misuse('--token-stdin needs neither --user nor --password-stdin');
  }
  if (ways['token-stdin']) return { token: tokenIn(await readInput('-')) };
  if (ways['password-stdin'] && ways.user === undefined) throw misuse('--password-stdin needs --user NAME');
  if (ways['password-stdin'])
    return await makeToken(session, url, ways.user ?? '', firstLine(await readInput('-')), ways.scope);
  if (!isInteractive) throw misuse('there is nobody to ask: add --token-stdin, or --user NAME --password-stdin');
  if (ways.user === undefined) {
    const text = await askSecret('Access token (empty to use a password): ');
    if (text.trim() !== '') return { token: tokenIn(text) };
  }
  const user = ways.user ?? (await ask('User: ')).trim();
  return await makeToken(session, url, user, await askSecret('Password: '), ways.scope);
}

async function makeToken(
  session: Session,
  url: string,
  user: string,
  password: string,
  scopes: readonly string[],
): Promise<Signed> {
  if (user === '' || password === '') throw misuse('a user and a password are needed');
  if (user.includes(':')) throw misuse('a user name holds no colon');
  const headers = { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
  const day = new Date().toISOString().slice(0, 10);
  const made = await session.connect({ url, headers }).call('POST /users/{username}/tokens', {
    path: { username: user },
    body: { name: `atrium on ${hostname()}, ${day}`, ...(scopes.length > 0 && { scopes }) },
  });
  return { token: made.sha1, tokenId: String(made.id) };
}

function tokenIn(text: string): string {
  const token = firstLine(text).trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw misuse('what was given is no token: one word without spaces');
  return token;
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? '';
}
