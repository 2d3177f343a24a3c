import type { Measured } from '../../../bench/requests/entry.ts';
import type { FullWorld } from '../../../bench/requests/fill.ts';
import type { Answer } from '../../support/server/server.ts';

export const ORG = { org: 'acme' };

export const PAGE = { page: 1, limit: 2 };

export const noteId =
  (name: string) =>
  ({ body }: Pick<Answer, 'body'>, created: Record<string, string | number>) => {
    created[name] = body.id;
  };

/** An assignment can end within ten years at most. The recorded examples show another time. */
export const IN_A_MONTH = new Date(Date.now() + 30 * 86_400_000).toISOString();

export const getAs = (what: string, path: string | ((world: FullWorld) => string), as = 'ann'): Measured => ({
  what,
  shot: (world) => ({ as, path: typeof path === 'string' ? path : path(world) }),
});

export const rowOfUser = { as: 'GET /api/v1/users/:username', because: 'reads one row by its key' };

export const writeOfUser = { as: 'PATCH /api/v1/user', because: 'writes one row, with a smaller body' };

export const rowOfOrganization = {
  as: 'GET /api/v1/orgs/:org',
  because: 'reads one row by its key, and asks the engine once',
};

export const writeOfOrganization = {
  as: 'PATCH /api/v1/orgs/:org',
  because: 'writes one row and one entry of the audit log',
};
