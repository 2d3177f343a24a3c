import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { until } from '../checks/until.ts';
import { openBidi } from './bidi.ts';
import type { VisitedServer } from './browser.ts';
import { temporaryFolder } from './db.ts';

/** Debian's, or the one that FIREFOX_PATH names. */
const PROGRAM = process.env.FIREFOX_PATH ?? ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find(existsSync);
const LISTENING = /WebDriver BiDi listening on (ws:\S+)/;
/** A browser of a test calls nobody but the server under test. */
const PREFERENCES = {
  'app.update.enabled': false,
  'browser.aboutConfig.showWarning': false,
  'browser.safebrowsing.downloads.remote.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false,
};
const KEYS: Readonly<Record<string, string>> = {
  Control: '\uE009',
  Enter: '\uE007',
  Escape: '\uE00C',
  ArrowDown: '\uE015',
  Tab: '\uE004',
};
const NOTE_VIOLATIONS = `(send) => document.addEventListener('securitypolicyviolation', (event) =>
  send(event.violatedDirective + ' ' + event.blockedURI))`;
const LOADING = `document.querySelector('h1') !== null && document.querySelector('.loading, .stale') === null`;

/** A tab of Firefox. Elements are found as assistive technology finds them: by role and name. */
export interface FirefoxVisit {
  /** What a console must never do: errors, violations of the policy, requests to another origin. */
  readonly faults: readonly string[];
  go(path: string): Promise<void>;
  /** Resolves when the page has a heading, and nothing is loading any more. */
  settled(): Promise<void>;
  /** The value of an expression of the page, which must be JSON. */
  evaluate<Value>(expression: string): Promise<Value>;
  click(role: string, name: string): Promise<void>;
  /** Replaces what is in a field, key by key. */
  fill(role: string, name: string, text: string): Promise<void>;
  /** Presses keys together, such as Control and k. */
  press(...keys: readonly string[]): Promise<void>;
  type(text: string): Promise<void>;
  /** Waits until the page shows this text. */
  sees(text: string | RegExp): Promise<void>;
}

export interface Firefox {
  /** With cookies of its own. With a name, a user of the demo world is signed in. */
  visit(server: VisitedServer, name?: string): Promise<FirefoxVisit>;
  close(): Promise<void>;
}

interface Found {
  readonly nodes: readonly { readonly sharedId: string }[];
}

const opened = new Set<() => Promise<void>>();
after(async () => {
  for (const close of opened) await close();
});

