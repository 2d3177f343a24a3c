import { existsSync } from 'node:fs';
import { after } from 'node:test';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { until } from '../checks/until.ts';
import type { TestServer } from './server.ts';

/** Benchmarks take it from here, because it is installed for tests and benchmarks only. */
export type { CDPSession } from 'playwright-core';

/** Debian's, or the one that CHROME_PATH names. */
const PROGRAM = process.env.CHROME_PATH ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
/** The browser reports every refused request; that is what a test of refusals asks for. */
const REFUSAL = /^Failed to load resource: the server responded with a status of 4\d\d/;

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What a console must never do: errors, violations of the policy, requests to another origin. */
  readonly faults: readonly string[];
  go(path: string): Promise<void>;
  /** Goes there as a link of the page does: the files of the console are not loaded again. */
  follow(path: string): Promise<void>;
  /** Resolves when the page has a heading, and nothing is loading any more. */
  settled(): Promise<void>;
}

export interface TestBrowser {
  /** A browser of one person of the demo world, signed in without clicking. Without a name, nobody is signed in. */
  visit(server: VisitedServer, name?: string, options?: VisitOptions): Promise<Visit>;
  close(): Promise<void>;
}

export type VisitedServer = Pick<TestServer, 'url' | 'world'>;

export interface VisitOptions extends BrowserContextOptions {
  /** Messages of the browser that the test causes, besides refusals. */
  readonly expected?: RegExp;
}

let launched: Promise<Browser> | undefined;
after(async () => {
  await (await launched)?.close();
});

/** One Chromium for all files of a process; each visit has its own cookies and storage. */
export async function openBrowser(): Promise<TestBrowser> {
  launched ??= chromium.launch({ executablePath: PROGRAM ?? '', args: ['--no-sandbox'] });
  const browser = await launched;
  const opened: BrowserContext[] = [];
  return {
    visit: async (server, name, { expected = REFUSAL, ...options } = {}) => {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        reducedMotion: 'reduce',
        ...options,
      });
      opened.push(context);
      if (name !== undefined) {
        const password = server.world.users[name]?.password ?? '';
        const answer = await context.request.post(`${server.url}/api/v1/user/signin`, {
          data: { username: name, password },
        });
        if (answer.status() !== 200) throw new Error(`${name} cannot sign in: ${answer.status()}`);
      }
      const page = await context.newPage();
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`));
      page.on('console', (message) => {
        const text = message.text();
        if (message.type() === 'error' && !REFUSAL.test(text) && !expected.test(text)) faults.push(`console: ${text}`);
      });
      const running = new Set<unknown>();
      page.on('request', (request) => {
        // The stream of events lasts as long as the page.
        if (!request.url().includes('/api/v1/events')) running.add(request);
        if (!request.url().startsWith(`${server.url}/`)) faults.push(`another origin: ${request.url()}`);
      });
      page.on('requestfinished', (request) => running.delete(request));
      page.on('requestfailed', (request) => running.delete(request));
      const settled = async () => {
        await page.locator('h1').first().waitFor();
        await until(async () => {
          // Two frames: what arrived is drawn, and what it asks for is on its way.
          const isLoading = await page.evaluate<boolean>(
            `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
              done(document.querySelector('.loading, .stale') !== null))))`,
          );
          return !isLoading && running.size === 0;
        });
      };
      const go = async (path: string) => {
        await page.goto(server.url + path);
        await page.locator('h1').first().waitFor();
      };
      const follow = async (path: string) => {
        await page.evaluate(`{
          const link = document.createElement('a');
          link.href = ${JSON.stringify(path)};
          document.querySelector('main').append(link);
          link.click();
          link.remove();
        }`);
        // Some pages write their question into the rest of the address.
        const { pathname } = new URL(path, server.url);
        await until(() => new URL(page.url()).pathname === pathname);
        await page.locator('h1').first().waitFor();
      };
      return { page, context, faults, go, follow, settled };
    },
    close: async () => {
      for (const context of opened) await context.close();
    },
  };
}
