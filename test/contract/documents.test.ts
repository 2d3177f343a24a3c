import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';

/** What people read. The changelog is about the past, and the page of measurements quotes what programs print. */
const PAGES = [
  ...globSync('docs/**/*.md'),
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'client/README.md'],
];
const read = (path: string) => readFileSync(path, 'utf8');

/** Text for people, without what is to be typed, printed or read by programs. */
function proseOf(text: string): string {
  return text.replace(/^ *```[\s\S]*?^ *```/gm, '').replace(/`[^`\n]*`/g, '');
}

/** A document describes the product as it is. These words are about one that is not there. */
const PROMISES = [
  /\bplanned\b/i,
  /\bnot (?:yet|implemented)\b(?! (?:signed|been|known|there|used|exist|applied|finished|done|mounted|moved))/i,
  /\bcoming soon\b/i,
  /\bwill be (?:added|supported|possible)\b/i,
  /\bin a (?:later|future) release\b/i,
  /\b(?:TODO|FIXME|TBD)\b/,
];

/** Phrases that were translated word by word, or that the style guide rejects. */
const PHRASES = [
  /\bbelongs? into\b/i,
  /\bsign(?:s|ed)? in in\b/i,
  /\bno arguments: the shell\b/i,
  /\bas it always did\b/i,
];

function faultsIn(text: string, patterns: readonly RegExp[]): string[] {
  return proseOf(text)
    .split('\n')
    .filter((line) => patterns.some((pattern) => pattern.test(line)));
}

describe('Documents', () => {
  it('No document says that something is planned or not there yet', () => {
    assert.deepEqual(
      faultsIn('Sign-in with OIDC is planned.\nIt is not yet supported.\n`planned`', PROMISES).length,
      2,
    );
    for (const path of PAGES) assert.deepEqual(faultsIn(read(path), PROMISES), [], path);
  });

  it('No document uses a phrase that the style guide rejects', () => {
    for (const path of PAGES) assert.deepEqual(faultsIn(read(path), PHRASES), [], path);
  });

  it('Every heading has an empty line before and after it, as a merge may have joined two sections', () => {
    const joined = (text: string) => text.match(/(?<=[^\n]\n)#{1,4} .*$|^#{1,4} .*\n(?=[^\n])/gm) ?? [];
    assert.equal(joined('text\n## Heading\n\ntext').length, 1);
    for (const path of PAGES) {
      const text = read(path).replace(/^ *```[\s\S]*?^ *```/gm, '```');
      assert.deepEqual(joined(text), [], path);
    }
  });

  it('Every link to a file leads to one, and every link to a heading to a heading', () => {
    for (const path of PAGES) {
      for (const [, target = '', anchor] of proseOf(read(path)).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)) {
        const file = target === '' ? path : normalize(join(dirname(path), target));
        assert.ok(existsSync(file), `${path}: ${target}`);
        if (anchor === undefined || !file.endsWith('.md')) continue;
        const headings = [...read(file).matchAll(/^#{1,6} (.*)$/gm)].map(([, title = '']) => slugOf(title));
        assert.ok(headings.includes(anchor), `${path}: ${target}#${anchor}`);
      }
    }
  });

  it('Only what is about the API calls itself 1.27', () => {
    for (const path of PAGES.filter((one) => !/version\.md|upgrading\.md|faq\.md/.test(one))) {
      assert.doesNotMatch(read(path), /\b1\.27\.0\b|\bUntil 1\.27\b/, path);
    }
  });
});

/** As GitHub does it. */
function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
