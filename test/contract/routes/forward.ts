import { ORG } from './parts.ts';
import { routes } from './route.ts';

const QUESTION = 'relation=can_view&object=organization';
const ALIKE = { as: 'GET /api/v1/authz/forward', because: 'asks the same, in another method or place' };

/** A proxy passes on the method of what it asks about, so the question is there in each of them. */
export const FORWARD = routes({
  'GET /api/v1/authz/forward': {
    query: QUESTION,
    names: '?org ?relation ?object:text ?namespace:text',
    example: () => ({ as: 'dan', query: { ...ORG, relation: 'can_view', object: 'organization' } }),
    cost: {
      what: 'a user in 990 teams',
      shot: ({ cluster }) => ({
        as: 'mass1',
        path: `/authz/forward?org=acme&relation=can_connect&object=cluster:${cluster}`,
      }),
    },
  },
  'POST /api/v1/authz/forward': { isHidden: true, query: QUESTION, cost: ALIKE },
  'PUT /api/v1/authz/forward': { isHidden: true, query: QUESTION, cost: ALIKE },
  'PATCH /api/v1/authz/forward': { isHidden: true, query: QUESTION, cost: ALIKE },
  'DELETE /api/v1/authz/forward': { isHidden: true, query: QUESTION, cost: ALIKE },
  'OPTIONS /api/v1/authz/forward': { isHidden: true, query: QUESTION, cost: ALIKE },
  'GET /api/v1/authz/forward/:org/:relation/:object': { isHidden: true, cost: ALIKE },
  'POST /api/v1/authz/forward/:org/:relation/:object': { isHidden: true, cost: ALIKE },
  'PUT /api/v1/authz/forward/:org/:relation/:object': { isHidden: true, cost: ALIKE },
  'PATCH /api/v1/authz/forward/:org/:relation/:object': { isHidden: true, cost: ALIKE },
  'DELETE /api/v1/authz/forward/:org/:relation/:object': { isHidden: true, cost: ALIKE },
  'OPTIONS /api/v1/authz/forward/:org/:relation/:object': { isHidden: true, cost: ALIKE },
  'GET /api/v1/authz/forward/:org/:relation/:object/*': { isHidden: true, cost: ALIKE },
  'POST /api/v1/authz/forward/:org/:relation/:object/*': { isHidden: true, cost: ALIKE },
  'PUT /api/v1/authz/forward/:org/:relation/:object/*': { isHidden: true, cost: ALIKE },
  'PATCH /api/v1/authz/forward/:org/:relation/:object/*': { isHidden: true, cost: ALIKE },
  'DELETE /api/v1/authz/forward/:org/:relation/:object/*': { isHidden: true, cost: ALIKE },
  'OPTIONS /api/v1/authz/forward/:org/:relation/:object/*': { isHidden: true, cost: ALIKE },
});
