// Takes pictures of every page of the console, light and dark, wide and narrow, into console/dist-shots/ for review.
// With --readme, takes those of the README into docs/images/. Words after that choose pages, such as "/me".
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser, type Visit } from '../test/support/server/browser.ts';
import { CONSOLE_ROUTES, pathsOf, personFor } from '../test/support/world/console-pages.ts';
import { openConsoleWorld } from '../test/support/world/console-world.ts';

const ROOT = join(import.meta.dirname, '..');
const SHOTS = join(ROOT, 'console', 'dist-shots');
const WIDTHS = { wide: 1280, narrow: 360 } as const;
const words = process.argv.slice(2);
const isReadme = words.includes('--readme');
const wanted = words.filter((word) => word.startsWith('/'));

const world = await openConsoleWorld();
const browser = await openBrowser();
try {
  await (isReadme ? takeReadme() : takeAll());
} finally {
  await browser.close();
  await world.atrium.close();
}
process.exit(0);

/** What a visitor of the project sees first. */
async function takeReadme(): Promise<void> {
  const folder = join(ROOT, 'docs', 'images');
  mkdirSync(folder, { recursive: true });
  const pictures = [
    { name: 'overview', path: '/orgs/acme', colorScheme: 'light' },
    {
      name: 'why',
      path: `/orgs/acme/access/why?user=dan&relation=can_connect&object=cluster:${world.ids.clusters}`,
      colorScheme: 'light',
    },
    { name: 'role', path: `/orgs/acme/roles/${world.ids.roles}`, colorScheme: 'dark' },
  ] as const;
  for (const { name, path, colorScheme } of pictures) {
    const visit = await browser.visit(world.atrium, 'ann', { colorScheme, viewport: { width: 1200, height: 800 } });
    await show(visit, path);
    if (name === 'role') {
      await visit.page.getByLabel('view members', { exact: true }).check();
      await visit.page.locator('.panel').getByText('dan').first().waitFor();
      await visit.settled();
    }
    await visit.page.screenshot({ path: join(folder, `console-${name}.png`) });
  }
}

async function takeAll(): Promise<void> {
  if (wanted.length === 0) rmSync(SHOTS, { recursive: true, force: true });
  const routes = CONSOLE_ROUTES.filter((route) => wanted.length === 0 || wanted.includes(route));
  for (const [size, width] of Object.entries(WIDTHS)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const visits = new Map<string | undefined, Visit>();
      for (const route of routes) {
        const person = personFor(route);
        const options = { colorScheme, viewport: { width, height: 800 } };
        const visit = visits.get(person) ?? (await browser.visit(world.atrium, person, options));
        visits.set(person, visit);
        for (const [index, path] of pathsOf(route, world.ids).entries()) {
          await show(visit, path);
          const name =
            `${route.replace('*', 'nothing-here').replaceAll(/[/:]+/g, '-')}${index === 0 ? '' : `-${index}`}`.replace(
              /^-+/,
              '',
            );
          const folder = join(SHOTS, `${size}-${colorScheme}`);
          await visit.page.screenshot({ path: join(folder, `${name || 'home'}.png`), fullPage: true });
        }
      }
    }
  }
  process.stdout.write(`${routes.length} pages are in ${SHOTS}\n`);
}

async function show({ page, go, settled }: Visit, path: string): Promise<void> {
  await go(path);
  await settled();
  await page.evaluate('document.fonts.ready');
}
