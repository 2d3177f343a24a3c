import { AUTHZEN_REQUESTS } from './authzen-requests.ts';
import type { Requests } from './entry.ts';
import { FORWARD_REQUESTS } from './forward-requests.ts';
import { ORGANIZATION_REQUESTS } from './organization-requests.ts';
import { OTHER_REQUESTS } from './other-requests.ts';
import { REVIEW_REQUESTS } from './review-requests.ts';
import { ROLE_REQUESTS } from './role-requests.ts';
import { SCIM_REQUESTS } from './scim-requests.ts';
import { USER_REQUESTS } from './user-requests.ts';
import { WEBHOOK_REQUESTS } from './webhook-requests.ts';

/** Every route that there is, by method and path. test/contract/budget.test.ts fails if one is missing. */
export const TABLE: Requests = {
  ...ORGANIZATION_REQUESTS,
  ...WEBHOOK_REQUESTS,
  ...ROLE_REQUESTS,
  ...REVIEW_REQUESTS,
  ...USER_REQUESTS,
  ...SCIM_REQUESTS,
  ...AUTHZEN_REQUESTS,
  ...FORWARD_REQUESTS,
  ...OTHER_REQUESTS,
};
