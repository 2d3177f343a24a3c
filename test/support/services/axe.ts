import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe has to say against the page as it is: rule, element and what is wrong with it. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  // Through the debugger, so that the policy of the page does not apply.
  if (await page.evaluate<boolean>(`typeof axe === 'undefined'`)) await page.evaluate(`${SOURCE};0`);
  return await page.evaluate<readonly string[]>(`(async () => {
    const options = { runOnly: ${JSON.stringify(TAGS)}, resultTypes: ['violations'] };
    const { violations } = await axe.run(document, options);
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target, any, all, none }) =>
      id + ' at ' + target.join(' ') + ': ' + [...any, ...all, ...none].map(({ message }) => message).join('; ')));
  })()`);
}
