import { type Client, type ClientOptions, createClient } from '../client/client.ts';
import type { GlobalValues } from './arguments.ts';
import { type Config, type Context, configPath, readConfig, writeConfig } from './config.ts';
import { misuse } from './failure.ts';
import { quickFetch } from './http.ts';
import type { Screen } from './screen.ts';
import { didYouMean } from './suggest.ts';

export type Session = ReturnType<typeof createSession>;

/** The environment of a command: which server, which account, which organization, and which screen. */
export function createSession(global: GlobalValues, env: NodeJS.ProcessEnv, screen: Screen) {
  const path = configPath(env);
  let config: Config | undefined;
  let client: Client | undefined;
  return {
    screen,
    env,
    assumeYes: global.yes,
    /** Only from the command line. */
    orgOption: global.org,
    format: global.json ? ('json' as const) : global.yaml ? ('yaml' as const) : ('text' as const),
    configPath: path,
    config: getConfig,
    saveConfig,
    context: getContext,
    client: getClient,
    connect,
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
  }: {
    url: string;
    token?: string;
    headers?: ClientOptions['headers'];
  }): Client {
    const seconds = global.timeout === undefined ? 30 : Number(global.timeout);
    if (!(seconds > 0 && seconds < 86_400)) throw misuse('--timeout must be a number of seconds, such as 60');
    return createClient({
      baseUrl: checkedUrl(url),
      token,
      fetch: quickFetch,
      timeoutMs: seconds * 1000,
      headers: { 'User-Agent': 'atrium-cli', ...headers },
    });
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
