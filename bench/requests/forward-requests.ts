import type { Requests } from './entry.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const PATHS = ['', '/:org/:relation/:object', '/:org/:relation/:object/*'].map(
  (rest) => `/api/v1/authz/forward${rest}`,
);
const MEASURED = `GET ${PATHS[0]}`;
const ALIKE = { as: MEASURED, because: 'asks the same, in another method or place' };

export const FORWARD_REQUESTS: Requests = {
  ...Object.fromEntries(PATHS.flatMap((path) => METHODS.map((method) => [`${method} ${path}`, ALIKE]))),
  [MEASURED]: {
    what: 'a user in 990 teams',
    shot: ({ cluster }) => ({
      as: 'mass1',
      path: `/authz/forward?org=acme&relation=can_connect&object=cluster:${cluster}`,
    }),
  },
};
