import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import { addressOf, PAGES } from '../../site/sections.mjs';

const DIST = resolve('site/dist');

/** What a browser would load or open from a page, without other sites. */
interface Page {
  readonly address: string;
  readonly html: string;
  readonly anchors: ReadonlySet<string>;
}

describe('The documentation site', () => {
  let pages: Page[];

  before(() => {
    const built = spawnSync(process.execPath, ['scripts/run.mjs', 'scripts/docs.mjs', 'build'], { encoding: 'utf8' });
    assert.equal(built.status, 0, built.stdout + built.stderr);
    pages = globSync('**/*.html', { cwd: DIST }).map((file) => {
      const html = readFileSync(join(DIST, file), 'utf8');
      const address = `/${file.replace(/\.html$/, '').replace(/(^|\/)index$/, '$1')}`;
      return { address, html, anchors: new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)) };
    });
  });

  it('Every page of the repository for people is a page of the site, and in its sidebar', () => {
    assert.ok(PAGES.length > 50, `${PAGES.length} pages`);
    const home = pages.find(({ address }) => address === '/');
    assert.ok(home);
    for (const page of PAGES) {
      const address = addressOf(page);
      assert.ok(
        pages.some((one) => one.address === address),
        `${page} was not built as ${address}`,
      );
      assert.ok(home.html.includes(`href="${address}"`), `${address} is not in the sidebar`);
    }
  });

  it('Every link, anchor, script and picture of every page is there', () => {
    const byAddress = new Map(pages.map((page) => [page.address, page]));
    const faults: string[] = [];
    let checked = 0;
    for (const { address, html } of pages) {
      for (const [, link = ''] of html.matchAll(/ (?:href|src)="([^"]+)"/g)) {
        if (/^[a-z]+:/.test(link)) continue;
        checked++;
        const { pathname, hash } = new URL(link.replaceAll('&amp;', '&'), new URL(address, 'http://site/'));
        const page = byAddress.get(decodeURIComponent(pathname));
        const file = join(DIST, decodeURIComponent(pathname));
        if (!page && !(existsSync(file) && statSync(file).isFile())) faults.push(`${address}: ${link}`);
        else if (page && hash && !page.anchors.has(decodeURIComponent(hash.slice(1))))
          faults.push(`${address}: ${link}`);
      }
    }
    assert.ok(checked > 5000, `${checked} links`);
    assert.deepEqual(faults, []);
  });

  it('No page loads anything from another site, and the search works without a network', () => {
    for (const { address, html } of pages) {
      const foreign = [...html.matchAll(/<(?:script|link|img)[^>]* (?:src|href)="(?:https?:)?\/\/[^"]*"/g)];
      assert.deepEqual(
        foreign.map(([tag]) => tag),
        [],
        address,
      );
    }
    const [index] = globSync('assets/chunks/@localSearchIndex*.js', { cwd: DIST });
    assert.ok(index, 'the site has an index of its own');
    assert.match(readFileSync(join(DIST, index), 'utf8'), /guardrail/);
  });
});
