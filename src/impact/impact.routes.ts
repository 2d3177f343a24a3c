import Type from 'typebox';
import { invalidField } from '../base/errors.ts';
import { writeJson } from '../base/json.ts';
import { mapInSlices } from '../base/scheduling/slices.ts';
import { principalOf } from '../changes/principal.ts';
import { callerIn, member } from '../http/admission/access.ts';
import { presentGuardrail } from '../http/error-format.ts';
import { type Scope, sendText } from '../http/server.ts';
import { named, OrgQuery, readMoment, ViolatedGuardrail } from '../http/wire/schemas.ts';
import { expiryText, presentExpiry } from '../organizations/expires-at.view.ts';
import type { Held } from '../simulation/comparison.ts';
import { ChangePlan, readChange } from './change-plan.view.ts';
import type { Impact, ImpactReport } from './impact.ts';
import { ImpactEffect, UserImpact } from './user-impact.view.ts';
import type { KeptHeld, ShownImpact } from './visible-impact.ts';

export const ImpactGuardrail = named(
  'ImpactGuardrail',
  Type.Object({
    ...ViolatedGuardrail.properties,
    enforce: Type.Boolean({ description: 'Otherwise it is only watched, and the change would be made.' }),
  }),
);
export const ImpactShown = named(
  'Impact',
  Type.Object({
    users: Type.Array(UserImpact, {
      description: 'Ordered by user ID, then robots; those after the first thousand are left out.',
    }),
    total: Type.Integer({
      description:
        'How many users and robots the changes affect. Those after the first thousand are counted only if they gain or lose something.',
    }),
    unattended: Type.Array(ImpactEffect, {
      description:
        'What only site administrators could do any more, although another user can now. Empty if the caller may ' +
        'not see the members.',
    }),
    refusals: Type.Array(
      named(
        'ImpactRefusal',
        Type.Object({
          change: Type.Integer({ description: 'The place of the change in the list, from 0.' }),
          field: Type.String({ description: 'The field at fault, such as changes[0].username.' }),
          reason: Type.String(),
          message: Type.String(),
          guardrail: Type.Optional(ViolatedGuardrail),
        }),
      ),
      {
        description:
          'Why the real call of a change would be rejected. The impact includes that change, as if there were no such ' +
          'rule, but none of the changes after it.',
      },
    ),
    guardrails: Type.Array(ImpactGuardrail, {
      description:
        'Guardrails that would be violated in the end, or by more people than now, also those that are only watched. ' +
        'Empty if the caller may not view roles.',
    }),
  }),
);

export function impactRoutes(scope: Scope, impact: Impact): void {
  scope.post(
    '/authz/preview',
    {
      config: {
        access: member('authz', 'as users', { level: 'read' }),
        costly: 'preview fewer changes, or without objects',
      },
      schema: {
        summary: 'Preview who would gain and lose what by some changes, and what no user could do any more',
        tags: ['authorization'],
        extension: true,
        querystring: OrgQuery,
        body: ChangePlan,
        response: { 200: ImpactShown },
      },
    },
    async (request, reply) => {
      const { person, organization } = callerIn(request);
      const asker = { organizationId: organization.id, organizationName: organization.name, callerId: person.id };
      const { objects: withObjects = true, at } = request.body;
      const changes = request.body.changes.map(readChange);
      if (changes.length === 0 && at === undefined)
        throw invalidField('changes', 'changes must not be empty without at');
      const question = { withObjects, at: at === undefined ? undefined : readMoment(at, 'at') };
      const report = await impact.preview(asker, changes, question);
      return sendText(reply, await impactText(report));
    },
  );
}

/** The report as JSON. There may be a thousand users, so it is written in pieces. */
export async function impactText(report: ImpactReport): Promise<string> {
  const { people, total, unattended, refusals, guardrails } = report;
  const present = presenter(report);
  const texts = new Map<ShownImpact, string>();
  const users = await mapInSlices(people, ({ person: { id, name }, impact: shown, tokens }) => {
    // Users who are alike share what is said, so it is written once.
    const text = texts.get(shown) ?? writeJson(presentImpact(shown, present)).slice(1);
    texts.set(shown, text);
    const { type, id: number } = principalOf(id);
    const user = { id: number, name, ...(type === 'robot_ac' && { type }) };
    const live = tokens && { live_tokens: tokens.count, token_creators: [...tokens.creators] };
    return `{"user":${writeJson(user)},${live ? `${writeJson(live).slice(1, -1)},` : ''}${text}`;
  });
  const rest = writeJson({
    total,
    unattended: unattended.map(present),
    refusals: refusals.map(({ guardrail, ...refusal }) => ({
      ...refusal,
      ...(guardrail && { guardrail: presentGuardrail(guardrail) }),
    })),
    guardrails: guardrails.map((one) => ({ ...presentGuardrail(one), enforce: one.enforce })),
  });
  return `{"users":[${users.join(',')}],${rest.slice(1)}`;
}

function presenter({ nameOf, permissionOf }: Pick<ImpactReport, 'nameOf' | 'permissionOf'>) {
  return ({ object, relation, until, untilBefore }: Held & Partial<KeptHeld>) => {
    const permission = permissionOf({ object, relation });
    return {
      object: nameOf(object),
      relation,
      permission: permission ? { namespace: permission.namespace, action: permission.action } : null,
      ...presentExpiry(until),
      ...(untilBefore && { expires_at_before: expiryText(untilBefore) }),
    };
  };
}

function presentImpact({ gains, loses, keeps, more }: ShownImpact, present: ReturnType<typeof presenter>) {
  return { gains: gains.map(present), loses: loses.map(present), keeps: keeps.map(present), more };
}
