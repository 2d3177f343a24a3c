import { mostKeys } from '../../../bench/requests/bodies.ts';
import type { Entry } from '../../../bench/requests/entry.ts';
import { getAs } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

const APPLICATION =
  '/subscriptions/2f9b1a34-6f0d-4c7e-9a51-0d7c2b8e4f11/resourceGroups/rg-customer/providers/Microsoft.Solutions/applications/shop';

const file: Entry = { as: 'GET /api/v1/version', because: 'sends a text that is kept in memory' };
const nothing: Entry = { as: 'GET /api/v1/version', because: 'answers without reading a body' };
const LISTENER = '/marketplace/api/v1/marketplaces/cloudB/notification/resource';
const NOTIFICATION = `POST ${LISTENER}`;
const page: Entry = {
  as: 'GET /api/v1/admin/marketplace/deliveries',
  because: 'shows a page of the same marketplaces',
};
const row: Entry = { as: NOTIFICATION, because: 'reads and writes a few rows, as a notification does' };

/** The listener of the marketplaces, the links that it gives away, and what administrators see of both. */
export const MARKETPLACE = routes({
  'POST /marketplace/api/v1/marketplaces/cloudA/notification/resource': {
    body: {},
    again: 'deliveries have a natural key',
    example: ({ installers, uid }) => ({
      body: {
        eventType: 'BIND',
        bindingInfo: { marketplace: 'CloudA', installerId: installers.cloudA, clusterId: uid },
      },
      note: ({ body }, created) => {
        const { pathname, searchParams } = new URL(body.link);
        const [, , , ownerID = '', name = '', installerID = ''] = pathname.split('/');
        const [exp, sig] = [Number(searchParams.get('exp')), searchParams.get('sig') ?? ''];
        Object.assign(created, { ownerID: Number(ownerID), name, installerID, exp, sig });
      },
    }),
    cost: { as: 'POST /marketplace/api/v1/marketplaces/cloudB/notification/resource', because: 'reads the same body' },
  },
  'GET /links/installer/:ownerID/:name/:installerID/archive.tar.gz': {
    example: ({ created: { ownerID = 0, name = '', installerID = '', exp = 0, sig = '' } }) => ({
      path: { ownerID, name, installerID },
      query: { exp, sig },
    }),
    cost: {
      as: 'GET /api/v1/user/credentials/:credName',
      because: 'opens one sealed text of at most 1 MiB, and packs a few small files',
    },
  },
  'GET /links/installer.pub': { example: () => ({}), cost: file },
  'POST /marketplace/api/v1/marketplaces/cloudB/notification/resource': {
    body: {},
    again: 'deliveries have a natural key',
    example: ({ installers, secrets }) => ({
      query: { secret: secrets.cloudB },
      body: {
        eventType: 'BIND',
        applicationId: APPLICATION,
        bindingInfo: { marketplace: 'CloudB', installerId: installers.cloudB },
      },
    }),
    cost: {
      what: 'a body of 1 MiB that is no notification',
      shot: ({ atrium }) => ({
        path: `${LISTENER}?secret=${atrium.demo.secrets.cloudB}`,
        body: mostKeys({ eventType: 'PUT', applicationId: 'x' }),
        status: 400,
      }),
    },
  },
  'POST /marketplace/api/v1/marketplaces/cloudC/notification/resource': {
    body: {},
    again: 'deliveries have a natural key',
    example: ({ installers, secrets, uid }) => ({
      query: { secret: secrets.cloudC },
      body: {
        eventType: 'BIND',
        bindingInfo: { marketplace: 'CloudC', installerId: installers.cloudC, clusterId: uid },
      },
    }),
    cost: { as: 'POST /marketplace/api/v1/marketplaces/cloudB/notification/resource', because: 'reads the same body' },
  },
  'GET /marketplace/api/v1/marketplaces/standalone-organizations/:claimID/claimable': {
    example: ({ claim }) => ({ path: { claimID: claim } }),
    cost: {
      as: 'GET /api/v1/users/:username',
      because: 'reads one row by its key',
    },
  },
  'GET /api/v1/admin/marketplace/deliveries': {
    names: '?marketplace ?outcome ?search ?subject ?since ?until ?cursor ?limit',
    example: () => ({
      as: 'root',
      query: { marketplace: 'CloudC', outcome: 'bound', limit: 1 },
      note: ({ body }, created) => {
        created.delivery = body.items[0].id;
      },
    }),
    cost: getAs('a page', '/admin/marketplace/deliveries?limit=50', 'root'),
  },
  'GET /api/v1/admin/marketplace/deliveries/:id': {
    names: 'id',
    example: ({ created: { delivery = 0 } }) => ({ as: 'root', path: { id: delivery } }),
    cost: {
      as: NOTIFICATION,
      because: 'shows one notification, which was read when it came',
    },
  },
  'POST /api/v1/admin/marketplace/deliveries/redeliver': {
    body: { most: 0 },
    names: '.marketplace .outcome .search .subject .since .until .after .most',
    again: 'acts on deliveries that exist, at most once each',
    example: () => ({
      as: 'root',
      body: { outcome: 'dead', marketplace: 'CloudB', since: '2026-01-01T00:00:00Z', most: 50 },
    }),
    cost: {
      as: NOTIFICATION,
      because: 'acts on up to 200 notifications again, and lets other requests in after each',
    },
  },
  'GET /api/v1/admin/marketplace/events': {
    names: '?state ?type ?cursor ?limit',
    example: () => ({ as: 'root', query: { limit: 1 } }),
    cost: page,
  },
  'POST /api/v1/admin/marketplace/installers': {
    body: { marketplace: 'CloudA', days: 0 },
    names: '.marketplace .days .is_test',
    again: HAS_KEY,
    example: () => ({ as: 'root', body: { marketplace: 'CloudA', days: 30 } }),
    cost: row,
  },
  'GET /api/v1/admin/marketplace/installers': {
    names: '?marketplace ?state ?q ?cursor ?limit',
    example: () => ({ as: 'root', query: { marketplace: 'CloudA', state: 'bound', limit: 1 } }),
    cost: page,
  },
  'GET /api/v1/admin/marketplace/installers/:id': {
    names: 'id',
    example: ({ created: { installerID = '' } }) => ({ as: 'root', path: { id: installerID } }),
    cost: row,
  },
  'POST /api/v1/admin/marketplace/installers/:id/link': {
    names: 'id',
    again: 'a link grants access for a day, and another one changes nothing',
    example: ({ created: { installerID = '' } }) => ({ as: 'root', path: { id: installerID } }),
    cost: row,
  },
  'POST /api/v1/admin/marketplace/installers/:id/revoke': {
    names: 'id',
    again: 'links that are revoked stay revoked',
    example: ({ created: { installerID = '' } }) => ({ as: 'root', path: { id: installerID } }),
    cost: row,
  },
  'POST /api/v1/admin/marketplace/secrets': {
    body: { marketplace: 'CloudB', secret: '' },
    names: '.marketplace .secret:secret',
    again: HAS_KEY,
    example: () => ({
      as: 'root',
      body: { marketplace: 'CloudB' },
      note: ({ body }, created) => {
        created.fingerprint = body.fingerprint;
      },
    }),
    cost: row,
  },
  'GET /api/v1/admin/marketplace/secrets': { names: '', example: () => ({ as: 'root' }), cost: page },
  'DELETE /api/v1/admin/marketplace/secrets/:fingerprint': {
    names: 'fingerprint',
    example: ({ created: { fingerprint = '' } }) => ({ as: 'root', path: { fingerprint } }),
    cost: row,
  },
  'GET /api/v1/admin/marketplace/strangers': {
    names: '?marketplace ?cursor ?limit',
    example: () => ({ as: 'root', query: { limit: 1 } }),
    cost: page,
  },
  'GET /api/v1/admin/marketplace/subscriptions': {
    names: '?marketplace ?state ?q ?cursor ?limit',
    example: () => ({
      as: 'root',
      query: { limit: 1 },
      note: ({ body }, created) => {
        created.subscription = body.items[0].id;
      },
    }),
    cost: page,
  },
  'GET /api/v1/admin/marketplace/subscriptions/:id': {
    names: 'id',
    example: ({ created: { subscription = 0 } }) => ({ as: 'root', path: { id: subscription } }),
    cost: row,
  },
  'GET /api/v1/admin/marketplace/summary': { names: '', example: () => ({ as: 'root' }), cost: page },
  'POST /api/v1/admin/marketplace/deliveries/:id/redeliver': {
    names: 'id',
    again: 'acts on a delivery that exists, at most once',
    example: {
      because: 'a delivery stays unfinished only if the server fails in the middle of it',
      parameters: { id: 7 },
      response: 'getMarketplaceDelivery',
    },
    cost: {
      as: NOTIFICATION,
      because: 'acts on one notification again',
    },
  },
  'DELETE /marketplace/api/v1': { isHidden: true, cost: nothing },
  'DELETE /marketplace/api/v1/*': { isHidden: true, cost: nothing },
  'GET /marketplace/api/v1': { isHidden: true, cost: nothing },
  'GET /marketplace/api/v1/*': { isHidden: true, cost: nothing },
  'OPTIONS /marketplace/api/v1': { isHidden: true, cost: nothing },
  'OPTIONS /marketplace/api/v1/*': { isHidden: true, cost: nothing },
  'PATCH /marketplace/api/v1': { isHidden: true, cost: nothing },
  'PATCH /marketplace/api/v1/*': { isHidden: true, cost: nothing },
  'POST /marketplace/api/v1': { isHidden: true, cost: nothing },
  'POST /marketplace/api/v1/*': { isHidden: true, cost: nothing },
  'PUT /marketplace/api/v1': { isHidden: true, cost: nothing },
  'PUT /marketplace/api/v1/*': { isHidden: true, cost: nothing },
});
