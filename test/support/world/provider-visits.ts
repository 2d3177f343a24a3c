import assert from 'node:assert/strict';
import type { TestServer } from '../server/server.ts';
import { openWebBrowser, type WebBrowser } from '../server/web-browser.ts';
import { CLIENT, type ProviderPerson, type RealProvider } from '../services/real-provider.ts';

/** Adds the provider to the server, under a name. */
export async function addProvider(atrium: TestServer, provider: RealProvider, name: string, more: object = {}) {
  const client = { issuer: provider.issuer, client_id: CLIENT.id, client_secret: CLIENT.secret };
  const made = await atrium.as('root')('POST', '/admin/providers', { name, ...client, ...more });
  assert.equal(made.status, 201, made.text);
}

/** Signs in at the provider as somebody. */
export async function signInWith(
  { url }: Pick<TestServer, 'url'>,
  provider: RealProvider,
  name: string,
  [subject, person]: readonly [string, ProviderPerson?],
  browser = openWebBrowser(),
) {
  provider.signInAs(subject, person);
  const page = await browser.visit(`${url}/api/v1/user/signin/${name}?return_to=/me`);
  return { browser, page };
}

/** A call of a page of this server, with the session of the browser. */
export async function callIn(browser: WebBrowser, base: string, method: string, path: string, body?: unknown) {
  const url = `${base}/api/v1${path}`;
  const csrf = /_csrf=([^;]+)/.exec(browser.cookies(new URL(url).host))?.[1] ?? '';
  const answer = await browser.send(method, url, body, method === 'GET' ? {} : { 'X-Csrf-Token': csrf });
  const text = await answer.text();
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body by asserting it.
  return { status: answer.status, body: (text === '' ? undefined : JSON.parse(text)) as any };
}
