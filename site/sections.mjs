// Which page is where in the sidebar. The titles are the first headings of the pages.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

const SECTIONS = [
  ['Start', ['README', 'docs/quick-start', 'docs/faq', 'docs/glossary']],
  [
    'Access',
    ['authorization', 'access-requests', 'guardrails', 'organization-file', 'reviews', 'kubernetes'].map(guide),
  ],
  ['People and robots', ['invitations', 'sign-in', 'second-factor', 'scim', 'federation'].map(guide)],
  ['Programs', ['cli', 'clients', 'marketplaces', 'bus'].map(guide)],
  [
    'Operation',
    ['deploying', 'operating', 'configuration', 'upgrading', 'capacity', 'reliability', 'benchmarks'].map(guide),
  ],
  ['The project', ['CHANGELOG', 'SECURITY', 'CONTRIBUTING', 'ARCHITECTURE', 'docs/adding']],
];

export const README = 'README.md';
/** Every page, from the root of the repository. */
export const PAGES = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT }).sort();

/** What the sidebar shows: every page once. A guide without a section is in "More". */
export function sidebar() {
  const sections = SECTIONS.map(([text, pages]) => [text, pages.map((page) => `${page}.md`)]);
  const decisions = PAGES.filter((page) => page.startsWith('docs/decisions/')).sort(readmeFirst);
  const named = new Set([...sections.flatMap(([, pages]) => pages), ...decisions]);
  const rest = PAGES.filter((page) => !named.has(page));
  return [...sections, ['More', rest], ['Decisions', decisions]]
    .filter(([, pages]) => pages.length > 0)
    .map(([text, pages]) => ({
      text,
      collapsed: text === 'Decisions' || text === 'The project',
      items: pages.map((page) => ({ text: titleOf(page), link: addressOf(page) })),
    }));
}

/** The address of a page on the site. */
export function addressOf(page) {
  return `/${page.replace(/README\.md$/, '').replace(/\.md$/, '')}`;
}

function titleOf(page) {
  const [, heading = page] = /^# (.+)$/m.exec(readFileSync(join(ROOT, page), 'utf8')) ?? [];
  return page === README ? 'What Atrium is' : heading.replaceAll('`', '');
}

function readmeFirst(one, other) {
  const isReadme = (page) => page.endsWith('README.md');
  if (isReadme(one) !== isReadme(other)) return isReadme(one) ? -1 : 1;
  return one < other ? -1 : 1;
}

function guide(name) {
  return `docs/${name}`;
}
