import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { callerIn, holds, seesAsAdmin } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { readLimit, wholeNumber } from '../http/wire/paging.ts';
import { named, OrgQuery, Timestamp } from '../http/wire/schemas.ts';
import { ChangedSince, moment, presentSince, readAt } from './as-of.view.ts';
import { MAX_SHOWN, type Past } from './past.ts';

const SinceQuery = Type.Object({
  ...OrgQuery.properties,
  since: moment('A past moment (RFC 3339).'),
  limit: Type.Optional(wholeNumber(`Entries in the list: ${MAX_SHOWN} by default, which is the maximum.`)),
});
const Changes = named(
  'AccessChanges',
  Type.Object({
    since: Timestamp,
    begins_at: Type.String({ format: 'date-time', description: 'The earliest moment that can be asked about.' }),
    ...ChangedSince.properties,
  }),
);

/** What changed since a moment that other routes can be asked about with `at`. */
export function changesSinceRoutes(scope: Scope, past: Past): void {
  scope.get(
    '/authz/changes',
    {
      config: { access: holds('view_audit_log:org', 'authz') },
      schema: {
        summary: 'List what has changed who may do what in an organization since a moment, newest first',
        tags: ['authorization'],
        extension: true,
        querystring: SinceQuery,
        response: { 200: Changes },
      },
    },
    async (request) => {
      const caller = callerIn(request);
      const since = readAt(request.query.since);
      if (since === undefined) throw new AppError('invalid', 'since is missing');
      const { id } = caller.organization;
      const limit = readLimit(request.query.limit, MAX_SHOWN, MAX_SHOWN);
      const begins = await past.begins(id);
      const found = await past.since(id, since, seesAsAdmin(caller) ? 'everything' : 'organization', limit);
      return {
        since: since.toISOString(),
        begins_at: (begins ?? since).toISOString(),
        ...presentSince(found),
      };
    },
  );
}
