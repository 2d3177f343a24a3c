import { type Client, type ClientOptions, createClient } from '../client/client.ts';
import type { GlobalValues } from './arguments.ts';
import { type Config, type Context, configPath, readConfig, writeConfig } from './config.ts';
import { withCookies } from './cookies.ts';
import { misuse } from './failure.ts';
import { quickFetch, traced, withNotice, withPast } from './http.ts';
import type { Format } from './output.ts';
import { ownVersion } from './release.ts';
import type { Screen } from './screen.ts';
import { didYouMean } from './suggest.ts';

const DEFAULT_INTERVAL_S = 5;
const MAX_INTERVAL_S = 3600;

export type Session = ReturnType<typeof createSession>;

/** The environment of a command: which server, which account, which organization, and which screen. */
export function createSession(global: GlobalValues, env: NodeJS.ProcessEnv, screen: Screen) {
  const path = configPath(env);
  let config: Config | undefined;
  let client: Client | undefined;
  const plain = global.debug ? traced(quickFetch, screen.note) : quickFetch;
  const send = withNotice(plain, screen.note);
  return {
    screen,
    env,
    assumeYes: global.yes,
    /** Only from the command line. */
    orgOption: global.org,
    format: formatOf(global),
    /** With --watch: the time between two looks. */
    intervalMs: intervalOf(global),
    isWatching: global.watch,
    /** The fields that --json names; undefined for all. */
    fields: fieldsOf(global),
    configPath: path,
    config: getConfig,
    saveConfig,
    context: getContext,
    client: getClient,
    connect,
    raw,
    org,
    orgIfAny,
    source,
    token: () => tokenAndUrl().token,
  };

  function getConfig(): Config {
    config ??= readConfig(path);
    return config;
  }

  function saveConfig(next: Config): void {
    writeConfig(path, next);
    config = next;
  }

  /**
   * The context that the command line, the environment or the config file names. Other environment variables override
   * its values.
   */
  function getContext(): { readonly name: string; readonly context: Context } | undefined {
    const name = global.context ?? env.ATRIUM_CONTEXT ?? getConfig().current;
    if (!name) return undefined;
    const { contexts } = getConfig();
    const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
    if (context) return { name, context };
    throw misuse(
      `unknown context ${JSON.stringify(name)}${didYouMean(name, Object.keys(contexts))}; run atrium context list`,
    );
  }

  /** A token is sent only to the server it belongs to. */
  function tokenAndUrl(): { readonly url: string; readonly token: string } {
    if (env.ATRIUM_URL && env.ATRIUM_TOKEN && !global.context) return { url: env.ATRIUM_URL, token: env.ATRIUM_TOKEN };
    const context = getContext()?.context;
    const url = (global.context ? undefined : env.ATRIUM_URL) || context?.url;
    if (!url) throw misuse('no server is configured; run atrium login URL, or set ATRIUM_URL and ATRIUM_TOKEN');
    const isOwn = context !== undefined && sameOrigin(url, context.url);
    const token = (global.context ? undefined : env.ATRIUM_TOKEN) || (isOwn ? context.token : undefined);
    if (!token) throw misuse(`not signed in to ${url}; run atrium login ${url}`);
    return { url, token };
  }

  function getClient(): Client {
    client ??= connect(tokenAndUrl());
    return client;
  }

  function connect({
    url,
    token,
    headers,
    keepsCookies,
  }: {
    url: string;
    token?: string;
    headers?: ClientOptions['headers'];
    keepsCookies?: boolean;
  }): Client {
    return createClient({
      baseUrl: checkedUrl(url),
      token,
      fetch: withPast(keepsCookies ? withCookies(send) : send),
      timeoutMs: timeoutMs(),
      headers: { 'User-Agent': userAgent(), ...headers },
    });
  }

  /** A request as it is typed, to the server in use. */
  async function raw(method: string, path: string, headers: Readonly<Record<string, string>>, body?: string) {
    const { url, token } = tokenAndUrl();
    const base = checkedUrl(url);
    const signal = AbortSignal.timeout(timeoutMs());
    const all = { 'User-Agent': userAgent(), ...headers, Authorization: `token ${token}` };
    const init = { method, headers: all, redirect: 'error', signal, ...(body !== undefined && { body }) } as const;
    try {
      const answer = await send(base + path, init);
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    } catch (error) {
      const { UnreachableError } = await import('../client/errors.ts');
      const { code = '', message } = error as NodeJS.ErrnoException;
      const reason = signal.aborted ? 'it did not answer in time' : code || message;
      throw new UnreachableError(`cannot reach ${base}: ${reason}`, { cause: error });
    }
  }

  function timeoutMs(): number {
    const seconds = global.timeout === undefined ? 30 : Number(global.timeout);
    if (!(seconds > 0 && seconds < 86_400)) throw misuse('--timeout must be a number of seconds, such as 60');
    return seconds * 1000;
  }

  function orgIfAny(): string | undefined {
    return global.org || env.ATRIUM_ORG || contextInUse()?.context.org;
  }

  /** The context, unless the environment points to another server. */
  function contextInUse() {
    const found = getContext();
    const isElsewhere = found && env.ATRIUM_URL && !global.context && !sameOrigin(env.ATRIUM_URL, found.context.url);
    return isElsewhere ? undefined : found;
  }

  /** Where the account comes from, for display. */
  function source(): string {
    if (env.ATRIUM_TOKEN && !global.context) return 'none (environment variables)';
    return contextInUse()?.name ?? 'none (environment variables)';
  }

  function org(): string {
    const name = orgIfAny();
    if (name) return name;
    throw misuse('no organization is selected; add --org NAME, or run atrium context use NAME --org NAME once');
  }
}

function userAgent(): string {
  return `atrium-cli/${ownVersion()}`;
}

function formatOf({ json, yaml, output }: GlobalValues): Format {
  const chosen = new Set([
    ...(json === undefined ? [] : ['json']),
    ...(yaml ? ['yaml'] : []),
    ...(output ? [output] : []),
  ]);
  const [format = 'text', another] = chosen;
  if (another !== undefined) throw misuse(`the output cannot be both ${format} and ${another}; choose one`);
  return format as Format;
}

function intervalOf({ watch, interval }: GlobalValues): number {
  if (interval !== undefined && !watch) throw misuse('--interval is only for --watch');
  const seconds = interval === undefined ? DEFAULT_INTERVAL_S : Number(interval);
  if (seconds >= 1 && seconds <= MAX_INTERVAL_S) return seconds * 1000;
  throw misuse(`--interval must be a number of seconds from 1 to ${MAX_INTERVAL_S}, such as 10`);
}

function fieldsOf({ json }: GlobalValues): readonly string[] | undefined {
  const fields = (json ?? '').split(',').filter((field) => field !== '');
  return fields.length === 0 ? undefined : fields;
}

export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    const given = JSON.stringify(text.slice(0, 100));
    throw misuse(`the server address must be a URL such as https://atrium.example.com, got ${given}`);
  }
  return url.href.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}

function sameOrigin(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin;
}
