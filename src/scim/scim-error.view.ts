import { type AppError, reasonOf, type ScimType } from '../base/errors.ts';
import type { Reason } from '../base/reasons.ts';
import { type ErrorFormat, STATUS } from '../http/error-format.ts';

export const SCIM_PREFIX = '/scim/v2';
export const SCIM_MEDIA_TYPE = 'application/scim+json';
export const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Another account has what must be unique. */
const TAKEN: ReadonlySet<Reason> = new Set(['name_taken', 'name_reserved', 'email_taken']);
const STATUSES = { ...STATUS, malformed: 400 };

/** Errors as RFC 7644 wants them (section 3.12): the status is a text. */
export const scimFormat: ErrorFormat = {
  statuses: STATUSES,
  statusOf,
  contentType: `${SCIM_MEDIA_TYPE}; charset=utf-8`,
  challenge: 'Bearer',
  body: (error) => errorBody(statusOf(error), error.message, typeOf(error)),
};

export function errorBody(status: number, detail: string, scimType?: ScimType) {
  return { schemas: [ERROR_SCHEMA], status: String(status), ...(scimType && { scimType }), detail };
}

function statusOf(error: AppError): number {
  return TAKEN.has(reasonOf(error)) ? STATUSES.conflict : STATUSES[error.kind];
}

function typeOf(error: AppError): ScimType | undefined {
  if (error.detail.scimType) return error.detail.scimType;
  if (TAKEN.has(reasonOf(error))) return 'uniqueness';
  if (error.kind !== 'malformed' || reasonOf(error) === 'limit_reached') return undefined;
  return error.detail.errors ? 'invalidValue' : 'invalidSyntax';
}
