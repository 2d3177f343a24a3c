import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRead } from '../../console/src/data/reads.ts';

const CALLS: readonly (readonly [call: string, isRead: boolean])[] = [
  ['GET /user', true],
  ['POST /authz/objects/allowed-permissions?org=acme', true],
  ['POST /authz/roles/preview?org=acme', true],
  ['POST /clustersv2/acme/check', true],
  ['POST /user/validate/username?user_name=x', true],
  ['PUT /authz/roles/import?org=acme&dry_run=true', true],
  ['PUT /authz/roles/import?org=acme&dry_run=false', false],
  ['PUT /authz/roles/import?org=acme', false],
  ['POST /authz/roles?org=acme', false],
  ['POST /user/signout', true],
  ['POST /admin/providers/company/preview', true],
  ['POST /admin/providers', false],
  ['PATCH /user', false],
  ['DELETE /orgs/preview', false],
  ['PUT /user/following/check', false],
  ['POST /user/clouds/aws/buckets', false],
];

describe('What the console does while it shows what another person sees', () => {
  for (const [call, expected] of CALLS) {
    it(`${call} is ${expected ? 'sent' : 'rejected'} while the view is locked`, () => {
      const [method = '', path = ''] = call.split(' ');
      assert.equal(isRead(method, new URL(`http://atrium.example/api/v1${path}`)), expected);
    });
  }
});
