import { createAuthenticator } from '../support/services/authenticator.ts';
import { appWith } from '../support/world/second-factors.ts';
import { type NamedRequest, noteId, ORG, PAGE } from './example-requests.ts';

const PASSWORD = 'an example password';
const authenticators = new Map<string, ReturnType<typeof createAuthenticator>>();

/** One authenticator for each origin, so that what is created in one request can be used in a later one. */
function authenticatorOf(origin: string) {
  const known = authenticators.get(origin) ?? createAuthenticator(origin);
  authenticators.set(origin, known);
  return known;
}

/**
 * Everything about second factors, in a browser in which ann has just signed in. In the end she has none, and is signed
 * in with the passkey that she had.
 */
export const FACTOR_REQUESTS: readonly NamedRequest[] = [
  // Before there is a second factor, from when on the password is not enough.
  ['confirmMyIdentity', () => ({ inBrowser: true, body: { password: PASSWORD } })],
  [
    'getPasskeyCreationOptions',
    () => ({
      inBrowser: true,
      note: ({ body }, created) => {
        created.creation = JSON.stringify(body.publicKey);
      },
    }),
  ],
  [
    'addMyPasskey',
    ({ origin, created: { creation = '' } }) => ({
      inBrowser: true,
      body: { name: 'Work laptop', response: authenticatorOf(origin).create(JSON.parse(`${creation}`)) },
      note: ({ body }, created) => noteId('passkey')({ body: body.passkey }, created),
    }),
  ],
  [
    'updateMyPasskey',
    ({ created: { passkey = 0 } }) => ({ inBrowser: true, path: { id: passkey }, body: { name: 'Laptop' } }),
  ],
  [
    'getMyAuthenticatorAppSecret',
    () => ({
      inBrowser: true,
      note: ({ body }, created) => {
        created.secret = body.secret;
        created.enrollment = body.enrollment;
      },
    }),
  ],
  [
    'addMyAuthenticatorApp',
    ({ created: { secret, enrollment = '' } }) => ({
      inBrowser: true,
      body: { enrollment, code: appWith(`${secret}`).code() },
    }),
  ],
  [
    'createMyRecoveryCodes',
    () => ({
      inBrowser: true,
      note: ({ body }, created) => {
        created.recovery = body.recovery_codes[0];
      },
    }),
  ],
  ['listMyFactors', () => ({ inBrowser: true })],
  ['listUserFactors', () => ({ as: 'root', path: { username: 'ann' } })],
  ['listFactorHolders', () => ({ as: 'root', query: { missing: true, ...PAGE } })],
  ['setSecondFactorRequirement', () => ({ as: 'ann', path: ORG, body: { required: true } })],
  ['getSecondFactorRequirement', () => ({ as: 'ann', path: ORG })],
  ['listMemberFactors', () => ({ as: 'ann', path: ORG, query: { missing: true, ...PAGE } })],
  ['getReauthenticationOptions', () => ({ inBrowser: true })],
  ['removeMyAuthenticatorApp', () => ({ inBrowser: true })],
  [
    'confirmSignIn',
    ({ created: { recovery = '' } }) => ({
      inBrowser: true,
      before: (browser) => browser('POST', '/user/signin', { username: 'ann', password: PASSWORD }),
      body: { recovery_code: recovery },
    }),
  ],
  [
    'getPasskeySignInOptions',
    () => ({
      inBrowser: true,
      body: { second_step: false },
      note: ({ body }, created) => {
        created.request = JSON.stringify(body.publicKey);
      },
    }),
  ],
  [
    'signInWithPasskey',
    ({ origin, created: { request = '' } }) => ({
      inBrowser: true,
      body: { passkey: authenticatorOf(origin).get(JSON.parse(`${request}`)), remember: true },
    }),
  ],
  [
    'removeMyPasskey',
    ({ created: { passkey = 0 } }) => ({
      inBrowser: true,
      before: (browser) => browser('PUT', '/orgs/acme/second_factor', { required: false }),
      path: { id: passkey },
    }),
  ],
  ['removeUserFactors', () => ({ as: 'root', path: { username: 'ann' } })],
];
