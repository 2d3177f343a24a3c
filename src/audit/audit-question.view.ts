import Type, { type Static } from 'typebox';
import { AppError } from '../base/errors.ts';
import { documentedSchema } from '../http/wire/schemas.ts';
import type { AuditQuestion } from './audit.ts';

export const optionalText = (description: string) =>
  Type.Optional(documentedSchema(Type.String({ description }), { minLength: 1 }));
const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));

/** What entries of the audit log are searched by, in each of its forms. */
export const AuditFilters = {
  actor: optionalText(
    'Who made the change: a login name, an account ID (also of a deleted account), or robot: and the name or ID of a robot, such as robot:deploy. 0 is the server. What an administrator does for another user is found under the administrator.',
  ),
  action: optionalText(
    'What was done, such as role.create. A trailing dot makes it a prefix: role. matches role.create.',
  ),
  object: optionalText('What was changed, such as cluster:7. A type alone, such as cluster, matches all its objects.'),
  since: time('Only entries from this time on (RFC 3339).'),
  until: time('Only entries before this time (RFC 3339).'),
};
export const OrganizationFilter = optionalText(
  'Only entries of this organization: its name, or its ID if it is deleted. 0 is the deployment.',
);

const Query = Type.Object({ ...AuditFilters, cursor: optionalText('') });
type Query = Static<typeof Query>;

export function readQuestion(query: Query): AuditQuestion {
  const { actor, action, object, cursor } = query;
  return {
    actor,
    action,
    object,
    cursor,
    since: readTime('since', query.since),
    until: readTime('until', query.until),
  };
}

const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Nothing was recorded before 1970, and the database does not accept every year that JavaScript does. */
function readTime(name: string, given: string | undefined): Date | undefined {
  if (given === undefined) return undefined;
  const ms = Date.parse(given);
  if (Number.isNaN(ms)) throw new AppError('invalid', `${name} must be an RFC 3339 time`);
  return new Date(Math.min(Math.max(0, ms), LAST_MS));
}
