import type { Authz } from '../authz/authz.wiring.ts';
import type { TrustRules } from '../federation/trust-rules.ts';
import type { Scope } from '../http/server.ts';
import type { Impact } from '../impact/impact.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { createRequestRules } from '../requests/rules/request-rules.ts';
import type { GuardrailReader } from '../roles/role-file.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { createCallerRights } from './caller-rights.ts';
import { organizationFileRoutes } from './organization-file.routes.ts';
import { createOrganizationFileStore } from './organization-file.store.ts';
import { createOrganizationFile } from './organization-file.ts';

interface Nouns {
  readonly guardrails: GuardrailReader;
  readonly requestRules: Pick<ReturnType<typeof createRequestRules>, 'read' | 'objectNamed'>;
  readonly impact: Pick<Impact, 'report'>;
  readonly webhooks: Pick<Webhooks, 'check' | 'sealNew'>;
  readonly trustRules: Pick<TrustRules, 'read' | 'requireChange'>;
}

/** The organization as code. */
export function wireOrganizationFile(
  { db, revisions, quotas }: Infrastructure,
  { judge, heldPlaces, timeMachine }: Pick<Authz, 'judge' | 'heldPlaces' | 'timeMachine'>,
  nouns: Nouns,
) {
  const file = createOrganizationFile({
    ...nouns,
    store: createOrganizationFileStore(db, revisions.write, quotas),
    ...{ judge, timeMachine },
    held: heldPlaces,
    rightsOf: createCallerRights(judge, heldPlaces.givingOfTeam),
    limits: quotas.limits,
  });
  return { mount: (scope: Scope) => organizationFileRoutes(scope, file) };
}