/** Debian's Firefox as it is, over WebDriver BiDi, which it speaks by itself. */
export async function openFirefox(): Promise<Firefox> {
  const profile = temporaryFolder();
  const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref("${name}", ${value});`);
  writeFileSync(join(profile, 'user.js'), lines.join('\n'));
  const program = spawn(
    PROGRAM ?? 'firefox-esr',
    ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank'],
    { env: { ...process.env, HOME: profile }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(program, 'exit');
  const close = async () => {
    program.kill('SIGKILL');
    await ended;
  };
  opened.add(close);
  let said = '';
  program.stderr.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  await until(() => LISTENING.test(said) || program.exitCode !== null || program.signalCode !== null);
  const address = LISTENING.exec(said)?.[1];
  if (address === undefined) throw new Error(`Firefox does not start:\n${said}`);
  const { send, listen } = await openBidi(`${address}/session`);
  await send('session.new', { capabilities: {} });
  const events = ['log.entryAdded', 'network.beforeRequestSent', 'network.responseCompleted', 'network.fetchError'];
  await send('session.subscribe', { events: [...events, 'script.message'] });
  return { visit, close };

  async function visit(server: VisitedServer, name?: string): Promise<FirefoxVisit> {
    const { userContext } = await send<{ userContext: string }>('browser.createUserContext');
    const { context } = await send<{ context: string }>('browsingContext.create', { type: 'tab', userContext });
    await send('browsingContext.setViewport', { context, viewport: { width: 1280, height: 800 } });
    await send('script.addPreloadScript', {
      functionDeclaration: NOTE_VIOLATIONS,
      arguments: [{ type: 'channel', value: { channel: 'violations' } }],
      contexts: [context],
    });
    const faults: string[] = [];
    const running = new Set<string>();
    listen(({ method, params }) => {
      if ((params.context ?? params.source?.context) !== context) return;
      const { request, level, text, data } = params;
      // Firefox draws some fields with fonts of its own.
      if (request?.url.startsWith('data:')) return;
      if (method === 'log.entryAdded' && level === 'error') faults.push(`console: ${text}`);
      if (method === 'script.message') faults.push(`policy: ${data?.value}`);
      if (request === undefined) return;
      // The stream of events lasts as long as the page.
      const isStream = request.url.includes('/api/v1/events');
      if (method === 'network.beforeRequestSent' && !isStream) running.add(request.request);
      if (method !== 'network.beforeRequestSent') running.delete(request.request);
      if (!request.url.startsWith(`${server.url}/`)) faults.push(`another origin: ${request.url}`);
    });

    const evaluate = async <Value>(expression: string): Promise<Value> => {
      const { result, exceptionDetails } = await send<Evaluated>('script.evaluate', {
        expression: `(async () => JSON.stringify((await (${expression})) ?? null))()`,
        target: { context },
        awaitPromise: true,
      });
      if (result === undefined) throw new Error(`${expression}: ${exceptionDetails?.text}`);
      return JSON.parse(result.value) as Value;
    };
    const go = async (path: string) => {
      running.clear();
      await send('browsingContext.navigate', { context, url: server.url + path, wait: 'complete' });
      await settled();
    };
    const settled = async () => {
      await until(async () => running.size === 0 && (await evaluate<boolean>(LOADING)) && running.size === 0);
    };
    const find = async (role: string, value: string): Promise<string> => {
      let found: Found = { nodes: [] };
      await until(async () => {
        const locator = { type: 'accessibility', value: { role, name: value } };
        found = await send<Found>('browsingContext.locateNodes', { context, locator });
        return found.nodes.length > 0;
      });
      return found.nodes[0]?.sharedId ?? '';
    };
    const act = async (source: { readonly type: string; readonly actions: readonly object[] }) =>
      void (await send('input.performActions', { context, actions: [{ id: source.type, ...source }] }));
    const click = async (role: string, value: string) => {
      const element = { sharedId: await find(role, value) };
      await send('script.callFunction', {
        functionDeclaration: `(element) => element.scrollIntoView({ block: 'center', behavior: 'instant' })`,
        arguments: [element],
        target: { context },
        awaitPromise: false,
      });
      const move = { type: 'pointerMove', x: 0, y: 0, origin: { type: 'element', element } };
      const press = [
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ];
      await act({ type: 'pointer', actions: [move, ...press] });
    };
    const press = async (...keys: readonly string[]) => {
      const values = keys.map((key) => KEYS[key] ?? key);
      const down = values.map((key) => ({ type: 'keyDown', value: key }));
      await act({
        type: 'key',
        actions: [...down, ...values.toReversed().map((key) => ({ type: 'keyUp', value: key }))],
      });
    };
    const type = async (text: string) => {
      const keys = [...text].flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ]);
      await act({ type: 'key', actions: keys });
    };
    const fill = async (role: string, field: string, text: string) => {
      await click(role, field);
      await press('Control', 'a');
      await type(text);
    };
    const sees = async (text: string | RegExp) => {
      const isThere = typeof text === 'string' ? (all: string) => all.includes(text) : (all: string) => text.test(all);
      await until(async () => isThere(await evaluate<string>('document.body.innerText')));
    };
    if (name !== undefined) {
      await go('/signin');
      const body = JSON.stringify({ username: name, password: server.world.users[name]?.password });
      const request = `{ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: ${JSON.stringify(body)} }`;
      const status = await evaluate<number>(`fetch('/api/v1/user/signin', ${request}).then((one) => one.status)`);
      if (status !== 200) throw new Error(`${name} cannot sign in: ${status}`);
    }
    return { faults, go, settled, evaluate, click, fill, press, type, sees };
  }
}

interface Evaluated {
  readonly result?: { readonly value: string };
  readonly exceptionDetails?: { readonly text: string };
}
