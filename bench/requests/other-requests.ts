import { MARKETPLACE_NAMES, type MarketplaceName, shortNameOf } from '../../src/marketplace/marketplaces.ts';
import { mostKeys } from './bodies.ts';
import type { Entry, Measured, Requests } from './entry.ts';

const file: Entry = { as: 'GET /api/v1/version', because: 'sends a text that is kept in memory' };
const nothing: Entry = { as: 'GET /api/v1/version', because: 'answers without reading a body' };
const get = (what: string, path: string, as?: string): Measured => ({
  what,
  shot: () => ({ path, ...(as !== undefined && { as }) }),
});
const WEBHOOK = '/marketplace/api/v1/marketplaces';
const notified = (name: MarketplaceName) => `POST ${WEBHOOK}/${shortNameOf(name)}/notification/resource`;
const NOTIFICATION = notified('CloudB');
/** Methods of the place that no deployment but one uses. */
const CLOSED = ['DELETE', 'GET', 'OPTIONS', 'PATCH', 'POST', 'PUT'].flatMap((method) =>
  ['/marketplace/api/v1', '/marketplace/api/v1/*'].map((path) => [`${method} ${path}`, nothing] as const),
);
const PAGES = ['/admin', '/invitations', '/me', '/model', '/orgs', '/signin', '/welcome'].flatMap((page) =>
  [page, `${page}/*`].map((path) => [`GET ${path}`, file] as const),
);

const ADMIN = '/api/v1/admin/marketplace';
const MARKETPLACE_PAGES = ['installers', 'subscriptions', 'secrets', 'strangers', 'events', 'summary'];
const MARKETPLACE_ROWS = [
  `POST ${ADMIN}/installers`,
  `GET ${ADMIN}/installers/:id`,
  `POST ${ADMIN}/installers/:id/link`,
  `POST ${ADMIN}/installers/:id/revoke`,
  `GET ${ADMIN}/subscriptions/:id`,
  `POST ${ADMIN}/secrets`,
  `DELETE ${ADMIN}/secrets/:fingerprint`,
];
const page: Entry = { as: `GET ${ADMIN}/deliveries`, because: 'shows a page of the same marketplaces' };
const row: Entry = { as: NOTIFICATION, because: 'reads and writes a few rows, as a notification does' };

/** What belongs to nobody: the console, the documentation, and the marketplace. */
export const OTHER_REQUESTS: Requests = {
  'GET /': file,
  ...Object.fromEntries(PAGES),
  'GET /assets/*': file,
  'GET /avatars/:name': file,
  'GET /api/v1/docs': file,
  'GET /api/v1/docs/start.js': file,
  'GET /api/v1/docs/swagger-ui-bundle.js': file,
  'GET /api/v1/docs/swagger-ui.css': file,
  'GET /.well-known/change-password': nothing,
  'GET /.well-known/jwks.json': file,
  'GET /.well-known/openid-configuration': nothing,
  'GET /.well-known/oauth-authorization-server': file,
  'POST /oauth/token': {
    as: 'POST /api/v1/robots/:id/trust_rules/explain',
    because: 'reads a token and compares it with the rules of one robot',
  },
  'GET /api/v1/openapi.json': get('the whole document', '/openapi.json'),
  'GET /api/v1/openapi.yaml': { as: 'GET /api/v1/openapi.json', because: 'sends a file of about the same size' },
  'GET /api/v1/version': get('a constant', '/version'),
  'GET /api/v1/user/hosted-token': { as: 'GET /api/v1/users/:username', because: 'reads one row, and signs 300 bytes' },
  'GET /api/v1/admin/reserved-names': get('a page', '/admin/reserved-names?limit=50', 'root'),
  'DELETE /api/v1/admin/reserved-names/:name': { as: 'PATCH /api/v1/user', because: 'deletes one row' },

  ...Object.fromEntries(CLOSED),
  ...Object.fromEntries(
    MARKETPLACE_NAMES.map((name) => [notified(name), { as: NOTIFICATION, because: 'reads the same body' }]),
  ),
  [NOTIFICATION]: {
    what: 'a body of 1 MiB that is no notification',
    shot: ({ atrium }) => ({
      path: `${NOTIFICATION.slice('POST '.length)}?secret=${atrium.demo.secrets.cloudB}`,
      body: mostKeys({ eventType: 'PUT', applicationId: 'x' }),
      status: 400,
    }),
  },
  [`GET ${WEBHOOK}/standalone-organizations/:claimID/claimable`]: {
    as: 'GET /api/v1/users/:username',
    because: 'reads one row by its key',
  },
  'GET /marketplace/api/v1/version': file,
  'GET /links/installer.pub': file,
  'GET /links/installer/:ownerID/:name/:installerID/archive.tar.gz': {
    as: 'GET /api/v1/user/credentials/:credName',
    because: 'opens one sealed text of at most 1 MiB, and packs a few small files',
  },
  ...Object.fromEntries(MARKETPLACE_PAGES.map((path) => [`GET ${ADMIN}/${path}`, page] as const)),
  ...Object.fromEntries(MARKETPLACE_ROWS.map((route) => [route, row] as const)),
  'GET /api/v1/admin/marketplace/deliveries': get('a page', '/admin/marketplace/deliveries?limit=50', 'root'),
  'GET /api/v1/admin/marketplace/deliveries/:id': {
    as: NOTIFICATION,
    because: 'shows one notification, which was read when it came',
  },
  'POST /api/v1/admin/marketplace/deliveries/:id/redeliver': {
    as: NOTIFICATION,
    because: 'acts on one notification again',
  },
  'POST /api/v1/admin/marketplace/deliveries/redeliver': {
    as: NOTIFICATION,
    because: 'acts on up to 200 notifications again, and lets other requests in after each',
  },
};
