import { createAuthenticator } from '../../support/services/authenticator.ts';
import { appWith } from '../../support/world/second-factors.ts';
import { getAs, noteId, ORG, PAGE, rowOfUser } from './parts.ts';
import { routes } from './route.ts';

const PASSWORD = 'an example password';
const authenticators = new Map<string, ReturnType<typeof createAuthenticator>>();

/** One authenticator for each origin, so that what is created in one request can be used in a later one. */
function authenticatorOf(origin: string) {
  const known = authenticators.get(origin) ?? createAuthenticator(origin);
  authenticators.set(origin, known);
  return known;
}

/** Second factors, in a browser in which ann has just signed in. In the end she has none, and is signed in with the
 * passkey that she had. */
export const FACTORS = routes({
  // Before there is a second factor, from when on the password is not enough.
  'POST /api/v1/user/reauthenticate': {
    body: { password: 'x' },
    names:
      '.password:secret .code:secret .passkey.id:secret .passkey.response.clientDataJSON:secret .passkey.response.authenticatorData:secret .passkey.response.signature:secret .passkey.response.userHandle:secret',
    again: 'proving oneself twice is what happened',
    example: () => ({ inBrowser: true, body: { password: PASSWORD } }),
    cost: { as: 'POST /api/v1/user/signin', because: 'checks a password as well' },
  },
  'POST /api/v1/user/factors/passkeys/options': {
    names: '',
    again: 'stores nothing',
    example: () => ({
      inBrowser: true,
      note: ({ body }, created) => {
        created.creation = JSON.stringify(body.publicKey);
      },
    }),
    cost: {
      as: 'POST /api/v1/user/signin/passkey/options',
      because: 'signs the same, and reads at most 20 passkeys',
    },
  },
  'POST /api/v1/user/factors/passkeys': {
    body: { name: 'x', response: { clientDataJSON: '', attestationObject: '' } },
    names: '.name .response.clientDataJSON:secret .response.attestationObject:secret .response.transports[]',
    again: 'its challenge works once',
    example: ({ origin, created: { creation = '' } }) => ({
      inBrowser: true,
      body: { name: 'Work laptop', response: authenticatorOf(origin).create(JSON.parse(`${creation}`)) },
      note: ({ body }, created) => noteId('passkey')({ body: body.passkey }, created),
    }),
    cost: { as: 'GET /api/v1/user/factors', because: 'counts at most 20, adds one' },
  },
  'PATCH /api/v1/user/factors/passkeys/:id': {
    body: { name: 'x' },
    names: 'id:passkey .name',
    example: ({ created: { passkey = 0 } }) => ({ inBrowser: true, path: { id: passkey }, body: { name: 'Laptop' } }),
    cost: rowOfUser,
  },
  'POST /api/v1/user/factors/totp': {
    names: '',
    again: 'stores nothing',
    example: () => ({
      inBrowser: true,
      note: ({ body }, created) => {
        created.secret = body.secret;
        created.enrollment = body.enrollment;
      },
    }),
    cost: {
      as: 'POST /api/v1/user/signin/passkey/options',
      because: 'signs a secret instead of a challenge',
    },
  },
  'PUT /api/v1/user/factors/totp': {
    body: { enrollment: '', code: '' },
    names: '.enrollment:secret .code:secret',
    example: ({ created: { secret, enrollment = '' } }) => ({
      inBrowser: true,
      body: { enrollment, code: appWith(`${secret}`).code() },
    }),
    cost: rowOfUser,
  },
  'POST /api/v1/user/factors/recovery_codes': {
    names: '',
    again: 'replaces what was there; only the last answer counts',
    example: () => ({
      inBrowser: true,
      note: ({ body }, created) => {
        created.recovery = body.recovery_codes[0];
      },
    }),
    cost: { as: 'GET /api/v1/user/factors', because: 'replaces ten rows' },
  },
  'GET /api/v1/user/factors': {
    names: '',
    example: () => ({ inBrowser: true }),
    cost: getAs('at most 20 passkeys', '/user/factors'),
  },
  'GET /api/v1/admin/users/:username/factors': {
    names: 'username',
    example: () => ({ as: 'root', path: { username: 'ann' } }),
    cost: { as: 'GET /api/v1/user/factors', because: 'reads the same list' },
  },
  'GET /api/v1/admin/factors': {
    names: '?missing PAGE',
    example: () => ({ as: 'root', query: { missing: true, ...PAGE } }),
    cost: getAs('the last page of all users', '/admin/factors?limit=50&page=1000', 'root'),
  },
  'PUT /api/v1/orgs/:org/second_factor': {
    body: { required: false },
    names: 'org .required',
    example: () => ({ as: 'ann', path: ORG, body: { required: true } }),
    cost: rowOfUser,
  },
  'GET /api/v1/orgs/:org/second_factor': { names: 'org', example: () => ({ as: 'ann', path: ORG }), cost: rowOfUser },
  'GET /api/v1/orgs/:org/second_factor/members': {
    names: 'org ?missing PAGE',
    example: () => ({ as: 'ann', path: ORG, query: { missing: true, ...PAGE } }),
    cost: getAs(
      'the last page of the largest organization',
      '/orgs/acme/second_factor/members?missing=true&limit=50&page=900',
    ),
  },
  'POST /api/v1/user/reauthenticate/options': {
    names: '',
    again: 'stores nothing',
    example: () => ({ inBrowser: true }),
    cost: {
      as: 'POST /api/v1/user/signin/passkey/options',
      because: 'signs the same, and reads at most 20 passkeys',
    },
  },
  'DELETE /api/v1/user/factors/totp': { names: '', example: () => ({ inBrowser: true }), cost: rowOfUser },
  'POST /api/v1/user/signin/factor': {
    body: { code: 'x' },
    names:
      '.code:secret .recovery_code:secret .passkey.id:secret .passkey.response.clientDataJSON:secret .passkey.response.authenticatorData:secret .passkey.response.signature:secret .passkey.response.userHandle:secret',
    again: 'its ticket works once, and its caller is not known before',
    example: ({ created: { recovery = '' } }) => ({
      inBrowser: true,
      before: (browser) => browser('POST', '/user/signin', { username: 'ann', password: PASSWORD }),
      body: { recovery_code: recovery },
    }),
    cost: { as: 'POST /api/v1/user/signin', because: 'checks a code instead of a password' },
  },
  'POST /api/v1/user/signin/passkey/options': {
    body: {},
    names: '.second_step',
    again: 'stores nothing',
    example: () => ({
      inBrowser: true,
      body: { second_step: false },
      note: ({ body }, created) => {
        created.request = JSON.stringify(body.publicKey);
      },
    }),
    cost: {
      what: 'a challenge, which is signed and not stored',
      shot: () => ({ path: '/user/signin/passkey/options' }),
    },
  },
  'POST /api/v1/user/signin/passkey': {
    body: {
      passkey: { id: 'AAAA', response: { clientDataJSON: '', authenticatorData: '', signature: '' } },
    },
    names:
      '.passkey.id:secret .passkey.response.clientDataJSON:secret .passkey.response.authenticatorData:secret .passkey.response.signature:secret .passkey.response.userHandle:secret .remember',
    again: 'its challenge works once, and its caller is not known before',
    example: ({ origin, created: { request = '' } }) => ({
      inBrowser: true,
      body: { passkey: authenticatorOf(origin).get(JSON.parse(`${request}`)), remember: true },
    }),
    cost: { as: 'POST /api/v1/user/signin', because: 'checks a signature, no password' },
  },
  'DELETE /api/v1/user/factors/passkeys/:id': {
    names: 'id:passkey',
    example: ({ created: { passkey = 0 } }) => ({
      inBrowser: true,
      before: (browser) => browser('PUT', '/orgs/acme/second_factor', { required: false }),
      path: { id: passkey },
    }),
    cost: rowOfUser,
  },
  'DELETE /api/v1/admin/users/:username/factors': {
    names: 'username',
    example: () => ({ as: 'root', path: { username: 'ann' } }),
    cost: {
      as: 'DELETE /api/v1/user/sessions',
      because: 'ends all sessions, and removes at most 20 passkeys',
    },
  },
});
