import Type from 'typebox';
import { anyone } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { ClaimableResponse } from '../notifications/notification.view.ts';
import type { Claims } from './claims.ts';

export function claimRoutes(scope: Scope, claims: Claims): void {
  scope.get(
    '/marketplaces/standalone-organizations/:claimID/claimable',
    {
      config: { access: anyone },
      schema: {
        summary: 'Check whether a standalone organization can be claimed',
        tags: ['marketplace'],
        params: Type.Object({ claimID: Type.String() }),
        errors: [404, 409, 429],
        response: { 200: ClaimableResponse },
      },
    },
    async (request) => await claims.check(request.params.claimID, new Date()),
  );
}
