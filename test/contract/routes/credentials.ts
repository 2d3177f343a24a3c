import { mostKeys } from '../../../bench/requests/bodies.ts';
import { getAs } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

const credential = (name: string) => mostKeys({ name, type: 'Rancher', rancher: { endpoint: 'https://x' } });

export const CREDENTIALS = routes({
  'GET /api/v1/user/credentials': {
    names: '?credential_type ?summary ?mgmt_endpoint',
    example: () => ({ as: 'ann', query: { summary: true, credential_type: ['Aws'] } }),
    cost: [
      getAs('all of 8 MiB', '/user/credentials'),
      getAs('all of a platform', '/user/credentials?mgmt_endpoint=https://x'),
      getAs('summaries', '/user/credentials?summary=true'),
    ],
  },
  'POST /api/v1/user/credentials': {
    body: { name: '' },
    names: '.name:credential',
    again: HAS_KEY,
    example: () => ({
      as: 'ann',
      body: {
        name: 'backup',
        type: 'Aws',
        aws: { accessKeyID: 'EXAMPLE-KEY-ID', secretAccessKey: 'example, opens nothing' },
      },
    }),
    cost: {
      what: '1 MiB of keys',
      shot: async (world, round) => {
        await world.atrium.as('bob')('DELETE', `/user/credentials/big${round - 1}`);
        return { as: 'bob', path: '/user/credentials', body: credential(`big${round}`) };
      },
    },
  },
  'PUT /api/v1/user/credentials': {
    body: { name: 'nothing' },
    names: '.name:credential',
    example: () => ({
      as: 'ann',
      body: {
        name: 'backup',
        type: 'Aws',
        aws: { accessKeyID: 'EXAMPLE-KEY-ID-2', secretAccessKey: 'example, opens nothing' },
      },
    }),
    cost: {
      what: '1 MiB of keys',
      shot: async ({ atrium }) => {
        await atrium.as('bob')('POST', '/user/credentials', { name: 'kept', type: 'Rancher' });
        return { as: 'bob', path: '/user/credentials', body: credential('kept') };
      },
    },
  },
  'GET /api/v1/user/credentials/:credName': {
    names: 'credName',
    example: () => ({ as: 'ann', path: { credName: 'backup' } }),
    cost: getAs('1 MiB', '/user/credentials/kept', 'bob'),
  },
  'DELETE /api/v1/user/credentials/:credName': {
    names: 'credName',
    example: () => ({ as: 'ann', path: { credName: 'backup' } }),
    cost: { as: 'PUT /api/v1/user/credentials', because: 'seals nothing' },
  },
  'GET /api/v1/user/clouds/:cloud/buckets': {
    // Its parameters can be in a body, too, which few clients send with a GET.
    body: undefined,
    names: 'cloud BUCKET_QUERY BUCKET',
    example: {
      because: 'it calls a cloud',
      parameters: { cloud: 'aws', credential: 'ann-aws', cluster_uid: '00000000-0000-4000-8000-000000000001' },
      response: { names: ['backups', 'logs'] },
    },
    cost: {
      as: 'GET /api/v1/user/credentials/:credName',
      because: 'opens one credential; the cloud is called, and its answer read, in a thread of its own',
    },
  },
  'POST /api/v1/user/clouds/:cloud/buckets': {
    body: {},
    names: 'cloud BUCKET_QUERY BUCKET',
    again: 'only reads',
    example: {
      because: 'it calls a cloud',
      parameters: { cloud: 'aws' },
      body: { credential: 'ann-aws', cluster_uid: '00000000-0000-4000-8000-000000000001' },
      response: { names: ['backups', 'logs'] },
    },
    cost: {
      as: 'GET /api/v1/user/clouds/:cloud/buckets',
      because: 'does the same, with its parameters in a body',
    },
  },
});
