import { roleFile } from '../../../bench/requests/bodies.ts';
import { getAs, ORG } from './parts.ts';
import { routes } from './route.ts';

const FILE_OF_ACME = {
  apiVersion: 'atrium/v1',
  kind: 'Organization',
  organization: 'acme',
  teams: [{ name: 'on call', members: ['dan'] }],
};

const yaml = 'application/yaml';

export const ORGANIZATION_FILE = routes({
  'GET /api/v1/orgs/:org/file': {
    names: 'org ?sections ?at ?ids ?format',
    example: () => ({ as: 'ann', path: ORG, query: { format: 'json' } }),
    cost: getAs('everything of an organization of 50,000', '/orgs/acme/file'),
  },
  'POST /api/v1/orgs/:org/plan': {
    body: {},
    names: 'org :document',
    again: 'only reads',
    example: () => ({ as: 'ann', path: ORG, body: FILE_OF_ACME }),
    cost: {
      what: '480 roles',
      shot: () => ({
        ...{ as: 'ann', method: 'POST', path: '/orgs/acme/plan', body: roleFile(480, 30, 'a'), type: yaml },
      }),
    },
  },
  'PUT /api/v1/orgs/:org/file': {
    body: {},
    names: 'org ?dry_run :document',
    example: () => ({ as: 'ann', path: ORG, query: { dry_run: true }, body: FILE_OF_ACME }),
    cost: {
      what: '480 changed roles',
      shot: (_world, round) => ({
        ...{ as: 'ann', path: '/orgs/acme/file', body: roleFile(480, 30, `filed ${round}`), type: yaml },
      }),
    },
  },
});
