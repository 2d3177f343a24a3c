import { AppError } from '../base/errors.ts';
import { anyone } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { judgeName } from '../identity/account-names/account-names.ts';
import { AUTHZEN_PREFIX } from './authzen-error.view.ts';

/** Where the Authorization API of an organization is. It does not tell which organizations there are. */
export function authzenDiscoveryRoutes(scope: Scope, baseUrl: () => string): void {
  scope.get(
    `/.well-known/authzen-configuration${AUTHZEN_PREFIX}/:org`,
    { config: { access: anyone, takesNul: true }, schema: { hide: true } },
    async (request, reply) => {
      const { org } = request.params as { readonly org: string };
      if (judgeName(org) === 'INVALID') {
        throw new AppError('notFound', 'not found', { reason: 'route_not_found' });
      }
      const point = `${baseUrl()}${AUTHZEN_PREFIX}/${org}`;
      reply.header('Cache-Control', 'public, max-age=3600');
      return {
        policy_decision_point: point,
        access_evaluation_endpoint: `${point}/evaluation`,
        access_evaluations_endpoint: `${point}/evaluations`,
        search_subject_endpoint: `${point}/search/subject`,
        search_resource_endpoint: `${point}/search/resource`,
        search_action_endpoint: `${point}/search/action`,
        access_request_endpoint: `${point}/requests`,
        capabilities: ['urn:openid:authzen:capability:access-request'],
      };
    },
  );
}
