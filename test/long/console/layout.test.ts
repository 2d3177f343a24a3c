import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openBrowser, type TestBrowser, type Visit } from '../../support/server/browser.ts';
import { lacks } from '../../support/services/requirements.ts';
import { CONSOLE_ROUTES, pathsOf, personFor } from '../../support/world/console-pages.ts';
import { addHardNames, type ConsoleWorld, openConsoleWorld } from '../../support/world/console-world.ts';

/** WCAG 2.2 calls it reflow: 1280 px at a zoom of 400 %. */
const NARROW = { width: 320, height: 640 };
const WIDE = { width: 1280, height: 800 };

describe('The pages of the console on narrow screens and by keyboard', { skip: lacks('chromium') }, () => {
  let world: ConsoleWorld;
  let browser: TestBrowser;
  const visits = new Map<string | undefined, Visit>();
  before(async () => {
    [world, browser] = await Promise.all([openConsoleWorld(), openBrowser()]);
    await addHardNames(world);
    for (const name of [undefined, 'ann', 'root']) visits.set(name, await browser.visit(world.atrium, name));
  });
  after(async () => {
    await browser?.close();
    await world?.atrium.close();
  });

  for (const route of CONSOLE_ROUTES) {
    it(`Nothing on ${route} is wider than 320 px, no chips touch, and Tab reaches every control, with a visible focus`, async () => {
      const visit = visits.get(personFor(route)) ?? assert.fail(route);
      const { page } = visit;
      for (const path of pathsOf(route, world.ids)) {
        await page.setViewportSize(NARROW);
        await visit.go(path);
        await visit.settled();
        assert.deepEqual(await page.evaluate(TOO_WIDE), [], `${path} scrolls sideways`);
        await page.setViewportSize(WIDE);
        await visit.settled();
        assert.deepEqual(await page.evaluate(TOO_WIDE), [], `${path} scrolls sideways on a wide screen`);
        assert.deepEqual(await page.evaluate(TOUCHING), [], `${path}: chips that touch each other`);
        const { missed, invisible } = await tabThrough(visit);
        assert.deepEqual(missed, [], `${path}: controls that Tab does not reach`);
        assert.deepEqual(invisible, [], `${path}: controls whose focus does not show`);
      }
      assert.deepEqual(visit.faults, []);
    });
  }
});

/** Elements that reach beyond the right edge of a page that scrolls sideways. */
const TOO_WIDE = `document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll('body *')]
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5)
    .map((one) => one.tagName.toLowerCase() + '.' + one.className + ' ' + one.textContent.slice(0, 40))
    .slice(0, 5)`;

/** Pairs of chips in one row without a gap of two pixels. */
const TOUCHING = `(() => {
  const chips = [...document.querySelectorAll('.chip')].filter((one) => one.checkVisibility());
  return chips.flatMap((one, at) => chips.slice(at + 1).filter((other) => {
    const [first, second] = [one, other].map((chip) => chip.getBoundingClientRect());
    return first.left < second.right + 2 && second.left < first.right + 2
      && first.top < second.bottom && second.top < first.bottom;
  }).map((other) => one.textContent.slice(0, 40) + ' and ' + other.textContent.slice(0, 40)));
})()`;

/**
 * Marks every control that can be seen, and counts them. What is reached is what receives the focus, at any moment: after
 * the last control, the browser hands the focus back to the first one in its own time, between two presses of the key.
 */
const MARK_CONTROLS = `(() => {
  // While a dialog is open, the page behind it can be seen but not reached.
  const place = document.querySelector('dialog:modal') ?? document;
  const all = [...place.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0);
  window.tabbed = new Set();
  window.reached = new Set();
  document.addEventListener('focusin', ({ target }) => window.reached.add(target));
  window.controls = all;
  return all.length;
})()`;

const IS_IN_EDITOR = `document.activeElement?.shadowRoot?.activeElement?.closest('.cm-editor') != null`;

/** What has the focus now: whether it is a new control, and whether the focus can be seen. */
const STEP = `(async () => {
  const one = document.activeElement;
  // After the last control comes the window itself, and then the first one.
  if (one === null || one === document.body) return 'visible';
  // Day, month, year, hours and minutes of a time are places of their own within one control.
  if (one.type === 'datetime-local' && one === window.last) return 'visible';
  window.last = one;
  if (window.tabbed.has(one)) return 'over';
  window.tabbed.add(one);
  const inner = one.shadowRoot?.activeElement?.closest('.cm-editor') ?? one;
  // The editor marks itself a few frames later.
  for (let frame = 0; frame < 10; frame++) {
    const { outlineStyle, outlineWidth } = getComputedStyle(inner);
    if (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2) return 'visible';
    await new Promise(requestAnimationFrame);
  }
  return one.outerHTML.slice(0, 120);
})()`;

const MISSED = `window.controls
  .filter((one) => !window.reached.has(one) && !(one.type === 'radio' && !one.checked))
  .map((one) => one.outerHTML.slice(0, 120))`;

async function tabThrough({ page }: Visit): Promise<{ missed: readonly string[]; invisible: readonly string[] }> {
  const count = await page.evaluate<number>(MARK_CONTROLS);
  const invisible: string[] = [];
  for (let presses = 0; presses < 2 * count + 10; presses++) {
    // In the editor, Tab indents; Escape gives it back its usual meaning.
    if (await page.evaluate<boolean>(IS_IN_EDITOR)) await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    const seen = await page.evaluate<string>(STEP);
    if (seen === 'over') break;
    if (seen !== 'visible') invisible.push(seen);
  }
  return { missed: await page.evaluate<string[]>(MISSED), invisible };
}
