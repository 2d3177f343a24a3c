// The site is the repository's own Markdown: no page is written twice. Nothing is fetched when it is read.
import { join } from 'node:path';
import { PAGES, sidebar } from '../sections.mjs';

const HERE = join(import.meta.dirname, '..', 'package.json');
const pages = new Set(PAGES);

// VitePress finds its settings by the default export of this file.
// biome-ignore lint/style/noDefaultExport: see above
export default {
  title: 'Atrium',
  description: 'Who may do what, and why: the documentation of Atrium.',
  lang: 'en',
  // The pages are in the root of the repository, and so are their pictures.
  srcDir: '..',
  srcExclude: ['**/node_modules/**', '.*/**', 'packages/**', 'client/**', 'deploy/**', 'test/**', 'console/**'],
  outDir: 'dist',
  cacheDir: '../.cache/site',
  rewrites: { 'README.md': 'index.md', 'docs/decisions/README.md': 'docs/decisions/index.md' },
  cleanUrls: true,
  markdown: { html: false, anchor: { slugify }, config: (markdown) => markdown.core.ruler.push('links', followLinks) },
  vite: {
    plugins: [{ name: 'installed-here', enforce: 'pre', resolveId: resolveHere }],
    build: { chunkSizeWarningLimit: 4000 },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    sidebar: sidebar(),
  },
};

/** Pages are outside of this folder, and what they need is installed in it. */
async function resolveHere(id, importer, options) {
  if (!/^vue(\/|$)/.test(id) || importer === HERE) return undefined;
  return await this.resolve(id, HERE, { ...options, skipSelf: true });
}

/** Pages that are called otherwise on the site, and files of the repository, which are nowhere on it: only words. */
function followLinks({ tokens, env }) {
  for (const { children } of tokens) {
    let isFile = false;
    for (const token of children ?? []) {
      const isLink = token.type === 'link_open';
      const href = isLink ? token.attrGet('href') : '';
      if (isLink) isFile = isOtherFile(href, env.relativePath);
      if (isLink && !isFile) token.attrSet('href', href.replace(/^(?![a-z]+:)(.*)README\.md/, '$1index.md'));
      if (isFile && (isLink || token.type === 'link_close')) {
        isFile = isLink;
        Object.assign(token, { type: 'text', content: '', tag: '', nesting: 0 });
      }
    }
  }
}

function isOtherFile(href, from) {
  if (/^[a-z]+:|^#/.test(href)) return false;
  const { pathname } = new URL(href, new URL(from, 'file:///'));
  const target = decodeURIComponent(pathname.slice(1)).replace(/index\.md$/, 'README.md');
  return !pages.has(target);
}

/** As it is where the repository is read, so that the same links work. */
function slugify(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}
