import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import { CONSOLE_ROUTES, type Ids, NOUNS, pathsOf } from '../support/world/console-pages.ts';

const DIST = 'console/dist';
const KB = 1024;
/** Only the pages that edit text load it. */
const EDITOR = /^editor-/;

const html = readFileSync(`${DIST}/index.html`, 'utf8');
const names = readdirSync(`${DIST}/assets`).filter((name) => !/\.(gz|br)$/.test(name));
const scripts = names.filter((name) => name.endsWith('.js'));
const first = scripts.filter((name) => html.includes(name));
const pages = scripts.filter((name) => !first.includes(name) && !EDITOR.test(name));
const gzipped = (name: string) => statSync(`${DIST}/assets/${name}.gz`).size;
const sum = (sizes: readonly number[]) => sizes.reduce((all, size) => all + size, 0);

describe('The built files of the console', () => {
  it('Every page has an address with test data, for the long suite', () => {
    const ids = Object.fromEntries(NOUNS.map((noun) => [noun, '1'])) as unknown as Ids;
    const paths = CONSOLE_ROUTES.flatMap((route) => pathsOf(route, ids));
    assert.ok(paths.length > 30, `${paths.length} paths`);
    assert.ok(paths.every((path) => path.startsWith('/') && !path.includes('/:')));
    assert.throws(() => pathsOf('/orgs/:org/volumes/:id', ids), /has no test data/);
  });

  it('The script that every page needs before it shows anything has at most 40 KB', () => {
    assert.ok(first.length > 0 && first.length <= 2, `${first.length} scripts in the page`);
    assert.ok(sum(first.map(gzipped)) <= 40 * KB, `${sum(first.map(gzipped))} bytes`);
  });

  it('The own script of a page has at most 15 KB, and at most 6 KB in the median', () => {
    assert.ok(pages.length > 20, `${pages.length} pages`);
    const sizes = pages.map(gzipped).sort((one, other) => one - other);
    assert.deepEqual(
      pages.filter((name) => gzipped(name) > 15 * KB),
      [],
    );
    assert.ok((sizes[Math.floor(sizes.length / 2)] ?? 0) <= 6 * KB, String(sizes));
  });

  it('The editor has at most 140 KB, and the page does not load it at first', () => {
    const editors = scripts.filter((name) => EDITOR.test(name));
    assert.equal(editors.length, 1);
    assert.ok(editors.every((name) => gzipped(name) <= 140 * KB && !html.includes(name)));
  });

  it('Only the pages that edit text load the editor', () => {
    const importsOf = (name: string) =>
      [...readFileSync(`${DIST}/assets/${name}`, 'utf8').matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)].map(
        ([, imported = '']) => imported,
      );
    const reach = (name: string, seen: Set<string> = new Set()): ReadonlySet<string> => {
      if (seen.has(name)) return seen;
      seen.add(name);
      for (const imported of importsOf(name)) reach(imported, seen);
      return seen;
    };
    const loading = scripts.filter((name) => !EDITOR.test(name) && [...reach(name)].some((one) => EDITOR.test(one)));
    assert.ok(loading.length > 0, 'no page loads it');
    const unexpected = loading.filter((name) => !/^(role-code|request-rules|rules-editor)-/.test(name));
    assert.deepEqual(unexpected, []);
  });

  it('There is one style sheet of at most 20 KB and one font of at most 50 KB', () => {
    const styles = names.filter((name) => name.endsWith('.css'));
    const fonts = names.filter((name) => name.endsWith('.woff2'));
    assert.deepEqual([styles.length, fonts.length], [1, 1]);
    assert.ok(styles.every((name) => gzipped(name) <= 20 * KB));
    // Which rule wins does not depend on the order in which pages were bundled.
    assert.match(readFileSync(`${DIST}/assets/${styles[0]}`, 'utf8'), /^@layer base,parts,shell,pages;/);
    assert.ok(fonts.every((name) => statSync(`${DIST}/assets/${name}`).size <= 50 * KB));
  });
});
