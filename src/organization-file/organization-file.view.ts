import Type from 'typebox';
import { named } from '../http/wire/schemas.ts';
import { ImpactGuardrail, ImpactShown } from '../impact/impact.routes.ts';
import { SECTIONS } from './organization-document.ts';

const says = (description: string) => ({ description });
const Section = Type.String({ enum: [...SECTIONS], ...says('The section of the file.') });
const Names = (what: string) => Type.Array(Type.String(), says(what));

const Change = named(
  'OrganizationFileChange',
  Type.Object(
    {
      section: Section,
      name: Type.String(says('What is changed: a name, or an assignment in words.')),
      kind: Type.Enum(['create', 'update', 'delete'], says('What happens to it.')),
      words: Type.Array(Type.String(), says('The change in words, one line for each part.')),
    },
    says('One thing that the file changes.'),
  ),
);
const Unmanaged = named(
  'OrganizationFileUnmanaged',
  Type.Object(
    {
      teams: Names('Teams.'),
      roles: Names('Roles.'),
      assignments: Names('Assignments, in words.'),
      robots: Names('Robots.'),
      guardrails: Names('Guardrails.'),
      webhooks: Names('Webhooks.'),
    },
    says('What is not in a section of the file, and is kept. Nothing of sections that the file does not have.'),
  ),
);
const common = {
  changes: Type.Array(Change, says('What differs between the file and the organization.')),
  unmanaged: Unmanaged,
};

export const ApplyResponse = named(
  'OrganizationFileReport',
  Type.Object(
    {
      ...common,
      unchanged: Type.Integer(says('How many entries are already as in the file.')),
      dry_run: Type.Boolean(says('Whether nothing was written.')),
    },
    says('What a file changed.'),
  ),
);

export const PlanResponse = named(
  'OrganizationPlan',
  Type.Object(
    {
      ...common,
      impact: ImpactShown,
      refusals: Type.Array(
        named(
          'OrganizationPlanRefusal',
          Type.Object(
            {
              section: Section,
              name: Type.String(says('What the change is about.')),
              status: Type.Integer(says('The status that the file would be rejected with.')),
              reason: Type.String(says('The reason, for programs.')),
              message: Type.String(says('The reason in words.')),
            },
            says('Why a change would be rejected, and the file with it.'),
          ),
        ),
        says('Empty if the file can be applied by the caller.'),
      ),
      guardrails: Type.Array(
        ImpactGuardrail,
        says('Guardrails that would be violated, also those that are only watched.'),
      ),
      warnings: Type.Array(Type.String(), says('What looks like a mistake, such as a rename without was.')),
      etag: Type.String(says('Of the organization as the plan was made from it: send it as If-Match.')),
    },
    says('What a file would change, who gains and loses what, and what objects to it.'),
  ),
);

/** Validated by hand, because it may be YAML, and so that the error names a typo. */
export const FileBody = Type.Unsafe<unknown>({
  description:
    'The file of the organization, in JSON or YAML. What it does not mention stays, unless a section says prune: true ' +
    'and has its entries in items. A document of kind Roles is accepted, too.',
  examples: [
    {
      apiVersion: 'atrium/v1',
      kind: 'Organization',
      organization: 'acme',
      teams: [{ name: 'operators', members: ['dan', { user: 'bob', expires_at: '2030-12-24T18:00:00Z' }] }],
      roles: [{ name: 'deployer', permissions: { cluster_mgmt: ['view clusters', 'reconfigure clusters'] } }],
      robots: [{ name: 'deploy', description: 'GitHub Actions' }],
      assignments: {
        prune: true,
        items: [{ role: 'deployer', to: { robot: 'deploy' }, on: { cluster: 'prod' }, reason: 'releases' }],
      },
      second_factor: { required: true },
    },
  ],
});
