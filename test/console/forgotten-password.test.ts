import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser } from '../support/server/browser.ts';
import { openTestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';
import { codeIn, openMailBox } from '../support/world/mail-box.ts';

describeLong('Getting in without an administrator', { skip: lacks('chromium') }, () => {
  it('A user sets a new password with the link of an email, and a newcomer creates an account', async () => {
    const box = await openMailBox();
    const env = { SMTP_URL: box.smtp.url, REGISTRATION: 'domains', REGISTRATION_DOMAINS: 'example.com' };
    const [atrium, browser] = await Promise.all([openTestServer({ env }), openBrowser()]);
    try {
      const visit = await browser.visit(atrium);
      const { page } = visit;
      const fill = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
      const click = (name: string) => page.getByRole('button', { name, exact: true }).click();
      await visit.go('/signin');
      await page.getByRole('link', { name: 'Forgot your password?' }).click();
      await fill('Email address', 'bob@example.com');
      await click('Send the link');
      await page.getByText('an email is on its way').waitFor();
      const [reset] = await box.take(atrium);
      await visit.go(`/signin/reset#code=${codeIn(reset, '/signin/reset')}`);
      await fill('New password', 'short');
      await click('Set password');
      await page.getByText('password must have 8 to 255 characters').waitFor();
      await fill('New password', 'a new password of bob');
      await click('Set password');
      await page.getByText('The password was changed.').waitFor();
      assert.equal(new URL(page.url()).hash, '', 'the code is gone from the address');
      await page.getByRole('link', { name: 'Sign in', exact: true }).click();
      await page.getByRole('link', { name: 'Create an account' }).click();
      await fill('Email address', 'newcomer@example.com');
      await click('Send the link');
      await page.getByText('An email is on its way to you.').waitFor();
      const emails = await box.take(atrium);
      const code = codeIn(
        emails.find(({ to }) => to.includes('newcomer@example.com')),
        '/signin/signup',
      );
      // A link of an email opens a page of its own. Another fragment alone would not load this one again.
      await visit.go('/signin');
      await visit.go(`/signin/signup#code=${code}`);
      await fill('Username', 'newcomer');
      await fill('Password', 'a password of the newcomer');
      await click('Create account');
      await page.getByText('was created').waitFor();
      await page.getByRole('link', { name: 'Sign in', exact: true }).click();
      await fill('Username', 'newcomer');
      await fill('Password', 'a password of the newcomer');
      await click('Sign in');
      await page.getByText('newcomer').first().waitFor();
    } finally {
      await browser.close();
      await atrium.close();
      await box.smtp.close();
    }
  });
});
