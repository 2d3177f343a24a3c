import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';

/** What people read. */
const PAGES = [
  ...globSync(['docs/**/*.md', 'packages/*/README.md', 'test/support/**/*.md']),
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'client/README.md'],
];
const read = (path: string) => readFileSync(path, 'utf8');

/** Text for people, without what is to be typed, printed or read by programs. */
function proseOf(text: string): string {
  return text.replace(/^ *```[\s\S]*?^ *```/gm, '').replace(/`[^`\n]*`/g, '');
}

/**
 * A document describes the product as it is. These words are about one that is not there. A "yet" about the state of an
 * object ("no entry yet") is not one of them; a "yet" after what can or cannot be done is.
 */
const PROMISES = [
  /\b(?:planned|roadmap)\b/i,
  /\bnot (?:yet|implemented)\b/i,
  /\b(?:can|cannot|possible|supported|available|implemented)\b[^.;:]*\byet\b/i,
  /\bcoming (?:soon|in|with)\b/i,
  /\bwill be (?:added|supported|implemented|available|possible)\b/i,
  /\bin (?:a|the|some) (?:later|future|next|coming) (?:release|version)\b/i,
  /\bfor now\b/i,
  /\b(?:TODO|FIXME|TBD)\b/,
];

/** Phrases that were translated word by word, or that the style guide rejects. */
const PHRASES = [
  /\bbelongs? into\b/i,
  /\bsign(?:s|ed)? in in\b/i,
  /\bno arguments: the shell\b/i,
  /\bas it always did\b/i,
];

/** Lines of a paragraph belong together. Items of a list, rows of a table and headings stand alone. */
function sentencesOf(text: string): string[] {
  const blocks = proseOf(text).split(/\n\n+|\n(?= *(?:[-*#|]|\d+\.) ?)/);
  return blocks.flatMap((block) => block.replace(/\s+/g, ' ').split(/(?<=[.!?]) /));
}

/** Words that stand in for the user, caller or operator who is meant, and one that means two things. */
const STAND_INS = /\b(?:[Ss]omebody|[Nn]obody|[Ww]hoever|[Ee]verybody|[Aa]nybody|[Aa]t once)\b/;
const TOLD = ['console/src', 'cli'];

function faultsIn(text: string, patterns: readonly RegExp[]): string[] {
  return sentencesOf(text).filter((sentence) => patterns.some((pattern) => pattern.test(sentence)));
}

/** The texts for people in the OpenAPI document, each once. */
function describedIn(value: unknown, texts = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return texts;
  for (const [key, part] of Object.entries(value)) {
    if ((key === 'description' || key === 'summary') && typeof part === 'string') texts.add(part);
    else describedIn(part, texts);
  }
  return texts;
}

describe('Documents', () => {
  it('No document says that something is planned or not there yet', () => {
    const planted = [
      'Sign-in with OIDC is planned.',
      'It is not\nyet supported.',
      '- No cluster can be connected yet.',
      '| SAML | coming in 1.2 |',
      'Conditions will be supported.',
      'A webhook follows in a later release.',
    ];
    for (const text of planted) assert.equal(faultsIn(text, PROMISES).length, 1, text);
    for (const text of ['`planned`', 'Null if there is none yet.', 'An installer that is not bound yet.']) {
      assert.deepEqual(faultsIn(text, PROMISES), [], text);
    }
    const described = [...describedIn(JSON.parse(read('openapi/atrium.json')))];
    assert.ok(described.length > 1000, `${described.length} descriptions`);
    const texts = [...PAGES.map((path) => [path, read(path)] as const), ['openapi', described.join('\n\n')] as const];
    for (const [path, text] of texts) assert.deepEqual(faultsIn(text, PROMISES), [], path);
  });

  it('No document uses a phrase that the style guide rejects', () => {
    for (const path of PAGES) assert.deepEqual(faultsIn(read(path), PHRASES), [], path);
  });

  it('No page, command or guide says somebody, nobody, whoever or at once where a noun belongs', () => {
    for (const text of ['Nobody has this role yet.', 'Send all at once.']) assert.match(text, STAND_INS);
    const sources = globSync(TOLD.map((folder) => `${folder}/**/*.{ts,tsx}`));
    assert.ok(sources.length > 300, `${sources.length} files`);
    const guides = PAGES.filter((path) => !path.startsWith('docs/decisions/') && path !== 'CHANGELOG.md');
    const told = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*/gm, '');
    for (const path of sources) assert.doesNotMatch(told(read(path)), STAND_INS, path);
    for (const path of guides) assert.deepEqual(faultsIn(read(path), [STAND_INS]), [], path);
    const described = [...describedIn(JSON.parse(read('openapi/atrium.json')))].join('\n\n');
    assert.deepEqual(faultsIn(described, [STAND_INS]), []);
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

  it('Every file that a walk of ARCHITECTURE.md names exists', () => {
    const [, walks = ''] = /^## The walks$(.*?)^## /ms.exec(read('ARCHITECTURE.md')) ?? [];
    assert.ok(filesIn(walks).length > 150, `${filesIn(walks).length} files`);
    assert.deepEqual(lostIn(filesIn(walks)), []);
    assert.deepEqual(lostIn(filesIn('`roles/roles.ts`, `roles.store.ts` then `lost.ts`')), ['lost.ts']);
  });

  it('Only what is about the API calls itself 1.27', () => {
    for (const path of PAGES.filter((one) => !/version\.md|upgrading\.md|faq\.md/.test(one))) {
      assert.doesNotMatch(read(path), /\b1\.27\.0\b|\bUntil 1\.27\b/, path);
    }
  });
});

function filesIn(text: string): string[] {
  return [...text.matchAll(/`([\w./…-]+\.(?:ts|tsx|mjs|sql))`/g)].map(([, name = '']) =>
    name.replace('…/', 'marketplace/'),
  );
}

/** A name is in `src/`, in another top folder, or in the folder of the name before it. */
function lostIn(names: readonly string[]): string[] {
  let folder = 'src';
  return names.filter((name) => {
    const found = [join('src', name), name, join(folder, name)].find((path) => existsSync(path));
    if (found !== undefined) folder = dirname(found);
    return found === undefined;
  });
}

/** As GitHub does it. */
function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
