import { existsSync } from 'node:fs';
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { TestServer } from './server.ts';

/** Debian's, or the one that CHROME_PATH names. */
const PROGRAM = process.env.CHROME_PATH ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What a console must never do: errors, violations of the policy, requests to another origin. */
  readonly faults: readonly string[];
  go(path: string): Promise<void>;
}

export interface TestBrowser {
  /** A browser of one person of the demo world, signed in without clicking. Without a name, nobody is signed in. */
  visit(server: TestServer, name?: string, options?: BrowserContextOptions): Promise<Visit>;
  close(): Promise<void>;
}

/** One Chromium for a test file; each visit has its own cookies and storage. */
export async function openBrowser(): Promise<TestBrowser> {
  const browser = await chromium.launch({ executablePath: PROGRAM ?? '', args: ['--no-sandbox'] });
  return {
    visit: async (server, name, options = {}) => {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        reducedMotion: 'reduce',
        ...options,
      });
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
        // The browser reports every refused request; that is what a test of refusals asks for.
        const isRefusal = /^Failed to load resource: the server responded with a status of 4\d\d/.test(message.text());
        if (message.type() === 'error' && !isRefusal) faults.push(`console: ${message.text()}`);
      });
      page.on('request', (request) => {
        if (!request.url().startsWith(`${server.url}/`)) faults.push(`another origin: ${request.url()}`);
      });
      const go = async (path: string) => {
        await page.goto(server.url + path);
        await page.locator('h1').first().waitFor();
      };
      return { page, context, faults, go };
    },
    close: () => browser.close(),
  };
}
